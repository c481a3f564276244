import { boundedCache } from '../../lib/bounded-cache.js';
import { FLIGHT_MS } from './money-in-flight.js';
import { isShared, UNKEYED } from './spending.js';

/**
 * Bounds what the unlanded payments of one wallet may cost together: a wallet that takes its money away while they are on
 * their way makes all of them fail at our cost, for the price of one transaction of its own (some 5,200 lamports). A new wallet has
 * room for the network fees of five ordinary payments, and with each that lands for more, up to ten: less than twenty times
 * that price. A customer, whose money went to the operator and could not come back to him, has room for as many as he has bought,
 * up to a hundred. What finds no room waits for it. One payment always finds room. A delegate has a room apart from his wallet's, which
 * strangers cannot fill by naming him: whoever is both a payer and a delegate has two. Wallets of programs and of several signers, whose
 * accounts delegates pay from, have the room of a new wallet together.
 */
export interface SendWindow {
  /** True at once where there is room. Else waits: false where there was none in time, or where a payment of the wallet failed meanwhile. */
  enter(payment: SponsoredPayment): true | Promise<boolean>;
  /**
   * Gives the room of a payment back.
   * @param end - what became of it, where that is known; only what has landed or failed says something about its wallet
   */
  leave(id: string, end?: 'landed' | 'failed' | 'expired' | 'unsent'): void;
}

/** A payment that keeps its room from when it enters to when it leaves. */
export interface SponsoredPayment {
  readonly id: string;
  /** Whoever can take its money away before it lands: its payer, an owner, a delegate. It takes room of each. */
  readonly wallets: readonly string[];
  /** The network fee that it can cost, in lamports. */
  readonly fee: bigint;
  /** Whether the operator himself is paid by it: of what a seller gets, or somebody elsewhere, the payer may be the one who gets it. */
  readonly isOperators: boolean;
}

/** A payment in the room of one wallet. */
type Guest = Omit<SponsoredPayment, 'wallets'>;

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
    enter({ wallets, ...payment }) {
      const { id } = payment;
      // In one order for all: nobody waits for one who waits for him.
      const all = [...new Set([...(entered.get(id) ?? []), ...wallets])].sort();
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

/** The rooms of wallets, each by itself. */
interface Rooms {
  enter(address: string, payment: Guest): true | Promise<boolean>;
  leave(address: string, ...ended: Parameters<SendWindow['leave']>): void;
}

function createRooms(waitMs: number): Rooms {
  const wallets = boundedCache<string, Wallet>({ max: MAX_WALLETS });
  // An hour after the first of them all are forgotten: each that lands makes new room.
  const landed = boundedCache<string, Landed>({ max: MAX_WALLETS, ttl: MEMORY_MS, noUpdateTTL: true });

  function roomOf(address: string): bigint {
    const { all, operators } = landed.get(address) ?? NONE_LANDED;
    return larger(smaller(FIRST_ROOM + all, MOST_ROOM), smaller(operators, CUSTOMERS_ROOM));
  }

  function hasRoom({ address, open, taken }: Wallet, { fee }: Guest): boolean {
    return open.size === 0 || taken + fee <= roomOf(address);
  }

  function admit(wallet: Wallet, payment: Guest): void {
    wallet.open.set(payment.id, { endsAt: performance.now() + FLIGHT_MS, payment });
    wallet.taken += payment.fee;
  }

  function letIn(wallet: Wallet): void {
    for (let [next] = wallet.waiting; next !== undefined && hasRoom(wallet, next.payment); [next] = wallet.waiting) {
      wallet.waiting.shift();
      admit(wallet, next.payment);
      next.tell(true);
    }
    if (wallet.open.size === 0) wallets.delete(wallet.address);
  }

  function addLanded(address: string, { fee, isOperators }: Guest): void {
    const { all, operators } = landed.get(address) ?? NONE_LANDED;
    // Whoever has us pay more for one payment has bought no more by it.
    const counted = smaller(fee, ORDINARY_FEE);
    landed.set(address, { all: all + counted, operators: isOperators ? operators + counted : operators });
  }

  const leave: Rooms['leave'] = (address, id, end) => {
    const wallet = wallets.get(address);
    const payment = wallet?.open.get(id)?.payment;
    if (wallet === undefined || payment === undefined) return;
    wallet.open.delete(id);
    wallet.taken -= payment.fee;
    // What one has bought is no reason to trust another with more.
    if (end === 'landed' && address !== UNKEYED) addLanded(address, payment);
    if (end === 'failed') {
      landed.delete(address);
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
    enter(address, payment) {
      const wallet = wallets.get(address) ?? { address, open: new Map<string, Unlanded>(), taken: 0n, waiting: [] };
      if (wallet.open.has(payment.id)) return true;
      leaveLate(wallet);
      // Nobody keeps an empty one.
      if (wallet.open.size === 0) wallets.set(address, wallet);
      if (!hasRoom(wallet, payment)) return waitFor(wallet, payment, waitMs);
      admit(wallet, payment);
      return true;
    },
    leave,
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
