import {
  ACCOUNT_SIZE,
  type Account,
  type Mint,
  AccountState as TokenState,
  unpackAccount,
  unpackMint,
} from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import type { RuntimeAccount } from '../runtime/runtime.js';
import { parseExtensions } from '../runtime/token-extensions.js';
import { decodeMint, isTokenProgramId, TOKEN_2022_PROGRAM, tokenAmount } from '../runtime/token-layout.js';

/** Reads an account, at whatever commitment the caller works. */
export type ReadAccount = (address: string) => RuntimeAccount | null;

/** Account data as RPC nodes write it when they know the program. */
export interface ParsedData {
  readonly program: string;
  readonly parsed: { readonly type: string; readonly info: Readonly<Record<string, unknown>> };
  readonly space: number;
}

const ANY_ADDRESS = PublicKey.default;
const STATES: Readonly<Record<TokenState, string>> = {
  [TokenState.Uninitialized]: 'uninitialized',
  [TokenState.Initialized]: 'initialized',
  [TokenState.Frozen]: 'frozen',
};

/** The `jsonParsed` form of a token account or a mint; null for every other account. */
export function parseAccount(state: RuntimeAccount, read: ReadAccount): ParsedData | null {
  if (!isTokenProgramId(state.owner)) {
    return null;
  }
  const program = state.owner === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token';
  const parsed = isMint(state) ? parseMint(state) : parseTokenAccount(state, read);
  return parsed === null ? null : { program, parsed, space: state.data.length };
}

function isMint(state: RuntimeAccount): boolean {
  return decodeMint(state) !== null;
}

function parseMint(state: RuntimeAccount): ParsedData['parsed'] {
  const mint: Mint = unpackMint(ANY_ADDRESS, toWeb3(state), new PublicKey(state.owner));
  const info = {
    decimals: mint.decimals,
    freezeAuthority: mint.freezeAuthority?.toBase58() ?? null,
    isInitialized: mint.isInitialized,
    mintAuthority: mint.mintAuthority?.toBase58() ?? null,
    supply: mint.supply.toString(),
    ...parseExtensions(mint.tlvData, state.owner),
  };
  return { type: 'mint', info };
}

function parseTokenAccount(state: RuntimeAccount, read: ReadAccount): ParsedData['parsed'] | null {
  if (state.data.length < ACCOUNT_SIZE) {
    return null;
  }
  const account: Account = unpackAccount(ANY_ADDRESS, toWeb3(state), new PublicKey(state.owner));
  const decimals = decodeMint(read(account.mint.toBase58()))?.decimals;
  if (decimals === undefined) {
    return null;
  }
  const info = {
    isNative: account.isNative,
    mint: account.mint.toBase58(),
    owner: account.owner.toBase58(),
    state: stateOf(account),
    tokenAmount: tokenAmount(account.amount, decimals),
    ...(account.delegate === null
      ? {}
      : { delegate: account.delegate.toBase58(), delegatedAmount: tokenAmount(account.delegatedAmount, decimals) }),
    ...(account.rentExemptReserve === null ? {} : { rentExemptReserve: tokenAmount(account.rentExemptReserve, 9) }),
    ...(account.closeAuthority === null ? {} : { closeAuthority: account.closeAuthority.toBase58() }),
    ...parseExtensions(account.tlvData, state.owner),
  };
  return { type: 'account', info };
}

function stateOf({ isFrozen, isInitialized }: Account): string {
  return STATES[isFrozen ? TokenState.Frozen : isInitialized ? TokenState.Initialized : TokenState.Uninitialized];
}

function toWeb3({ lamports, owner, data, executable }: RuntimeAccount) {
  return { lamports: Number(lamports), owner: new PublicKey(owner), data: Buffer.from(data), executable };
}
