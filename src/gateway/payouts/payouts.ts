import { randomUUID } from 'node:crypto';
import type { PayoutSender } from '../../facilitator/payouts/payout-sender.js';
import type { Token } from '../../protocol/types.js';
import {
  MAX_PAYOUT_LEGS,
  type OwedTotal,
  type PayoutPosition,
  type PayoutRecord,
  type PayoutStore,
} from '../../storage/payouts/payout-store.js';
import { type OwedNow, owedNow, type PayoutMinimums } from './payout-minimum.js';
import { holdWaiting, isHeldBy, planPayouts } from './payout-planning.js';
import { advancePayout, givePayoutBack, PAYOUT_LEASE_MS, type PayoutWorkParts } from './payout-work.js';
import { type Resolution, resolvePayout } from './resolve-payout.js';
import { createUnknownPayouts } from './unknown-payouts.js';

/** What {@link createPayouts} works with. */
export interface PayoutsParts extends PayoutMinimums {
  readonly book: PayoutStore;
  /** `payouts` of an embedded facilitator with a split wallet. */
  readonly sender: PayoutSender;
  /**
   * What a project must be owed of a token for it to be paid out by itself: atomic units by mint. Default: nothing is paid
   * out for its size, only for its age.
   */
  readonly thresholds?: ReadonlyMap<string, bigint>;
  /** How old what is owed gets before it is paid out by itself, however little it is, in milliseconds. Default 24 hours. */
  readonly maxAgeMs?: number;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
  /** Told of what went wrong in the background; it is tried again. Default: nobody. */
  readonly onFault?: (error: unknown) => void;
}

/**
 * Payouts of what is owed to the recipients of splits. Several instances may share a book: each payout is
 * made by one of them, and taken over when that one dies.
 */
