import { randomUUID } from 'node:crypto';
import { walletOwner } from '../../facilitator/backend/wallet-owner.js';
import type { Facilitator } from '../../facilitator/types.js';
import { wholeError } from '../../lib/error-text.js';
import { createSeal, type SealingSecrets, type StoredResponse } from '../response/response-seal.js';
import { runLeases } from './run-leases.js';

/** What is known of a request that comes under a secret of its client's. */
export type Known =
  | { readonly status: 'replay'; readonly response: StoredResponse }
  | { readonly status: 'mismatch' | 'running' };

/** A request that has begun. */
export interface StartedRequest {
  readonly status: 'started';
  /** What runs of it had noted whose processes died, word by word: the latest first. */
  readonly lost: readonly string[];
}

/** A response as it is kept, by the id under which it can be had. */
export interface SealedAnswer {
  readonly id: string;
  readonly answer: Uint8Array;
  readonly fingerprint: string;
  readonly lease: string;
  readonly owner: string;
  /** It is written with what was charged. */
  readonly isPaid: true;
}

/** A request whose response can be asked for again. */
export interface IdempotentRequest {
  /** What is known of it: `ended` where its run is over without a response, and it can begin anew; undefined when nothing is. */
  find(): Promise<Known | { readonly status: 'ended' } | undefined>;
  /**
   * Begins it, unless it is known.
   * @param notes - what whoever begins it anew is to know if this process dies, words without spaces. Default: nothing
   */
  begin(notes?: readonly string[]): Promise<Known | StartedRequest>;
  /** Holds it from now on, though its response may take longer than its lease, until it ends in one of the ways below. */
  hold(): void;
  /** Whether it is still this one's: where a process stood still for too long, the same request may have begun anew elsewhere. */
  isHeld(): Promise<boolean>;
  /** The same, and the store is asked, whatever this process knows: before money moves. Rejects with `store_unavailable`. */
  isSurelyHeld(): Promise<boolean>;
  /** Its response was kept by others. */
  ended(): void;
  /**
   * Keeps its response; tells whether it is kept.
   * @param payer - wallet that has paid for it: it takes that one's share, and stays longer than others where there is no room. Default:
   * nobody has paid
   */
  finish(response: StoredResponse, payer?: string): Promise<boolean>;
  /** Its response as it is kept, in the share of the wallet that pays, for those who keep it in the transaction of its charge. */
  sealed(response: StoredResponse, payer: string): SealedAnswer;
  /** A text that it may note, as a word that only who comes under its secret can read. */
  hide(text: string): string;
  /** The text again. */
  reveal(hidden: string): string;
  /** Ends it without a response: the same request may begin anew, and no other under this secret. */
  release(): Promise<boolean>;
  /** Ends it without a response, as if it had not begun. */
  abandon(): Promise<boolean>;
}

/** What makes a request the same as another one. */
export interface IdempotentRequestParts {
  /** Where the response is kept. */
  readonly store: Facilitator['idempotency'];
  /** In which the secret counts: what is asked for, and by whom. */
  readonly scope: string;
  /** What the client names the request by. */
  readonly secret: string;
  /** What its response is sealed with. Default: the secret. */
  readonly sealedWith?: SealingSecrets | undefined;
  readonly fingerprint: string;
  /** How long the response may take before a crash is assumed, in milliseconds; of one that is held, how long it may not be heard of. */
  readonly leaseMs: number;
  /** Whose share of the room the response takes. */
  readonly owner?: string | undefined;
}

/** One run of a request. When it ends and the store fails, the response leaves all the same and a warning tells of it. */
export function createIdempotentRequest({
  store,
  scope,
  secret,
  sealedWith,
  fingerprint,
  leaseMs,
  owner,
}: IdempotentRequestParts): IdempotentRequest {
  const { id, mark, seal, open, hide, reveal } = createSeal(scope, secret, sealedWith);
  const newLease = () => store.newLease?.() ?? randomUUID();
  let lease = newLease();
  const run = { id, fingerprint: mark(fingerprint), leaseMs, owner };
  const leases = runLeases(store);

  function opened<S extends string>(
    known: { readonly status: S } | { readonly status: 'replay'; readonly response: Uint8Array },
  ) {
    return 'response' in known ? { status: known.status, response: open(known.response) } : known;
  }

  /** This process is at it: what the clock says of its lease does not count then, which may have jumped ahead. */
  const isAtWork = (): boolean => leases?.holds(id) === true;

  async function findOpened(): ReturnType<IdempotentRequest['find']> {
    const known = await store.find(id, run.fingerprint);
    if (known?.status === 'ended' && isAtWork()) return { status: 'running' };
    return known === undefined ? undefined : opened(known);
  }

  function end(verb: () => Promise<boolean>): Promise<boolean> {
    leases?.drop(lease);
    return warned(verb);
  }

  return {
    find: findOpened,
    async begin(notes = []) {
      const known = isAtWork() ? await findOpened() : undefined;
      if (known !== undefined && known.status !== 'ended') return known;
      const asked = [newLease(), ...notes];
      const begun = await store.begin({ ...run, lease: asked.join(' ') });
      if (begun.status !== 'started') return opened(begun);
      lease = begun.lease ?? asked.join(' ');
      return { status: 'started', lost: lease.split(' ').slice(asked.length) };
    },
    ...{ hide, reveal },
    sealed: (response, payer) => ({
      ...{ id, answer: seal(response), fingerprint: run.fingerprint, lease },
      owner: walletOwner(payer),
      isPaid: true,
    }),
    hold: () => leases?.hold(id, lease, leaseMs),
    isHeld: async () => leases === undefined || leases.isHeld(id, lease),
    isSurelyHeld: async () => store.extend?.(id, lease, leaseMs) ?? true,
    ended: () => leases?.drop(lease),
    finish: (response, payer) =>
      end(() => store.finish(id, lease, seal(response), payer === undefined ? undefined : walletOwner(payer))),
    release: () => end(() => store.release(id, lease)),
    abandon: () => end(() => store.abandon(id, lease)),
  };
}

/** Does what is lost when the store fails, and warns of it: the response leaves all the same. */
export async function warned(end: () => Promise<boolean>): Promise<boolean> {
  try {
    return await end();
  } catch (error) {
    warnOfLost(error);
    return false;
  }
}

/** @param error - why a response is not kept */
export function warnOfLost(error: unknown): void {
  const detail = `an answer cannot be kept, and not be asked for again: ${wholeError(error)}`;
  process.emitWarning(detail, { code: 'TOLLHOUSE_ANSWER_LOST' });
}
