import { associatedTokenAddress } from '../transaction/associated-token.js';
import type { PlainInstruction } from '../transaction/instructions.js';
import { NATIVE_SOL } from '../transaction/programs.js';

/** What a transaction must do to pay a payment request: all legs, each by a transfer of its own. */
export interface RequiredTransfers {
  /** Mint, base58; NATIVE_SOL for SOL. */
  readonly asset: string;
  /** Token program of the mint; any text for SOL. */
  readonly tokenProgram: string;
  readonly legs: readonly { readonly recipient: string; readonly amount: bigint }[];
  /** Public key that the transfer of the first leg must name as its last account, if any. */
  readonly reference: string | undefined;
  readonly memo: string | undefined;
}

/** A transfer of the demanded asset, whichever instruction makes it. */
export interface Movement {
  readonly source: string;
  readonly destination: string;
  /** Who signs for the source. */
  readonly authority: string;
  /** Atomic units, without a fee that the instruction names. */
  readonly amount: bigint;
  /** Accounts that the instruction names beside those that it works on. */
  readonly others: readonly string[];
}

/** A transfer of tokens. */
export interface TokenMove extends Movement {
  /** Token program, base58. */
  readonly program: string;
  readonly mint: string | undefined;
}

/** The transfers of the demanded asset among some instructions, in their order. */
export function movementsOf(instructions: readonly PlainInstruction[], demand: RequiredTransfers): readonly Movement[] {
  return instructions.flatMap((it) => movementOf(it, demand));
}

function movementOf(plain: PlainInstruction, { asset, tokenProgram }: RequiredTransfers): Movement[] {
  if (plain.kind === 'sol-transfer') {
    const { source, destination, lamports, others } = plain;
    return asset === NATIVE_SOL ? [{ source, destination, authority: source, amount: lamports, others }] : [];
  }
  const move = tokenMoveOf(plain);
  if (move === undefined || move.program !== tokenProgram || (move.mint ?? asset) !== asset) return [];
  const { source, destination, authority, amount, others } = move;
  return [{ source, destination, authority, amount, others }];
}

/** Which instruction makes a transfer of tokens is nobody's business, but that a plain one does not name its mint. */
export function tokenMoveOf(plain: PlainInstruction): TokenMove | undefined {
  switch (plain.kind) {
    case 'token-transfer':
      return plain;
    case 'unchecked-token-transfer':
      return { ...plain, mint: undefined };
    case 'token-transfer-with-fee':
      return { ...plain, amount: plain.amount - plain.fee };
    default:
      return undefined;
  }
}

/** Whether a transfer to the recipient of a leg pays it. */
export type EnoughForLeg = (paid: Movement, asked: bigint) => boolean;

/** What is not sent yet is exact: nobody is to lose more than was asked for. */
const exactly: EnoughForLeg = ({ amount }, asked) => amount === asked;

/**
 * What a wallet has sent by itself may be more: it is gone already. More than was asked for has to name the reference, so that
 * a larger payment to the same recipient, for something else, is not taken for this one.
 */
export function orMoreFor(reference: string | undefined): EnoughForLeg {
  if (reference === undefined) return exactly;
  return ({ amount, others }, asked) => amount === asked || (amount > asked && others.at(-1) === reference);
}

/**
 * The transfers that pay the legs, in the order of the legs; undefined when a leg is not paid. Each leg needs a transfer of
 * its own: one does not pay two legs to the same wallet. What goes out of an account of a leg pays nobody. What is exact goes
 * before what is enough.
 * @param isEnough - default: what is exactly the amount of the leg
 */
export function matchLegs(
  movements: readonly Movement[],
  demand: RequiredTransfers,
  isEnough: EnoughForLeg = exactly,
): readonly Movement[] | undefined {
  const accounts = new Set(demand.legs.map(({ recipient }) => receivingAccount(recipient, demand)));
  const open = movements.filter(({ source }) => !accounts.has(source));
  const matched: Movement[] = [];
  for (const { recipient, amount } of demand.legs) {
    const destination = receivingAccount(recipient, demand);
    const find = (pays: EnoughForLeg) => open.findIndex((it) => it.destination === destination && pays(it, amount));
    const exact = find(exactly);
    const index = exact === -1 ? find(isEnough) : exact;
    if (index === -1) return undefined;
    matched.push(...open.splice(index, 1));
  }
  return matched;
}

/**
 * Whether the transfers that pay the legs are for this request, and for no other: a transfer has one last account. So one
 * that names the references of two services pays one of them.
 * @param paid - as {@link matchLegs} returns
 * @param signers - of the transaction; a multisig account's are named in its transfers
 */
export function isPaidFor(
  [first, ...more]: readonly Movement[],
  { reference }: RequiredTransfers,
  signers: readonly string[],
): boolean {
  if (reference === undefined) return true;
  const isOwn = (last: string | undefined): boolean =>
    last === undefined || last === reference || signers.includes(last);
  return first?.others.at(-1) === reference && more.every(({ others }) => isOwn(others.at(-1)));
}

/** Where a wallet receives the demanded asset: its associated token account, or the wallet itself for SOL. */
export function receivingAccount(recipient: string, { asset, tokenProgram }: RequiredTransfers): string {
  return asset === NATIVE_SOL ? recipient : associatedTokenAddress(recipient, asset, tokenProgram);
}
