import { boundedCache } from '../../lib/bounded-cache.js';
import { FLIGHT_MS } from './money-in-flight.js';
import { isShared, UNKEYED } from './spending.js';

/**
 * Bounds what the unlanded payments of one wallet may cost together: a wallet that takes its money away while they are on
 * their way makes all of them fail at our cost, for the price of one transaction of its own (some 5,200 lamports). A new wallet has
 * room for the network fees of five ordinary payments, and with each that lands for more, up to ten: less than twenty times
 * that price. A customer, whose money went to the operator and could not come back to him, has room for as many as he has bought,
 * up to a hundred. What finds no room waits for it. One payment always finds room, and where one has failed there is room for one alone
 * for ten minutes. A delegate has a room apart from his wallet's, which strangers cannot fill by naming him: whoever is both a payer and a
 * delegate has two; and who pays from his own account finds room for one there, whoever else has named his delegate. Wallets of programs
 * and of several signers, whose accounts delegates pay from, have room for four together, with all of whom nobody knows who owns what they
 * pay from: beside the room of a new wallet that stays below twenty times the price of one transaction. One key may command more, its own
 * larger room and that of a delegate; once that has failed, each is for one payment.
 */
export interface SendWindow {
  /** True at once where there is room. Else waits: false where there was none in time, or where a payment of the wallet failed meanwhile. */
  enter(payment: SponsoredPayment): true | Promise<boolean>;
  /** Whether a payment with such a fee would find room at once. */
  hasRoom(wallet: string, fee: bigint): boolean;
  /**
   * Gives the room of a payment back.
   * @param end - what became of it, where that is known; only what has landed or failed says something about its wallet
   */
  leave(id: string, end?: 'landed' | 'failed' | 'expired' | 'unsent'): void;
}

/** A payment that keeps its room from when it enters to when it leaves. */
export interface SponsoredPayment {
  readonly id: string;
  readonly payer: string;
  /** Whoever else can take its money away before it lands: an owner, a delegate. It takes room of each. */
  readonly spenders: readonly string[];
  /** The network fee that it can cost, in lamports. */
  readonly fee: bigint;
  /** Whether the operator himself is paid by it: of what a seller gets, or somebody elsewhere, the payer may be the one who gets it. */
  readonly isOperators: boolean;
}

/** A payment in the room of one wallet. */
interface Guest extends Omit<SponsoredPayment, 'spenders'> {
  /** Whether it is paid from the payer's own account. */
  readonly isOwn: boolean;
}

interface Wallet {
  readonly address: string;
  /** Unlanded payments by id. */
  readonly open: Map<string, Unlanded>;
  /** The network fees of all of them. */
  taken: bigint;
  readonly waiting: { readonly payment: Guest; tell(hasRoom: boolean): void }[];
}

interface Unlanded {
  readonly payment: Guest;
  /** When it is of no more interest: no blockhash is alive then. */
  readonly endsAt: number;
}

/** Network fees of payments that have landed, in lamports; of one not more than an ordinary one's. */
interface Landed {
  readonly all: bigint;
  readonly operators: bigint;
}

const NONE_LANDED: Landed = { all: 0n, operators: 0n };

/** What the official client's payment costs, in lamports. */
const ORDINARY_FEE = 10_001n;
const FIRST_ROOM = 5n * ORDINARY_FEE;
/** Whoever has paid himself thousands of times can make a burst fail as any other. */
const MOST_ROOM = 10n * ORDINARY_FEE;
const CUSTOMERS_ROOM = 100n * ORDINARY_FEE;
/** With {@link FIRST_ROOM} less than ten: one key may command both. */
const UNKEYED_ROOM = 4n * ORDINARY_FEE;
const FAILED_MS = 600_000;
const MAX_WALLETS = 50_000;
const MEMORY_MS = 3_600_000;
const LONGEST_WAIT_MS = 15_000;
const MAX_PAYMENTS = 50_000;

/** @param waitMs - longest wait for room, in milliseconds */
export function createSendWindow(waitMs: number = LONGEST_WAIT_MS): SendWindow {
  const rooms = createRooms(waitMs);
  const entered = boundedCache<string, readonly string[]>({ max: MAX_PAYMENTS });

  const leave: SendWindow['leave'] = (id, end) => {
    const wallets = entered.get(id);
    if (wallets === undefined) return;
    for (const wallet of wallets) rooms.leave(wallet, id, end);
    entered.delete(id);
  };

  return {
    hasRoom: rooms.hasRoom,
    enter({ spenders, ...paying }) {
      const { id, payer } = paying;
      const payment = { ...paying, isOwn: spenders.includes(payer) };
      const all = [...new Set([...(entered.get(id) ?? []), payer, ...spenders])].sort(inOrder);
      entered.set(id, all);
      const enterRoom = (wallet: string) => rooms.enter(wallet, payment);
      let entering: true | Promise<boolean> = true;
      for (const wallet of all) {
        entering = entering === true ? enterRoom(wallet) : entering.then((hasRoom) => hasRoom && enterRoom(wallet));
      }
      if (entering === true) return true;
      return entering.then((hasRoom) => {
        // Also where it was said to leave while it waited.
        entered.set(id, all);
        if (!hasRoom) leave(id);
        return hasRoom;
      });
    },
    leave,
  };
}

