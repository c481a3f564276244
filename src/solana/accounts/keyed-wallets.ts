import { boundedCache } from '../../lib/bounded-cache.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import type { SolanaRpc } from '../rpc/rpc.js';
import { isOnCurve } from '../transaction/on-curve.js';
import { PROGRAMS } from '../transaction/programs.js';

/** Knows of wallets whether a key of their own commands them. */
export interface KeyedWallets {
  /**
   * Whether the wallet acts by its own signature. A program acts for an address that it has derived, and the signers of a multisig for the
   * account of that: one signature then commands any number of them. Asked of the chain once in an hour. Rejects with RpcError.
   */
  isKeyed(wallet: string): MaybePromise<boolean>;
}

const SEEN_MS = 3_600_000;
const SEEN_MAX = 50_000;

/** Makes that memory. */
export function createKeyedWallets(rpc: Pick<SolanaRpc, 'getAccounts'>): KeyedWallets {
  const known = boundedCache<string, boolean>({ max: SEEN_MAX, ttl: SEEN_MS });

  async function ask(wallet: string): Promise<boolean> {
    if (!isOnCurve(wallet)) return false;
    const [account] = await rpc.getAccounts([wallet], 'confirmed', 0);
    // One that is not there has not got any SOL yet.
    return (account?.owner ?? PROGRAMS.system) === PROGRAMS.system;
  }

  async function look(wallet: string): Promise<boolean> {
    const isKeyed = await ask(wallet);
    known.set(wallet, isKeyed);
    return isKeyed;
  }

  return { isKeyed: (wallet) => known.get(wallet) ?? look(wallet) };
}
