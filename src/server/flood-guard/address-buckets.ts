import { ipKeyGenerator } from 'express-rate-limit';
import { boundedCache } from '../../lib/bounded-cache.js';

/** What one address may still do. */
export interface AddressBucket {
  /** Takes one request out; false when there is none left, or while the address rests. */
  take(): boolean;
  /**
   * Lets the address rest because it sends too much: a second, and twice as long each time that it goes on after that. It
   * has no request left then; they come back from the end of the rest on.
   */
  letRest(): void;
  /** Milliseconds until the end of its rest; 0 when it does not rest. */
  restMs(): number;
  /** Connections of the address that are open, those that wait included. */
  connections: number;
  /** When it was told of last; minus infinity before the first time. */
  toldAt: number;
}

/** Options of {@link createAddressBuckets}. */
export interface AddressBucketOptions {
  /** So many requests come back a second. */
  readonly perSecond: number;
  /** So many there are at most, and at first. */
  readonly burst: number;
  /** Clock in milliseconds, never going back. */
  readonly now: () => number;
}

/** Of so many addresses is remembered what they did; one that is forgotten begins anew. */
const MAX_ADDRESSES = 10_000;
/** What one subscriber gets at least; whoever holds one can use any address of it. */
const IPV6_PREFIX = 64;
const MIN_REST_MS = 1_000;
const MAX_REST_MS = 8_000;
/** Whoever sent no more than it may for this long after a rest begins with a short one again. */
const CALM_MS = 10_000;
const MAPPED = /^::ffff:(?=\d+\.)/i;

/** Makes a bucket of requests for each address, IPv6 by its /64 network, for a bounded number of addresses. */
export function createAddressBuckets(options: AddressBucketOptions): (address: string) => AddressBucket {
  const buckets = boundedCache<string, AddressBucket>({ max: MAX_ADDRESSES });
  return (address) => {
    const key = ipKeyGenerator(address.replace(MAPPED, ''), IPV6_PREFIX);
    const known = buckets.get(key);
    if (known !== undefined) return known;
    const bucket = createBucket(options);
    buckets.set(key, bucket);
    return bucket;
  };
}

function createBucket({ perSecond, burst, now }: AddressBucketOptions): AddressBucket {
  let left = burst;
  let at = now();
  let [restLength, restsUntil] = [MIN_REST_MS, Number.NEGATIVE_INFINITY];
  return {
    connections: 0,
    toldAt: Number.NEGATIVE_INFINITY,
    take() {
      const time = now();
      if (time < restsUntil) return false;
      left = Math.min(burst, left + ((time - at) / 1_000) * perSecond);
      at = time;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
    letRest() {
      const time = now();
      if (time < restsUntil) return;
      const isCalm = time - restsUntil > CALM_MS;
      restLength = isCalm ? MIN_REST_MS : Math.min(restLength * 2, MAX_REST_MS);
      restsUntil = time + restLength;
      [left, at] = [0, restsUntil];
    },
    restMs: () => Math.max(0, restsUntil - now()),
  };
}
