import { addressOf } from '../../protocol/address.js';
import type { AccountState, SolanaRpc } from '../rpc/rpc.js';
import { associatedTokenAddress } from '../transaction/associated-token.js';
import { isTokenProgram, PROGRAMS } from '../transaction/programs.js';

/** What a payer must know of a mint. */
export interface MintFacts {
  readonly decimals: number;
  /** Token program that owns it, base58. */
  readonly program: string;
}

/** What a token account holds. */
export interface TokenAccount {
  /** Base58. */
  readonly mint: string;
  /** Wallet that may spend from it, base58; of an associated token account not always the one it was derived for. */
  readonly owner: string;
  /** Atomic units. */
  readonly amount: bigint;
}

// Layouts of the token programs, the same in both: mint, owner, amount and delegate of an account; decimals and state of a mint.
const OWNER_OFFSET = 32;
const AMOUNT_OFFSET = 64;
const DELEGATE_OFFSET = 72;
const DELEGATE_ADDRESS_OFFSET = 76;
const STATE_OFFSET = 108;
const ALLOWANCE_OFFSET = 121;
const FROZEN = 2;
const DECIMALS_OFFSET = 44;
const INITIALIZED_OFFSET = 45;
const MINT_BYTES = 82;
const MULTISIG_BYTES = 355;
// Token-2022 pads what has extensions to the size of an account and says in the byte behind it what it is.
const KIND_OFFSET = 165;
const KIND_MINT = 1;
/** Number of the extension that asks for memos. */
const MEMO_TRANSFER = 8;
/** Numbers of those by which wallets show another amount than the decimals tell: interest, and a multiplier. */
const SHOWN_OTHERWISE: ReadonlySet<number> = new Set([10, 25]);

/** How much of an account tells what it is as a mint or a token account: a multisig of that size is neither, a longer one none. */
export const TOKEN_HEAD_BYTES = MULTISIG_BYTES + 1;

/** Reads a mint from the chain; undefined when the address holds none. */
export async function readMint(mint: string, rpc: SolanaRpc): Promise<MintFacts | undefined> {
  const [account] = await rpc.getAccounts([mint], 'confirmed', TOKEN_HEAD_BYTES);
  return mintFactsOf(account ?? null);
}

/** What an account says as a mint; undefined when it is none: a token account, for instance. */
export function mintFactsOf(account: AccountState | null): MintFacts | undefined {
  if (account === null || !isTokenProgram(account.owner)) return undefined;
  const { data, owner } = account;
  const extended = owner === PROGRAMS.token2022 && data[KIND_OFFSET] === KIND_MINT && data.length !== MULTISIG_BYTES;
  if ((data.length !== MINT_BYTES && !extended) || data[INITIALIZED_OFFSET] !== 1) return undefined;
  return { decimals: data[DECIMALS_OFFSET] ?? 0, program: owner };
}

/** What an account says as a token account, from its first 72 bytes; undefined when it is none. */
export function tokenAccountOf(account: AccountState | null): TokenAccount | undefined {
  if (account === null || !isTokenProgram(account.owner) || account.data.length < AMOUNT_OFFSET + 8) return undefined;
  const { data } = account;
  return {
    mint: addressOf(data.subarray(0, OWNER_OFFSET)),
    owner: addressOf(data.subarray(OWNER_OFFSET, AMOUNT_OFFSET)),
    amount: new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(AMOUNT_OFFSET, true),
  };
}

/** The 32 bytes of the address of a token account's owner, as {@link tokenAccountOf} tells it in base58; undefined when it is none. */
export function ownerBytesOf(account: AccountState | null): Uint8Array | undefined {
  if (account === null || !isTokenProgram(account.owner) || account.data.length < AMOUNT_OFFSET + 8) return undefined;
  return account.data.subarray(OWNER_OFFSET, AMOUNT_OFFSET);
}

/** Who may take money from a token account beside its owner. */
export interface AccountDelegate {
  /** Base58. */
  readonly delegate: string;
  /** The most that he may take, in atomic units; it may be more than there is. */
  readonly allowance: bigint;
}

/** The delegate of a token account; undefined where nobody may take anything beside its owner. */
export function delegateOf(account: AccountState | null): AccountDelegate | undefined {
  if (tokenAccountOf(account) === undefined || account?.data[DELEGATE_OFFSET] !== 1) return undefined;
  if (account.data.length < ALLOWANCE_OFFSET + 8) return undefined;
  const { data } = account;
  return {
    delegate: addressOf(data.subarray(DELEGATE_ADDRESS_OFFSET, STATE_OFFSET)),
    allowance: new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(ALLOWANCE_OFFSET, true),
  };
}

/** Whether a token account takes and gives nothing until the mint's authority thaws it. */
export function isFrozen({ data }: AccountState): boolean {
  return data[STATE_OFFSET] === FROZEN;
}

/** Whether a Token-2022 account takes only transfers that a memo stands directly before; its owner switches that on and off. */
export function needsMemo(account: AccountState): boolean {
  return extensionsOf(account).some(({ type, content }) => type === MEMO_TRANSFER && content[0] === 1);
}

/** Whether wallets show amounts of a Token-2022 mint multiplied (ScaledUiAmount, InterestBearing), now or once its issuer says so. */
export function showsScaledAmounts(mint: AccountState): boolean {
  return extensionsOf(mint).some(({ type }) => SHOWN_OTHERWISE.has(type));
}

interface Extension {
  readonly type: number;
  readonly content: Uint8Array;
}

/** Extensions stand behind the account's kind: type, length, content. */
function extensionsOf({ owner, data }: AccountState): readonly Extension[] {
  if (owner !== PROGRAMS.token2022) return [];
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const found: Extension[] = [];
  for (let at = KIND_OFFSET + 1; at + 4 <= data.length; at += 4 + view.getUint16(at + 2, true)) {
    const content = data.subarray(at + 4, at + 4 + view.getUint16(at + 2, true));
    found.push({ type: view.getUint16(at, true), content });
  }
  return found;
}

/** Atomic amounts in the associated token accounts of several owners, in their order; undefined where there is none. */
export async function readTokenBalances(
  owners: readonly string[],
  mint: string,
  program: string,
  rpc: SolanaRpc,
): Promise<readonly (bigint | undefined)[]> {
  const addresses = owners.map((owner) => associatedTokenAddress(owner, mint, program));
  const accounts = await rpc.getAccounts(addresses, 'confirmed', TOKEN_HEAD_BYTES);
  return accounts.map((account) => tokenAccountOf(account)?.amount);
}