export interface Payouts {
  /** A token by its mint. Rejects with `chain_unavailable`. */
  token(mint: string): Promise<Token>;
  /** What a project owes and is in no payout, by recipient and token, and why it is not paid at once. */
  owed(projectId: string): Promise<readonly OwedNow[]>;
  /** Whether a wallet owns a project that owes something or has paid something, be it deleted since. */
  isOwner(projectId: string, wallet: string): Promise<boolean>;
  /** A payout of a project by its id; undefined where it has none. */
  find(projectId: string, id: string): Promise<PayoutRecord | undefined>;
  /** Asks the chain what became of a payout, and books what it says; nothing is sent. Rejects with `chain_unavailable`. */
  resolve(payout: PayoutRecord): Promise<Resolution>;
  /** Payouts of a project, newest first. */
  list(projectId: string, limit: number, after?: PayoutPosition): Promise<readonly PayoutRecord[]>;
  /**
   * Plans payouts of all that a project owes, and begins to make them; recipients who cannot receive, or are owed too little, are left out. Answers
   * those that were planned. Rejects with `chain_unavailable`, also while books that were restored wait for what was sent before.
   */
  request(projectId: string): Promise<readonly PayoutRecord[]>;
  /** Books what has come in, plans what is due, and brings everything unfinished further. Rejects with what stopped it. */
  run(): Promise<void>;
  /** Runs from now on again and again. Default every 10 seconds. */
  start(everyMs?: number): void;
  /** Stops, and waits for what is under way: close the facilitator first, which ends all waiting for the chain. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 10_000;
const STEP = 200;

/** Makes the payouts of a gateway. Nothing runs before `start`. */
export function createPayouts(parts: PayoutsParts): Payouts {
  const { book, sender, now = Date.now, onFault = () => undefined } = parts;
  const { network, wallets } = sender;
  const unknownOf = new Map(
    wallets.map((wallet) => [wallet, createUnknownPayouts({ book, past: sender.past(wallet), network, wallet })]),
  );
  const work = { ...parts, now, unknown: async (wallet: string) => (await unknownOf.get(wallet)?.()) ?? [] };
  const underWay = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const advance = createAdvance(work, onFault);

  async function run(): Promise<void> {
    await accrue(book);
    await sender.mayPay();
    const ready = await Promise.all(wallets.map((wallet) => book.ready(network, wallet)));
    // A wallet that was replaced is emptied, so that its key can go.
    const due = ready.flat().filter((it) => it.wallet !== sender.wallet || isDue(it, parts, now()));
    // What is wrong with one project must not stop the others.
    for (const total of due) await planDue(total).catch(onFault);
    await advance();
  }

  async function planDue({ projectId, wallet, mint }: OwedTotal): Promise<void> {
    const sums = await book.owed(projectId);
    const unheld = sums.filter((it) => it.wallet === wallet && it.mint === mint && it.heldUntil <= now());
    await planPayouts(work, unheld);
    await holdWaiting(work, unheld);
  }

  /** Does something in the background, which `close` waits for. */
  function inBackground(task: () => Promise<void>): void {
    const done = task()
      .catch(onFault)
      .finally(() => underWay.delete(done));
    underWay.add(done);
  }

  return {
    token: sender.token,
    async owed(projectId) {
      await accrue(book);
      const sums = await book.owed(projectId);
      const time = now();
      return sums.map((it) =>
        isHeldBy(it, sender) ? owedNow(it, parts, time) : { ...it, held: 'split_wallet_replaced' },
      );
    },
    ...readersOf(book),
    resolve: (payout) => resolvePayout({ book, now, sender, fate: sender.fate }, payout),
    async request(projectId) {
      await accrue(book);
      await sender.mayPay();
      const payouts = await planPayouts(work, await book.owed(projectId));
      if (payouts.length > 0) inBackground(advance);
      return payouts;
    },
    run,
    start(everyMs = EVERY_MS) {
      timer ??= setInterval(() => underWay.size === 0 && inBackground(run), everyMs).unref();
    },
    async close() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

function readersOf(book: PayoutStore): Pick<Payouts, 'isOwner' | 'find' | 'list'> {
  return {
    async isOwner(projectId, wallet) {
      await accrue(book);
      return (await book.ownerOf(projectId)) === wallet;
    },
    async find(projectId, id) {
      const payout = await book.find(id);
      return payout?.projectId === projectId ? payout : undefined;
    },
    list: (projectId, limit, after) => book.list(projectId, limit, after),
  };
}

async function accrue(book: PayoutStore): Promise<void> {
  while ((await book.accrue(STEP)) === STEP);
}

function isDue({ mint, amount, oldestAt }: OwedTotal, { thresholds, maxAgeMs = DAY_MS }: PayoutsParts, time: number) {
  const threshold = thresholds?.get(mint);
  return oldestAt <= time - maxAgeMs || (threshold !== undefined && amount >= threshold);
}

const AT_ONCE = 20;

/**
 * Makes what takes payouts that nobody holds and brings them further, and what comes of them at once as well. Each round leaves
 * one recipient out who cannot be paid, so that there are no more rounds than recipients.
 * @param onFault - told of what went wrong; it is tried again
 */
function createAdvance(work: PayoutWorkParts, onFault: (error: unknown) => void): () => Promise<void> {
  const { book, sender } = work;

  async function advanceOne(payout: PayoutRecord, lease: string): Promise<boolean> {
    try {
      return await advancePayout(work, payout, lease);
    } catch (error) {
      onFault(error);
      await givePayoutBack(work, payout, lease);
      return false;
    }
  }

  return async () => {
    for (let round = 0, isMore = true; isMore && round <= MAX_PAYOUT_LEGS; round += 1) {
      const lease = randomUUID();
      const taken = await book.take(sender.network, lease, PAYOUT_LEASE_MS, AT_ONCE);
      isMore = (await Promise.all(taken.map((payout) => advanceOne(payout, lease)))).includes(true);
    }
  };
}
