import { setTimeout } from 'node:timers/promises';
import type { KeptAnswer } from '../../storage/calls/call-store.js';
import { CREDIT_HOLD_MS } from '../../storage/calls/credit-store.js';
import { NO_RUN } from '../../storage/idempotency/idempotency-store.js';

const RETRY_MS = 2_000;
/** What cannot be written must not keep a response back. */
const BEFORE_END_MS = 5_000;

/**
 * Writes a call that can be written once at most, again and again for as long as credit is held at least: its response has left, or is
 * about to.
 * @param kept - the response that is written with it
 * @returns what `write` says; true as well where a try whose answer was lost has written it
 */
export async function untilWritten(write: () => Promise<boolean>, kept: KeptAnswer | undefined): Promise<boolean> {
  const end = performance.now() + CREDIT_HOLD_MS;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return (await write()) || (!isFirst && kept !== undefined && (await isKept(kept)));
    } catch (error) {
      if (performance.now() > end) throw error;
      await setTimeout(RETRY_MS, undefined, { ref: false });
    }
  }
}

/** Whether something is written before a response has been kept back for it for too long. */
export function writtenInTime(writing: Promise<boolean>): Promise<boolean> {
  return Promise.race([writing, setTimeout(BEFORE_END_MS, false, { ref: false })]);
}

/** No two responses are sealed to the same bytes. */
async function isKept({ store, id, fingerprint = NO_RUN, answer }: KeptAnswer): Promise<boolean> {
  const known = await store.find(id, fingerprint);
  return known?.status === 'replay' && Buffer.compare(known.response, answer) === 0;
}
