import { PROGRAMS } from './programs.js';

/** An instruction with its account indexes resolved. */
export interface Instruction {
  /** Address of the program, base58. */
  readonly program: string;
  /** Addresses of its accounts, in order. */
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/** A TransferChecked of SPL Token or Token-2022. */
export interface TokenTransfer {
  readonly kind: 'token-transfer';
  /** Token program, base58. */
  readonly program: string;
  readonly source: string;
  readonly mint: string;
  readonly destination: string;
  /** Who signs for the source account: its owner or a delegate. */
  readonly authority: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** Accounts that it names beside these, in their order: signers of a multisig account, references of payment requests. */
  readonly others: readonly string[];
}

/** A System transfer of native SOL. */
export interface SolTransfer extends Pick<TokenTransfer, 'others'> {
  readonly kind: 'sol-transfer';
  readonly source: string;
  readonly destination: string;
  readonly lamports: bigint;
}

/** The creation of an associated token account, paid for by `funder`. */
export interface TokenAccountCreation {
  readonly kind: 'create-token-account';
  readonly funder: string;
  readonly account: string;
  readonly owner: string;
  readonly mint: string;
}

/** A plain Transfer of a token program, which does not name the mint. */
export interface UncheckedTransfer extends Pick<TokenTransfer, 'others'> {
  readonly kind: 'unchecked-token-transfer';
  readonly program: string;
  readonly source: string;
  readonly destination: string;
  readonly authority: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/** A TransferCheckedWithFee of Token-2022: the sender names the fee that is kept of the amount. */
export interface TransferWithFee extends Omit<TokenTransfer, 'kind'> {
  readonly kind: 'token-transfer-with-fee';
  /** Atomic units; part of the amount. */
  readonly fee: bigint;
}

/** A SetAuthority that gives a token account an owner, or what may be one. */
export interface OwnerChange {
  readonly kind: 'owner-change';
  readonly account: string;
}

/** What an instruction does, as far as some kind of payment may do it; everything else is `other`. */
export type PlainInstruction =
  | TokenTransfer
  | UncheckedTransfer
  | TransferWithFee
  | OwnerChange
  | SolTransfer
  | TokenAccountCreation
  | { readonly kind: 'compute-limit'; readonly units: number }
  | { readonly kind: 'compute-price'; readonly microLamports: bigint }
  | { readonly kind: 'memo'; readonly data: Uint8Array }
  /** A wallet's assertion on accounts. */
  | { readonly kind: 'guard' }
  | { readonly kind: 'nonce-advance' }
  | { readonly kind: 'malformed-compute-limit' }
  | { readonly kind: 'malformed-compute-price' }
  | { readonly kind: 'other' };

const OTHER: PlainInstruction = { kind: 'other' };

const READERS: Readonly<Record<string, (instruction: Instruction) => PlainInstruction>> = {
  [PROGRAMS.token]: readTokenInstruction,
  [PROGRAMS.token2022]: readTokenInstruction,
  [PROGRAMS.computeBudget]: readComputeBudget,
  [PROGRAMS.memo]: ({ data }) => ({ kind: 'memo', data }),
  [PROGRAMS.lighthouse]: readGuard,
  [PROGRAMS.system]: readSystemInstruction,
  [PROGRAMS.associatedToken]: readTokenAccountCreation,
};

/** Reads one instruction. Pure; never throws. */
export function readInstruction(instruction: Instruction): PlainInstruction {
  return READERS[instruction.program]?.(instruction) ?? OTHER;
}

const TRANSFER = 3;
const TRANSFER_BYTES = 9;
const TRANSFER_CHECKED = 12;
const TRANSFER_CHECKED_BYTES = 10;
const SET_AUTHORITY = 6;
const TRANSFER_FEE_EXTENSION = 26;

/** ApproveChecked, MintToChecked and BurnChecked have the same shape: the discriminator alone tells them apart. */
function readTokenInstruction(instruction: Instruction): PlainInstruction {
  const { program, accounts, data } = instruction;
  // What landed and was too long to be read may have done anything to its account.
  if (data.length === 0 && accounts[0] !== undefined) return { kind: 'owner-change', account: accounts[0] };
  if (data[0] === TRANSFER) return readUncheckedTransfer(instruction);
  if (data[0] === SET_AUTHORITY) return readOwnerChange(instruction);
  if (data[0] === TRANSFER_FEE_EXTENSION) return readTransferWithFee(instruction);
  if (data[0] !== TRANSFER_CHECKED || data.length !== TRANSFER_CHECKED_BYTES || !names(accounts, 4)) return OTHER;
  const [source, mint, destination, authority, ...others] = accounts;
  const amount = view(data).getBigUint64(1, true);
  return { kind: 'token-transfer', program, source, mint, destination, authority, amount, others };
}

function readUncheckedTransfer({ program, accounts, data }: Instruction): PlainInstruction {
  if (data.length !== TRANSFER_BYTES || !names(accounts, 3)) return OTHER;
  const [source, destination, authority, ...others] = accounts;
  const amount = view(data).getBigUint64(1, true);
  return { kind: 'unchecked-token-transfer', program, source, destination, authority, amount, others };
}

const ACCOUNT_OWNER = 2;

/** What follows, the new owner, is not looked at: who was it before does not matter either. */
function readOwnerChange({ accounts, data }: Instruction): PlainInstruction {
  const [account] = accounts;
  return data[1] === ACCOUNT_OWNER && account !== undefined ? { kind: 'owner-change', account } : OTHER;
}

const TRANSFER_CHECKED_WITH_FEE = 1;
const TRANSFER_WITH_FEE_BYTES = 19;

function readTransferWithFee({ program, accounts, data }: Instruction): PlainInstruction {
  const isTransfer = data[1] === TRANSFER_CHECKED_WITH_FEE && data.length === TRANSFER_WITH_FEE_BYTES;
  if (!isTransfer || program !== PROGRAMS.token2022 || !names(accounts, 4)) return OTHER;
  const [source, mint, destination, authority, ...others] = accounts;
  const [amount, fee] = [view(data).getBigUint64(2, true), view(data).getBigUint64(11, true)];
  return { kind: 'token-transfer-with-fee', program, source, mint, destination, authority, amount, fee, others };
}

const CREATE = 0;
const CREATE_IDEMPOTENT = 1;

function readTokenAccountCreation({ accounts, data }: Instruction): PlainInstruction {
  const variant = data.length === 0 ? CREATE : data.length === 1 ? data[0] : undefined;
  if ((variant !== CREATE && variant !== CREATE_IDEMPOTENT) || !names(accounts, 4)) return OTHER;
  const [funder, account, owner, mint] = accounts;
  return { kind: 'create-token-account', funder, account, owner, mint };
}

const SET_COMPUTE_UNIT_LIMIT = 2;
const SET_COMPUTE_UNIT_PRICE = 3;

function readComputeBudget({ data }: Instruction): PlainInstruction {
  if (data[0] === SET_COMPUTE_UNIT_LIMIT) {
    if (data.length !== 5) return { kind: 'malformed-compute-limit' };
    return { kind: 'compute-limit', units: view(data).getUint32(1, true) };
  }
  if (data[0] === SET_COMPUTE_UNIT_PRICE) {
    if (data.length !== 9) return { kind: 'malformed-compute-price' };
    return { kind: 'compute-price', microLamports: view(data).getBigUint64(1, true) };
  }
  return OTHER;
}

// Lighthouse: 2 to 10 assert on accounts. 0 and 1 write and close memory accounts, which cost rent; of 11 to 17 some assert
// the clock (15), so that a transaction passes now and fails two slots later, or call another program (16).
const FIRST_ACCOUNT_ASSERTION = 2;
const LAST_ACCOUNT_ASSERTION = 10;

/** Clock, SlotHashes and the others: what they hold is another thing in each slot, or in each transaction. */
const SYSVAR = 'Sysvar';

function readGuard({ accounts, data }: Instruction): PlainInstruction {
  const [discriminator] = data;
  if (discriminator === undefined || accounts.some((address) => address.startsWith(SYSVAR))) return OTHER;
  const isOnAccounts = discriminator >= FIRST_ACCOUNT_ASSERTION && discriminator <= LAST_ACCOUNT_ASSERTION;
  return isOnAccounts ? { kind: 'guard' } : OTHER;
}

const SYSTEM_TRANSFER = 2;
const SYSTEM_TRANSFER_BYTES = 12;
const ADVANCE_NONCE_ACCOUNT = 4;

function readSystemInstruction({ accounts, data }: Instruction): PlainInstruction {
  const variant = data.length >= 4 ? view(data).getUint32(0, true) : undefined;
  if (variant === ADVANCE_NONCE_ACCOUNT) return { kind: 'nonce-advance' };
  if (variant !== SYSTEM_TRANSFER || data.length !== SYSTEM_TRANSFER_BYTES || !names(accounts, 2)) return OTHER;
  const [source, destination, ...others] = accounts;
  return { kind: 'sol-transfer', source, destination, lamports: view(data).getBigUint64(4, true), others };
}

interface Named {
  readonly 2: readonly [string, string, ...string[]];
  readonly 3: readonly [string, string, string, ...string[]];
  readonly 4: readonly [string, string, string, string, ...string[]];
}

/** Whether an instruction names at least so many accounts. */
function names<N extends keyof Named>(accounts: readonly string[], count: N): accounts is Named[N] {
  return accounts.length >= count;
}

function view(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}
