import { addressBytes, addressOf } from '../../protocol/address.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { RuntimeAccount } from './runtime.js';

/** Address of the SPL Token program. */
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
/** Address of the Token-2022 program. */
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

const MINT_SIZE = 82;
const ACCOUNT_SIZE = 165;
const KIND_OFFSET = 165;
const KIND = { mint: 1, account: 2 } as const;

/** The fields of a token account that are the same under both programs. */
export interface TokenAccountLayout {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
}

/** The fields of a mint that are the same under both programs. */
export interface Mint {
  readonly supply: bigint;
  readonly decimals: number;
}

/** Whether an address is that of a token program. */
export function isTokenProgramId(address: string): boolean {
  return address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM;
}

/** Reads a token account; null when the account is none, or is not initialized. */
export function readTokenAccount(state: RuntimeAccount | null): TokenAccountLayout | null {
  if (state === null || !isTokenProgramId(state.owner) || !hasKind(state.data, ACCOUNT_SIZE, KIND.account)) {
    return null;
  }
  const data = view(state.data);
  return data[108] === 0
    ? null
    : {
        mint: addressOf(data.subarray(0, 32)),
        owner: addressOf(data.subarray(32, 64)),
        amount: data.readBigUInt64LE(64),
      };
}

/** Data of an empty token account under the first token program, which is no account of wrapped SOL. */
export function newTokenAccount(mint: string, owner: string): Buffer {
  const data = Buffer.alloc(ACCOUNT_SIZE);
  data.set(addressBytes(mint), 0);
  data.set(addressBytes(owner), 32);
  data[108] = 1;
  return data;
}

/** Reads a mint; null when the account is none, or is not initialized. */
export function decodeMint(state: RuntimeAccount | null): Mint | null {
  if (state === null || !isTokenProgramId(state.owner) || !hasKind(state.data, MINT_SIZE, KIND.mint)) {
    return null;
  }
  const data = view(state.data);
  return data[45] === 0 ? null : { supply: data.readBigUInt64LE(36), decimals: data.readUInt8(44) };
}

/** A copy of a token account with more tokens in it. */
export function withAmountAdded(state: RuntimeAccount, amount: bigint): RuntimeAccount {
  return withUint64Added(state, 64, amount);
}

/** A copy of a mint with a larger supply. */
export function withSupplyAdded(state: RuntimeAccount, amount: bigint): RuntimeAccount {
  return withUint64Added(state, 36, amount);
}

/** The amount of a token as RPC nodes write it. */
export function tokenAmount(amount: bigint, decimals: number): Record<string, unknown> {
  const uiAmountString = formatAmount(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

/** Accounts with extensions say what they are in a byte behind the longer of the two layouts. */
function hasKind(data: Uint8Array, plainSize: number, kind: number): boolean {
  return data.length === plainSize || (data.length > KIND_OFFSET && data[KIND_OFFSET] === kind);
}

function withUint64Added(state: RuntimeAccount, offset: number, amount: bigint): RuntimeAccount {
  const data = Buffer.from(state.data);
  data.writeBigUInt64LE(data.readBigUInt64LE(offset) + amount, offset);
  return { ...state, data };
}

function view(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}
