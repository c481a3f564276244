import type { Terms } from '../protocol/types.js';
import { associatedTokenAddress } from '../solana/associated-token.js';
import { readInstruction } from '../solana/instructions.js';
import type { LandedTransaction } from '../solana/landed-transaction.js';
import { NATIVE_SOL, PROGRAMS } from '../solana/programs.js';
import type { PaymentRecord } from '../storage/ledger.js';
import type { PaymentRequestRecord } from '../storage/payment-request.js';
import { judgeOf } from './request-terms.js';

interface Transfer {
  readonly destination: string;
  readonly amount: bigint;
}

/**
 * What is wrong with a landed transaction that the books hold for the payment of something, as a sentence; undefined when
 * it pays what it is booked for.
 * @param request - the payment request that it paid, where it paid one that is still known
 */
export function amountFault(
  landed: LandedTransaction,
  { id, terms }: Pick<PaymentRecord, 'id' | 'terms'>,
  request: PaymentRequestRecord | undefined,
): string | undefined {
  if (landed.messageHash !== id) return 'the transaction is another one than the payment';
  if (request !== undefined) {
    const reason = judgeOf(request)(landed);
    return reason === undefined ? undefined : `the transaction does not pay its request: ${reason}`;
  }
  const paid = sumOf(transfersOf(landed, terms));
  return paid >= terms.amount ? undefined : `the transaction pays ${paid} of ${terms.amount} atomic units`;
}

/** Where a payment request is forgotten, its recipients are as well: then every transfer of the token counts. */
function transfersOf(landed: LandedTransaction, { scheme, asset, payTo }: Terms): readonly Transfer[] {
  const all = landed.instructions.flatMap((it): Transfer[] => {
    const plain = readInstruction(it);
    if (plain.kind === 'sol-transfer' && asset === NATIVE_SOL) return [{ ...plain, amount: plain.lamports }];
    const isToken = plain.kind === 'token-transfer' || plain.kind === 'unchecked-token-transfer';
    return isToken && landed.tokenAccounts.get(plain.destination)?.mint === asset ? [plain] : [];
  });
  if (scheme !== 'exact') return all;
  const accounts = accountsOf(payTo, asset);
  return all.filter(({ destination }) => accounts.includes(destination));
}

function accountsOf(wallet: string, asset: string): readonly string[] {
  if (asset === NATIVE_SOL) return [wallet];
  return [PROGRAMS.token, PROGRAMS.token2022].map((program) => associatedTokenAddress(wallet, asset, program));
}

function sumOf(transfers: readonly Transfer[]): bigint {
  return transfers.reduce((sum, { amount }) => sum + amount, 0n);
}
