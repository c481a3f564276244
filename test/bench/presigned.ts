import type { PaymentRequirements } from '@x402/core/types';
import { SANDBOX_TOKENS } from '../../src/protocol/networks/tokens.js';
import { buildPaymentTransaction } from '../../src/solana/building/payment-transaction.js';
import type { KeypairInput } from '../../src/solana/keypair.js';
import { askTerms, carry, type SignedPayment } from '../helpers/transactions/payments.js';

/** What is to be signed. */
export interface PresignOrder {
  readonly payer: KeypairInput;
  readonly accepted: PaymentRequirements;
  /** One for all of them. */
  readonly blockhash: string;
  readonly count: number;
}

/** Signs different payments of the same terms. */
export function presign({ payer, accepted, blockhash, count }: PresignOrder): readonly SignedPayment[] {
  const token = SANDBOX_TOKENS.find(({ mint }) => mint === accepted.asset);
  if (token === undefined) throw new Error(`${accepted.asset} is no token of the sandbox`);
  return Array.from({ length: count }, () => {
    const transaction = buildPaymentTransaction({
      payer,
      feePayer: String(accepted.extra?.['feePayer']),
      asset: accepted.asset,
      tokenProgram: token.program,
      decimals: token.decimals,
      amount: BigInt(accepted.amount),
      payTo: accepted.payTo,
      blockhash,
    });
    return carry(transaction, accepted);
  });
}

/** The first of the terms that a route asks for. */
export async function firstTerms(url: string): Promise<PaymentRequirements> {
  const [accepted] = (await askTerms(url)).accepts;
  if (accepted === undefined) throw new Error(`${url} offers no terms`);
  return accepted;
}
