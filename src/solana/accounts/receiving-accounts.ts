import { boundedCache } from '../../lib/bounded-cache.js';
import { addressBytes } from '../../protocol/address.js';
import type { AccountState, SolanaRpc } from '../rpc/rpc.js';
import { ownerBytesOf, TOKEN_HEAD_BYTES } from './token-accounts.js';

/** A token account that is to be paid into, and the wallet that it was derived for; both base58. */
export interface ReceivingAccount {
  readonly account: string;
  readonly wallet: string;
}

/** Knows of token accounts that money is sent to whether they still belong to the wallets that they were derived for. */
export interface ReceivingAccounts {
  /** Takes note of what somebody saw: whether the account has passed to another wallet. One that is not there has not. */
  isForeign(receiving: ReceivingAccount, state: AccountState | null): boolean;
  /**
   * Whether any of them has, by what was seen within five minutes, and else by one call to the chain. Rejects with RpcError.
   */
  isAnyForeign(receiving: readonly ReceivingAccount[]): Promise<boolean>;
}

const SEEN_MS = 300_000;
const SEEN_MAX = 10_000;

/**
 * Makes that memory. An owner can hand a token account over to anybody (`SetAuthority`), and its address stays: whoever sent to it would
 * pay another one. Only what is right is remembered, so that one who mends it is paid at once.
 */
export function createReceivingAccounts(rpc: Pick<SolanaRpc, 'getAccounts'>): ReceivingAccounts {
  const owned = boundedCache<string, true>({ max: SEEN_MAX, ttl: SEEN_MS });

  function isForeign({ account, wallet }: ReceivingAccount, state: AccountState | null): boolean {
    const owner = ownerBytesOf(state);
    if (owner === undefined) return false;
    const isTheirs = Buffer.compare(owner, addressBytes(wallet)) === 0;
    if (isTheirs) owned.set(account, true);
    else owned.delete(account);
    return !isTheirs;
  }

  return {
    isForeign,
    async isAnyForeign(receiving) {
      const unseen = receiving.filter(({ account }) => !owned.has(account));
      if (unseen.length === 0) return false;
      const addresses = unseen.map(({ account }) => account);
      const states = await rpc.getAccounts(addresses, 'confirmed', TOKEN_HEAD_BYTES);
      return unseen.map((it, index) => isForeign(it, states[index] ?? null)).includes(true);
    },
  };
}
