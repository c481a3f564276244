import type { Commitment } from '../../protocol/types.js';
import type { Chain } from '../chain/chain.js';
import { encodeAccount } from '../encoding/account-encoding.js';
import {
  asAddress,
  type Config,
  readAddress,
  readCommitment,
  readConfig,
  readList,
  withContext,
} from '../encoding/params.js';
import type { ReadAccount } from '../encoding/parse-account.js';
import { invalidParams, JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';
import {
  decodeMint,
  isTokenProgramId,
  readTokenAccount,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  tokenAmount,
} from '../runtime/token-layout.js';
import type { RpcMethod } from './method.js';

const MAX_ACCOUNTS = 100;

const getBalance: RpcMethod = (chain, params) => {
  const commitment = readCommitment(chain, readConfig(params, 1));
  const account = chain.accounts.read(readAddress(params, 0), commitment);
  return withContext(chain, commitment, account?.lamports ?? 0n);
};

const getAccountInfo: RpcMethod = (chain, params) => {
  const config = readConfig(params, 1);
  const commitment = readCommitment(chain, config);
  return withContext(chain, commitment, encodeAccount(readAddress(params, 0), config, readerAt(chain, commitment)));
};

const getMultipleAccounts: RpcMethod = (chain, params) => {
  const config = readConfig(params, 1);
  const commitment = readCommitment(chain, config);
  const read = readerAt(chain, commitment);
  const addresses = readList(params, 0, MAX_ACCOUNTS).map(asAddress);
  return withContext(
    chain,
    commitment,
    addresses.map((address) => encodeAccount(address, config, read)),
  );
};

const getTokenAccountBalance: RpcMethod = (chain, params) => {
  const commitment = readCommitment(chain, readConfig(params, 1));
  const read = readerAt(chain, commitment);
  const account = readTokenAccount(read(readAddress(params, 0)));
  const mint = account === null ? null : decodeMint(read(account.mint));
  if (account === null || mint === null) {
    throw new JsonRpcFault(RPC_CODES.invalidParams, 'Invalid param: could not find account');
  }
  return withContext(chain, commitment, tokenAmount(account.amount, mint.decimals));
};

const getTokenSupply: RpcMethod = (chain, params) => {
  const commitment = readCommitment(chain, readConfig(params, 1));
  const mint = decodeMint(readerAt(chain, commitment)(readAddress(params, 0)));
  if (mint === null) {
    throw new JsonRpcFault(RPC_CODES.invalidParams, 'Invalid param: could not find mint');
  }
  return withContext(chain, commitment, tokenAmount(mint.supply, mint.decimals));
};

const getTokenAccountsByOwner: RpcMethod = (chain, params) => {
  const owner = readAddress(params, 0);
  const filter = readTokenFilter(readConfig(params, 1));
  const config = readConfig(params, 2);
  const commitment = readCommitment(chain, config);
  const read = readerAt(chain, commitment);
  if (filter.mint !== undefined && decodeMint(read(filter.mint)) === null) {
    throw new JsonRpcFault(RPC_CODES.invalidParams, 'Invalid param: could not find mint');
  }
  const found = candidates(chain, filter.programs).filter((address) => {
    const state = read(address);
    const account = readTokenAccount(state);
    return (
      state !== null &&
      account?.owner === owner &&
      filter.programs.includes(state.owner) &&
      (filter.mint === undefined || account.mint === filter.mint)
    );
  });
  return withContext(
    chain,
    commitment,
    found.map((pubkey) => ({ pubkey, account: encodeAccount(pubkey, config, read) })),
  );
};

/** Accounts a program owns now, and those that changed so lately that an older state may still be asked for. */
function candidates(chain: Chain, programs: readonly string[]): string[] {
  const owned = programs.flatMap((program) => chain.runtime.ownedBy(program));
  return [...new Set([...owned, ...chain.accounts.recent()])];
}

function readTokenFilter(filter: Config): { programs: readonly string[]; mint?: string } {
  if (filter['mint'] !== undefined) {
    return { programs: [TOKEN_PROGRAM, TOKEN_2022_PROGRAM], mint: asAddress(filter['mint']) };
  }
  const program = asAddress(filter['programId']);
  if (!isTokenProgramId(program)) {
    throw invalidParams('unrecognized Token program id');
  }
  return { programs: [program] };
}

function readerAt(chain: Chain, commitment: Commitment): ReadAccount {
  return (address) => chain.accounts.read(address, commitment);
}

/** Methods that read accounts. */
export const ACCOUNT_METHODS = {
  getBalance,
  getAccountInfo,
  getMultipleAccounts,
  getTokenAccountBalance,
  getTokenSupply,
  getTokenAccountsByOwner,
} satisfies Record<string, RpcMethod>;
