import type { AccountState, SolanaRpc } from '../rpc/rpc.js';
import { MAX_ACCOUNTS_PER_CALL } from '../rpc/rpc-client.js';

/** Reads one account; null where there is none. */
export type LoadAccount = (address: string) => Promise<AccountState | null>;

/** How long single reads wait for company. */
export interface AccountBatchOptions {
  /** A batch leaves when no other address has come for this long and the process was not busy, in milliseconds. */
  readonly quietMs: number;
  /** Longest time from the first address until the batch leaves, in milliseconds. */
  readonly longestMs: number;
  /** How many batches a second leave because it was quiet; beyond that they wait for company, or until their longest time is over. */
  readonly quietPerSecond: number;
  /** How much of each account's data is read, from its beginning: a hundred large accounts are more than fits into an answer. */
  readonly headBytes: number;
}

/** Share of its time that a busy process works. */
const BUSY = 0.9;

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
export function createAccountBatch(
  rpc: SolanaRpc,
  { quietMs, longestMs, quietPerSecond, headBytes }: AccountBatchOptions,
): LoadAccount {
  /** When the last ones left. */
  let left: readonly number[] = [];
  let open: Batch | undefined;
  let timer: NodeJS.Timeout | undefined;

  function close(batch: Batch): void {
    clearTimeout(timer);
    open = undefined;
    left = [...left, performance.now()].slice(-quietPerSecond);
    batch.leave();
  }

  /** Whoever spaces requests out would have a call for each of them. */
  function isEarly(): boolean {
    const [first = Number.NEGATIVE_INFINITY] = left;
    return left.length === quietPerSecond && performance.now() - first < 1_000;
  }

  function waitForCompany(batch: Batch): void {
    const { size } = batch.addresses;
    const before = performance.eventLoopUtilization();
    timer = setTimeout(() => {
      // A busy process has requests waiting that it has not come to read: more addresses may be among them.
      const busy = performance.eventLoopUtilization(before).utilization > BUSY;
      const quiet = batch.addresses.size === size && !busy && !isEarly();
      if (quiet || performance.now() - batch.openedAt >= longestMs) close(batch);
      else waitForCompany(batch);
    }, quietMs);
  }

  return async (address) => {
    const batch = open ?? openBatch(rpc, headBytes);
    batch.addresses.add(address);
    if (open === undefined) waitForCompany(batch);
    open = batch;
    if (batch.addresses.size >= MAX_ACCOUNTS_PER_CALL) close(batch);
    return (await batch.accounts).get(address) ?? null;
  };
}

function openBatch(rpc: SolanaRpc, headBytes: number): Batch {
  const addresses = new Set<string>();
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const accounts = left.then(async () => {
    const asked = [...addresses];
    const found = await rpc.getAccounts(asked, 'confirmed', headBytes);
    return new Map(asked.map((address, index) => [address, found[index] ?? null]));
  });
  return { addresses, openedAt: performance.now(), accounts, leave };
}
