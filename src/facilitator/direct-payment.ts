import { REASONS, type Reason } from '../protocol/reasons.js';
import type { Leg } from '../protocol/split.js';
import { moneyOf, SOL_MINT } from '../protocol/tokens.js';
import type { Token } from '../protocol/types.js';
import { associatedTokenAddress } from '../solana/associated-token.js';
import { readInstruction } from '../solana/instructions.js';
import { keeperOf } from '../solana/landed-money.js';
import { readLandedPayment } from '../solana/landed-payment.js';
import type { LandedTransaction } from '../solana/landed-transaction.js';
import { NATIVE_SOL, PROGRAMS } from '../solana/programs.js';
import type { TransferDemand } from '../solana/transfer-demand.js';

/** What is to be paid without a payment request, by whom, and what for. */
export interface DirectDemand {
  /** The only wallet whose payment counts, base58. */
  readonly wallet: string;
  /** The only memo of such a payment: it names what is bought. */
  readonly memo: string;
  readonly price: { readonly token: Token; readonly legs: readonly Leg[] };
}

/** A payment without a request: who paid, and in what, native or wrapped SOL where the price is in SOL. */
export type DirectPayment =
  | { readonly ok: true; readonly payer: string; readonly asset: string }
  | { readonly ok: false; readonly reason: Reason; readonly message: string };

/** Programs, and sysvars that creations of token accounts used to name: nobody can choose them as a reference. */
const KNOWN: ReadonlySet<string> = new Set([...Object.values(PROGRAMS), 'SysvarRent111111111111111111111111111111111']);

/**
 * Whether a landed transaction that no payment request explains pays a price, and was made for that: the wallet paid by
 * itself, as its own fee payer, and said in the only memo what for. An account that nothing explains is the reference of
 * somebody's invoice: that is what was bought then. Pure.
 */
export function readDirectPayment(landed: LandedTransaction, demand: DirectDemand): DirectPayment {
  const { wallet } = demand;
  const paid = readAs(landed, demand);
  if (!paid.ok) return refused(paid.reason);
  if (paid.payer !== wallet) return refused('invalid_proof_foreign');
  if (isAddressed(landed, demand)) return paid;
  const reason = 'invalid_proof_unaddressed';
  return { ok: false, reason, message: `${REASONS[reason]} The memo is ${demand.memo}` };
}

function refused(reason: Reason): DirectPayment {
  return { ok: false, reason, message: REASONS[reason] };
}

type Read =
  | { readonly ok: true; readonly payer: string; readonly asset: string }
  | { readonly ok: false; readonly reason: Reason };

/** SOL is the same money whether it is wrapped or not. What is told of a failure is told of the price as it is. */
function readAs(landed: LandedTransaction, { price: { token, legs } }: DirectDemand): Read {
  const given = readOne(landed, { asset: token.mint, tokenProgram: token.program, legs });
  if (given.ok || moneyOf(token.mint) !== SOL_MINT) return given;
  const native = readOne(landed, { asset: NATIVE_SOL, tokenProgram: NATIVE_SOL, legs });
  return native.ok ? native : given;
}

function readOne(landed: LandedTransaction, what: Pick<TransferDemand, 'asset' | 'tokenProgram' | 'legs'>): Read {
  const paid = readLandedPayment(landed, { ...what, reference: undefined, memo: undefined });
  return paid.ok ? { ok: true, payer: paid.payer, asset: what.asset } : paid;
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
