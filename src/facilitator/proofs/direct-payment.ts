import type { Leg } from '../../protocol/money/split.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { Token } from '../../protocol/types.js';
import { keeperOf } from '../../solana/landed/landed-money.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import { readInstruction } from '../../solana/transaction/instructions.js';
import { PROGRAMS } from '../../solana/transaction/programs.js';
import { type PaidAs, readPaid } from './read-paid.js';

/** What is to be paid without a payment request, by whom, and what for. */
export interface DirectDemand {
  /** The only wallet whose payment counts, base58. */
  readonly wallet: string;
  /** The only memo of such a payment: it names what is bought. */
  readonly memo: string;
  readonly price: { readonly token: Token; readonly legs: readonly Leg[] };
}

/** Programs, and sysvars that creations of token accounts used to name: nobody can choose them as a reference. */
const KNOWN: ReadonlySet<string> = new Set([...Object.values(PROGRAMS), 'SysvarRent111111111111111111111111111111111']);

/**
 * Whether a landed transaction that no payment request explains pays a price, and was made for that: the wallet paid by
 * itself, as its own fee payer, and said in the only memo what for. An account that nothing explains is the reference of
 * somebody's invoice: that is what was bought then. Pure.
 */
export function readDirectPayment(landed: LandedTransaction, demand: DirectDemand): PaidAs {
  const { wallet, price } = demand;
  const { token, legs } = price;
  const asked = { asset: token.mint, tokenProgram: token.program, legs, reference: undefined, memo: undefined };
  const paid = readPaid(landed, asked);
  if (!paid.ok) return paid;
  if (paid.payer !== wallet) return refused('invalid_proof_foreign');
  if (isAddressed(landed, demand)) return paid;
  const reason = 'invalid_proof_unaddressed';
  return { ok: false, reason, message: `${REASONS[reason]} The memo is ${demand.memo}` };
}

function refused(reason: Reason): PaidAs {
  return { ok: false, reason, message: REASONS[reason] };
}

function isAddressed(landed: LandedTransaction, { wallet, memo, price }: DirectDemand): boolean {
  const [feePayer] = landed.accounts;
  const memos = landed.instructions.map(readInstruction).filter((it) => it.kind === 'memo');
  const isSaid = memos.length === 1 && memos.every(({ data }) => Buffer.from(memo).equals(data));
  return feePayer === wallet && isSaid && isExplained(landed, wallet, price);
}

/** Whether every account is needed to pay: the wallets, their token accounts, the mint, and programs. */
function isExplained(
  landed: LandedTransaction,
  wallet: string,
  { token: { mint, program }, legs }: DirectDemand['price'],
): boolean {
  const wallets = new Set([wallet, ...legs.map(({ recipient }) => recipient)]);
  const isHeldByThem = (account: string): boolean => wallets.has(keeperOf(landed, account) ?? '');
  const left = landed.accounts.filter((it) => it !== mint && !KNOWN.has(it) && !wallets.has(it) && !isHeldByThem(it));
  if (left.length === 0) return true;
  // Of an account that was opened and closed on the way nobody tells the owner.
  const theirs = new Set([...wallets].map((it) => associatedTokenAddress(it, mint, program)));
  return left.every((it) => theirs.has(it));
}
