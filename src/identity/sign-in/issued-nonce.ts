import { createHmac, timingSafeEqual } from 'node:crypto';
import bs58 from 'bs58';
import { boundedCache } from '../../lib/bounded-cache.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { SIGN_IN_MS, type SignInSetup } from '../sign-in-options.js';

/** A nonce that was just issued. */
export interface IssuedNonce {
  readonly nonce: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
}

/** What a nonce of ours says. */
export interface OpenedNonce extends Pick<IssuedNonce, 'issuedAt'> {
  /** What was put into it. */
  readonly note: Uint8Array;
}

/**
 * Nonces that are recognised without being remembered: each carries its time and a MAC over that and over what it is bound to, so that
 * asking for any number of them costs nobody anything.
 */
export interface IssuedNonces {
  /**
   * A new nonce, of letters and digits, and its time.
   * @param boundTo - what it is good for; the same must be given to `open`
   * @param note - bytes that are got back when it is opened
   */
  issue(boundTo: string, note?: Uint8Array): Promise<IssuedNonce>;
  /** Reads a nonce; undefined when it was not issued here for this, or more than five minutes ago. */
  open(nonce: string, boundTo: string): MaybePromise<OpenedNonce | undefined>;
}

/** A secret that nonces are made with, under a public name. */
interface NonceKey {
  readonly name: Uint8Array;
  readonly secret: Uint8Array;
}

type Parts = Pick<SignInSetup, 'counters' | 'now' | 'random'>;

const NAME_BYTES = 6;
const TIME_BYTES = 6;
const RANDOM_BYTES = 8;
const MAC_BYTES = 16;
const SECRET_BYTES = 32;
const SHORTEST = NAME_BYTES + TIME_BYTES + RANDOM_BYTES + MAC_BYTES;
/** Longest nonce that is looked at, in characters: a host name, at its longest, is the note of one. */
const MAX_LENGTH = 512;
const PUBLISH_AGAIN_MS = 60_000;
/** So long the others find the secret of an instance that issues no more. */
const PUBLISHED_MS = SIGN_IN_MS + 2 * PUBLISH_AGAIN_MS;
const MAX_INSTANCES = 1_000;
const NOTHING = new Uint8Array();

/**
 * Makes nonces with a secret of this instance, which is put into the counters for the others that share them. An instance that has
 * lost its secret, by a restart in memory, knows its nonces no more, and their clients ask for new ones.
 */
export function createIssuedNonces({ counters, now, random }: Parts): IssuedNonces {
  const own: NonceKey = { name: random(NAME_BYTES), secret: random(SECRET_BYTES) };
  const others = boundedCache<string, NonceKey>({ max: MAX_INSTANCES });
  let publishedAt = Number.NEGATIVE_INFINITY;

  async function publish(): Promise<void> {
    if (Math.abs(now() - publishedAt) < PUBLISH_AGAIN_MS) return;
    publishedAt = now();
    try {
      await counters.put(keyOf(own.name), Buffer.from(own.secret).toString('base64'), PUBLISHED_MS);
    } catch {
      // Here the nonce is known all the same; without the store no sign-in comes further than to this point.
      publishedAt = Number.NEGATIVE_INFINITY;
    }
  }

  function findKey(name: Uint8Array): MaybePromise<NonceKey | undefined> {
    if (Buffer.compare(name, own.name) === 0) return own;
    const known = others.get(keyOf(name));
    if (known !== undefined) return known;
    return whenKnown(counters.get(keyOf(name)), (secret) => {
      if (secret === undefined) return undefined;
      const found: NonceKey = { name, secret: Buffer.from(secret, 'base64') };
      others.set(keyOf(name), found);
      return found;
    });
  }

  return {
    async issue(boundTo, note = NOTHING) {
      await publish();
      const issuedAt = Math.floor(now());
      const time = Buffer.alloc(TIME_BYTES);
      time.writeUIntBE(issuedAt, 0, TIME_BYTES);
      const content = Buffer.concat([time, random(RANDOM_BYTES), note]);
      return { nonce: bs58.encode(Buffer.concat([own.name, macOf(own, boundTo, content), content])), issuedAt };
    },
    open(nonce, boundTo) {
      const bytes = nonce.length > MAX_LENGTH ? undefined : bs58.decodeUnsafe(nonce);
      if (bytes === undefined || bytes.length < SHORTEST) return undefined;
      const mac = bytes.subarray(NAME_BYTES, NAME_BYTES + MAC_BYTES);
      const content = bytes.subarray(NAME_BYTES + MAC_BYTES);
      return whenKnown(findKey(bytes.subarray(0, NAME_BYTES)), (key) => {
        if (key === undefined || !timingSafeEqual(macOf(key, boundTo, content), mac)) return undefined;
        const issuedAt = Buffer.from(content).readUIntBE(0, TIME_BYTES);
        if (now() >= issuedAt + SIGN_IN_MS) return undefined;
        return { issuedAt, note: content.subarray(TIME_BYTES + RANDOM_BYTES) };
      });
    },
  };
}

/** The length of what it is bound to is in it, so that nothing of that can pass for content. */
function macOf({ secret }: NonceKey, boundTo: string, content: Uint8Array): Buffer {
  const mac = createHmac('sha256', secret).update(`${boundTo.length}:${boundTo}`).update(content).digest();
  return mac.subarray(0, MAC_BYTES);
}

function keyOf(name: Uint8Array): string {
  return `sign-in-secret:${Buffer.from(name).toString('base64url')}`;
}
