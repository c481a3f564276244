import { setTimeout as sleep } from 'node:timers/promises';
import { trimEnd } from '../../lib/trim-end.js';

/** What came of sending a payment: a response that decides about it, or no word of what became of it. */
export type Attempt<T> =
  | { readonly decided: true; readonly response: T }
  | {
      readonly decided: false;
      /** What came instead, in a few words. */
      readonly told: string;
      /** How long the server asks to wait, in milliseconds. Default 0. */
      readonly waitMs?: number;
    };

/** What came of a payment in the end. `doubts`: attempts before that left it open. */
export type RepeatOutcome<T> =
  | { readonly known: true; readonly response: T; readonly doubts: number }
  | { readonly known: false; readonly told: string };

/** How {@link repeatPayment} sends, tells and waits. */
export interface RepeatParts<T> {
  /** Sends the payment, always the same. Rejects when it cannot be sent at all. */
  readonly attempt: (signal: AbortSignal) => Promise<Attempt<T>>;
  /** Told before each pause why it is sent again, and when. */
  readonly onPause: (text: string) => void;
  /** Waits. Default: in real time. Rejects when the signal is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const SECOND_MS = 1_000;
const PAUSES_MS = [1_000, 2_000, 5_000, 10_000, 20_000];
/** A longer wait than this is nobody's at a terminal. */
const PATIENCE_MS = 60_000;
const STOPPED = 'you have stopped it';

/**
 * Sends a payment until its outcome is known: whoever has paid and lost the response gets it for the same request with the
 * same payment. Five times more at most, within about a minute. Ctrl-C ends it after the attempt, with what is known; a second
 * one ends the process.
 */
export async function repeatPayment<T>(parts: RepeatParts<T>): Promise<RepeatOutcome<T>> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  process.once('SIGINT', abort);
  process.once('SIGTERM', abort);
  try {
    return await untilKnown(parts, stop.signal);
  } finally {
    process.off('SIGINT', abort);
    process.off('SIGTERM', abort);
  }
}

async function untilKnown<T>(
  { attempt, onPause, pause = wait }: RepeatParts<T>,
  signal: AbortSignal,
): Promise<RepeatOutcome<T>> {
  let patienceMs = PATIENCE_MS;
  for (let doubts = 0; ; doubts += 1) {
    const made = await attempt(signal);
    if (made.decided) return { known: true, response: made.response, doubts };
    const { told, waitMs = 0 } = made;
    const pauseMs = Math.max(PAUSES_MS[doubts] ?? Number.POSITIVE_INFINITY, waitMs);
    patienceMs -= pauseMs;
    if (signal.aborted) return { known: false, told: STOPPED };
    if (patienceMs < 0) return { known: false, told };
    onPause(`${trimEnd(told, '.')}; the same payment again in ${pauseMs / SECOND_MS} s`);
    const isStopped = await pause(pauseMs, signal).then(
      () => false,
      () => true,
    );
    if (isStopped) return { known: false, told: `${told}, and ${STOPPED}` };
  }
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}
