import { boundedCache } from '../../lib/bounded-cache.js';

/**
 * Bounds what the unlanded payments of one wallet may cost together: a wallet that takes its money away while they are on
 * their way makes all of them fail at our cost, for the price of one transaction of its own (some 5,200 lamports). A new wallet has
 * room for the network fees of five ordinary payments, and with each that lands for more, up to ten: less than twenty times
 * that price. What finds no room waits for it. One payment always finds room.
 */
export interface SendWindow {
  /**
   * Waits for room. Returns false where there was none in time, or where a payment of the wallet failed meanwhile.
   * @param id - the payment; it keeps its room until it leaves
   * @param fee - the network fee that it can cost, in lamports
   */
  enter(id: string, wallet: string, fee: bigint): Promise<boolean>;
  /**
   * Gives the room of a payment back.
   * @param end - what became of it, where that is known; only what has landed or failed says something about its wallet
   */
  leave(id: string, end?: 'landed' | 'failed' | 'expired' | 'unsent'): void;
}

interface Wallet {
  readonly address: string;
  /** Unlanded payments by id. */
  readonly open: Map<string, Unlanded>;
  readonly waiting: { readonly id: string; readonly fee: bigint; tell(hasRoom: boolean): void }[];
}

interface Unlanded {
  readonly fee: bigint;
  /** When it is of no more interest: no blockhash is alive then. */
  readonly endsAt: number;
}

/** Lamports: five times what the official client's payment costs. */
const FIRST_ROOM = 50_005n;
/** Ten times. Whoever has paid thousands can make a burst fail as any other. */
const MOST_ROOM = 100_010n;
const MAX_WALLETS = 50_000;
/** A wallet that has paid nothing for so long is new again. */
const MEMORY_MS = 3_600_000;
const LONGEST_WAIT_MS = 15_000;
const FLIGHT_MS = 180_000;
const MAX_PAYMENTS = 50_000;

/** @param waitMs - longest wait for room, in milliseconds */
export function createSendWindow(waitMs: number = LONGEST_WAIT_MS): SendWindow {
  const wallets = boundedCache<string, Wallet>({ max: MAX_WALLETS });
  const byPayment = boundedCache<string, Wallet>({ max: MAX_PAYMENTS });
  const landed = boundedCache<string, bigint>({ max: MAX_WALLETS, ttl: MEMORY_MS });

  function hasRoom({ address, open }: Wallet, fee: bigint): boolean {
    const taken = [...open.values()].reduce((sum, it) => sum + it.fee, 0n);
    const room = FIRST_ROOM + (landed.get(address) ?? 0n);
    return open.size === 0 || taken + fee <= (room < MOST_ROOM ? room : MOST_ROOM);
  }

  function admit(wallet: Wallet, id: string, fee: bigint): void {
    wallet.open.set(id, { fee, endsAt: performance.now() + FLIGHT_MS });
    byPayment.set(id, wallet);
  }

  function letIn(wallet: Wallet): void {
    for (let [next] = wallet.waiting; next !== undefined && hasRoom(wallet, next.fee); [next] = wallet.waiting) {
      wallet.waiting.shift();
      admit(wallet, next.id, next.fee);
      next.tell(true);
    }
    if (wallet.open.size === 0) wallets.delete(wallet.address);
  }

  function waitFor(wallet: Wallet, id: string, fee: bigint): Promise<boolean> {
    const { waiting } = wallet;
    return new Promise((resolve) => {
      const one = { id, fee, tell };
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

  const leave: SendWindow['leave'] = (id, end) => {
    const wallet = byPayment.get(id);
    if (wallet === undefined) return;
    const { fee = 0n } = wallet.open.get(id) ?? {};
    byPayment.delete(id);
    wallet.open.delete(id);
    if (end === 'landed') landed.set(wallet.address, (landed.get(wallet.address) ?? 0n) + fee);
    if (end === 'failed') {
      landed.delete(wallet.address);
      for (const { tell } of wallet.waiting.splice(0)) tell(false);
    }
    letIn(wallet);
  };

  return {
    async enter(id, address, fee) {
      if (byPayment.has(id)) return true;
      const wallet = wallets.get(address) ?? { address, open: new Map<string, Unlanded>(), waiting: [] };
      for (const [old, { endsAt }] of wallet.open) if (endsAt <= performance.now()) leave(old);
      wallets.set(address, wallet);
      if (!hasRoom(wallet, fee)) return waitFor(wallet, id, fee);
      admit(wallet, id, fee);
      return true;
    },
    leave,
  };
}
