import type { AccountState, SolanaRpc } from './rpc.js';
import { MAX_ACCOUNTS_PER_CALL } from './rpc-client.js';

/** Reads one account; null where there is none. */
export type LoadAccount = (address: string) => Promise<AccountState | null>;

/** How long single reads wait for company. */
export interface AccountBatchOptions {
  /** A batch leaves when no other address has come for this long, in milliseconds. */
  readonly quietMs: number;
  /** Longest time from the first address until the batch leaves, in milliseconds. */
  readonly longestMs: number;
}

interface Batch {
  readonly addresses: Set<string>;
  readonly openedAt: number;
  readonly accounts: Promise<ReadonlyMap<string, AccountState | null>>;
  leave(): void;
}

/**
 * Turns reads of single accounts into calls for up to a hundred: calls are rationed, and each takes far longer than the
 * wait for company. Nothing is cached; an address that is asked for twice in a batch is read once.
 */
export function createAccountBatch(rpc: SolanaRpc, { quietMs, longestMs }: AccountBatchOptions): LoadAccount {
  let open: Batch | undefined;

  function close(batch: Batch): void {
    if (open === batch) open = undefined;
    batch.leave();
  }

  function waitForCompany(batch: Batch): void {
    const { size } = batch.addresses;
    // In a busy process timers come late, while requests wait to be read: these get a turn before it counts as quiet.
    const check = () => {
      if (open !== batch) return;
      const grew = batch.addresses.size > size;
      if (grew && performance.now() - batch.openedAt < longestMs) waitForCompany(batch);
      else close(batch);
    };
    setTimeout(() => setImmediate(check), quietMs);
  }

  return async (address) => {
    if (open === undefined) {
      const opened = openBatch(rpc);
      open = opened;
      setImmediate(() => waitForCompany(opened));
    }
    const batch = open;
    batch.addresses.add(address);
    if (batch.addresses.size >= MAX_ACCOUNTS_PER_CALL) close(batch);
    return (await batch.accounts).get(address) ?? null;
  };
}

function openBatch(rpc: SolanaRpc): Batch {
  const addresses = new Set<string>();
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const accounts = left.then(async () => {
    const asked = [...addresses];
    const found = await rpc.getAccounts(asked, 'confirmed');
    return new Map(asked.map((address, index) => [address, found[index] ?? null]));
  });
  return { addresses, openedAt: performance.now(), accounts, leave };
}
