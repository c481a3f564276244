import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { online } from '../backend/chain-landing.js';
import type { MoneyInFlight, SpendingPayment } from './money-in-flight.js';
import type { SendWindow } from './send-window.js';

/** Learns from the chain which payments have landed that nobody has told of yet. */
export interface Landings {
  /** Asks for those of the same accounts: what the node shows may be without their money already. One call to the chain. */
  learn(payment: SpendingPayment): Promise<void>;
  /** Asks now and then while room is waited for: a payment that is to be final has landed long before its end is told. */
  learnWhile<T>(payment: SpendingPayment, waiting: Promise<T>): Promise<T>;
}

/** What learning takes. */
export interface LandingsParts {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses'>;
  readonly flight: Pick<MoneyInFlight, 'sentOthers' | 'landed'>;
  readonly window: Pick<SendWindow, 'leave'>;
  /** How often is asked while room is waited for, in milliseconds. Default 2,000: what is to be confirmed has told its end by then. */
  readonly everyMs?: number;
}

const MAX_STATUSES = 256;
const EVERY_MS = 2_000;

/** Makes it. Asks nothing by itself. */
export function createLandings({ rpc, flight, window, everyMs = EVERY_MS }: LandingsParts): Landings {
  /** Those who wait for room in the same accounts, who ask together. */
  const waiters = new Map<string, { count: number; readonly timer: NodeJS.Timeout }>();

  async function learn(payment: SpendingPayment): Promise<void> {
    const sent = flight.sentOthers(payment).slice(0, MAX_STATUSES);
    if (sent.length === 0) return;
    const { states } = await online(rpc.getSignatureStatuses(sent.map(([, signature]) => signature)));
    for (const [index, [id]] of sent.entries()) {
      const state = states[index];
      if (state?.err !== null) continue;
      flight.landed(id, state.slot);
      // Whoever takes the money away now comes too late.
      if (state.commitment !== 'processed') window.leave(id, 'landed');
    }
  }

  return {
    learn,
    async learnWhile(payment, waiting) {
      const key = payment.spending.map(({ account }) => account).join();
      const timer = () => setInterval(() => void learn(payment).catch(() => undefined), everyMs).unref();
      const together = waiters.get(key) ?? { count: 0, timer: timer() };
      waiters.set(key, together);
      together.count += 1;
      try {
        return await waiting;
      } finally {
        together.count -= 1;
        if (together.count === 0) {
          clearInterval(together.timer);
          waiters.delete(key);
        }
      }
    },
  };
}
