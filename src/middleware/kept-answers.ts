import { LRUCache } from 'lru-cache';
import type { HeldAnswer } from './held-answer.js';

const KEPT_MS = 600_000;
const KEPT_BYTES = 64 * 1024 * 1024;
/** Rough size of an entry beside its body. */
const ENTRY_BYTES = 1024;

/**
 * Answers that a handler gave and that did not leave, because the outcome of their payment was not known in time or the
 * client was gone. They wait for the same payment to come again, so that the handler runs once for it.
 */
export interface KeptAnswers {
  keep(paymentId: string, url: string, answer: HeldAnswer): void;
  find(paymentId: string, url: string): HeldAnswer | undefined;
  drop(paymentId: string): void;
}

const byOwner = new WeakMap<object, KeptAnswers>();

/** The kept answers of all routes that share an owner, their facilitator: ten minutes, at most 64 MiB in all. */
export function keptAnswersOf(owner: object): KeptAnswers {
  const kept = byOwner.get(owner) ?? createKeptAnswers();
  byOwner.set(owner, kept);
  return kept;
}

function createKeptAnswers(): KeptAnswers {
  const kept = new LRUCache<string, { readonly url: string; readonly answer: HeldAnswer }>({
    maxSize: KEPT_BYTES,
    ttl: KEPT_MS,
    sizeCalculation: ({ answer }) => answer.body.length + ENTRY_BYTES,
  });
  return {
    keep: (paymentId, url, answer) => void kept.set(paymentId, { url, answer }),
    find(paymentId, url) {
      const entry = kept.get(paymentId);
      return entry?.url === url ? entry.answer : undefined;
    },
    drop: (paymentId) => void kept.delete(paymentId),
  };
}