/** One order for all, so that nobody waits for one who waits for him; and nobody keeps strangers waiting while he waits for his own room. */
function inOrder(one: string, other: string): number {
  return Number(isShared(one)) - Number(isShared(other)) || (one < other ? -1 : 1);
}

/** The rooms of wallets, each by itself. */
interface Rooms extends Pick<SendWindow, 'hasRoom'> {
  enter(address: string, payment: Guest): true | Promise<boolean>;
  leave(address: string, ...ended: Parameters<SendWindow['leave']>): void;
}

function createRooms(waitMs: number): Rooms {
  const wallets = boundedCache<string, Wallet>({ max: MAX_WALLETS });
  const sizes = createSizes();

  function hasRoom(address: string, fee: bigint): boolean {
    const wallet = wallets.get(address);
    return wallet === undefined || wallet.open.size === 0 || wallet.taken + fee <= sizes.of(address);
  }

  function isWelcome({ address, open }: Wallet, { payer, fee, isOwn }: Guest): boolean {
    if (hasRoom(address, fee)) return true;
    return isOwn && isShared(address) && ![...open.values()].some((it) => it.payment.payer === payer);
  }

  function admit(wallet: Wallet, payment: Guest): void {
    wallet.open.set(payment.id, { endsAt: performance.now() + FLIGHT_MS, payment });
    wallet.taken += payment.fee;
  }

  function letIn(wallet: Wallet): void {
    for (let [next] = wallet.waiting; next !== undefined && isWelcome(wallet, next.payment); [next] = wallet.waiting) {
      wallet.waiting.shift();
      admit(wallet, next.payment);
      next.tell(true);
    }
    if (wallet.open.size === 0) wallets.delete(wallet.address);
  }

  const leave: Rooms['leave'] = (address, id, end) => {
    const wallet = wallets.get(address);
    const payment = wallet?.open.get(id)?.payment;
    if (wallet === undefined || payment === undefined) return;
    wallet.open.delete(id);
    wallet.taken -= payment.fee;
    if (end === 'landed') sizes.landed(address, payment);
    if (end === 'failed') {
      sizes.failed(address);
      if (!isShared(address)) for (const { tell } of wallet.waiting.splice(0)) tell(false);
    }
    letIn(wallet);
  };

  function leaveLate({ address, open }: Wallet): void {
    // Who entered first ends first.
    for (const [id, { endsAt }] of open) {
      if (endsAt > performance.now()) return;
      leave(address, id);
    }
  }

  return {
    hasRoom(address, fee) {
      const wallet = wallets.get(address);
      if (wallet !== undefined) leaveLate(wallet);
      return hasRoom(address, fee);
    },
    enter(address, payment) {
      const wallet = wallets.get(address) ?? { address, open: new Map<string, Unlanded>(), taken: 0n, waiting: [] };
      if (wallet.open.has(payment.id)) return true;
      leaveLate(wallet);
      // Nobody keeps an empty one.
      if (wallet.open.size === 0) wallets.set(address, wallet);
      if (!isWelcome(wallet, payment)) return waitFor(wallet, payment, waitMs);
      admit(wallet, payment);
      return true;
    },
    leave,
  };
}

/** How much room each has, by what has become of payments in it. */
function createSizes() {
  // An hour after the first of them all are forgotten: each that lands makes new room.
  const landed = boundedCache<string, Landed>({ max: MAX_WALLETS, ttl: MEMORY_MS, noUpdateTTL: true });
  const failed = boundedCache<string, true>({ max: MAX_WALLETS, ttl: FAILED_MS });
  return {
    /** In lamports; for one payment there always is. */
    of(address: string): bigint {
      if (failed.has(address)) return 0n;
      if (address === UNKEYED) return UNKEYED_ROOM;
      const { all, operators } = landed.get(address) ?? NONE_LANDED;
      return larger(smaller(FIRST_ROOM + all, MOST_ROOM), smaller(operators, CUSTOMERS_ROOM));
    },
    landed(address: string, { fee, isOperators }: Guest): void {
      // What one has bought is no reason to trust another with more.
      if (isShared(address)) return;
      const { all, operators } = landed.get(address) ?? NONE_LANDED;
      // Whoever has us pay more for one payment has bought no more by it.
      const counted = smaller(fee, ORDINARY_FEE);
      landed.set(address, { all: all + counted, operators: isOperators ? operators + counted : operators });
    },
    failed(address: string): void {
      landed.delete(address);
      failed.set(address, true);
    },
  };
}

function waitFor({ waiting }: Wallet, payment: Guest, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const one = { payment, tell };
    const late = setTimeout(() => {
      waiting.splice(waiting.indexOf(one), 1);
      resolve(false);
    }, waitMs).unref();
    function tell(hasRoom: boolean): void {
      clearTimeout(late);
      resolve(hasRoom);
    }
    waiting.push(one);
  });
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
