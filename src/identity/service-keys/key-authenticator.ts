import { boundedCache } from '../../lib/bounded-cache.js';
import { type MaybePromise, whenKnown, whenKnownOr } from '../../lib/maybe-promise.js';
import type { Counters, WindowCount } from '../../storage/counters/counters.js';
import { type CountFewTrips, countFewTrips } from '../../storage/counters/few-trips.js';
import type { KeyMode, ServiceKeyRecord, ServiceKeyStore } from '../../storage/keys/service-keys.js';
import { clientOfAddress, isAllowedAddress } from './allowed-addresses.js';
import type { KeyCache } from './key-cache.js';
import type { KeyGuard } from './key-guard.js';
import { hashSecret, isPublicKey, isSecret, sameHash } from './service-key.js';
import type { CallStep, KeyAttempt, KeyAuthenticator, KeyCheck, KeyFault, KeyRate } from './service-key-types.js';
import { toServiceKey } from './service-key-view.js';

/** What keys are checked with. */
export interface KeyAuthenticatorSetup {
  readonly store: Pick<ServiceKeyStore, 'touch'>;
  readonly cache: KeyCache;
  readonly guard: KeyGuard;
  readonly counters: Pick<Counters, 'increment'>;
  /** What keys are asked for here, where nothing else is said. */
  readonly mode: KeyMode;
  /** Whether test keys are refused, whatever they are shown for. Default: with mode `live`. */
  readonly isLiveOnly?: boolean | undefined;
  /** Requests a second for keys without a limit of their own. */
  readonly perSecond: number;
  /** Multiplies every limit. */
  readonly scale: number;
  /** What an operator has suspended: a key, or the wallet that it acts for. Default: nothing. */
  readonly suspended?: SuspendedPart | undefined;
  /** Told when the counters or the store fail where the request can go on all the same. */
  readonly onStoreError: (error: unknown) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** What of a key is suspended; undefined when nothing is. */
export type SuspendedPart = (
  key: Pick<ServiceKeyRecord, 'id' | 'owner'>,
) => MaybePromise<{ readonly kind: string } | undefined>;

type AttemptFrom = Pick<KeyAttempt, 'address' | 'step'>;
type Refusal = Extract<KeyCheck, { ok: false }>;

const SECOND_MS = 1_000;
/** What is counted of a call, for people. */
const COUNTED: Readonly<Record<CallStep, string>> = {
  call: 'requests',
  price: 'requests without a payment',
  payment: 'new payments',
  transaction: 'transactions',
  settlement: 'settlements',
  stream: 'looks of streams',
};
/** How old what is known of a key is at most; a revocation must be known everywhere after 30 s. */
const STALE_MS = 15_000;
/** The same where a secret is wrong: another process may have changed it. */
const FRESH_MS = SECOND_MS;
const TOUCH_MS = 60_000;
const MAX_TOUCHED = 10_000;
/** Stands in for the hashes of keys that do not exist, so that they cost as much as others. */
const NO_HASH = hashSecret('');

const INVALID = refusal(
  'invalid_service_key',
  'There is no such service key, or the secret is another. Send the key in X-Service-Key and its secret in X-Service-Secret.',
);

/** Makes the check of keys and secrets. */
export function createKeyAuthenticator(setup: KeyAuthenticatorSetup): KeyAuthenticator {
  const { cache, guard, now } = setup;
  const touch = createTouch(setup);
  const countRequest = countFewTrips({ counters: setup.counters, windowMs: SECOND_MS, now });

  function authenticate({ key, secret, ...from }: KeyAttempt): MaybePromise<KeyCheck> {
    const client = clientOfAddress(from.address);
    const publicKey = isPublicKey(key) ? key : undefined;
    return whenKnown(guard.lockedFor(publicKey ?? '', client), (lockedMs) => {
      const refuse = () => (lockedMs > 0 ? locked(lockedMs) : fail(publicKey, client));
      if (publicKey === undefined || !isSecret(secret)) return refuse();
      if (lockedMs > 0 && !mayBeRight(publicKey, secret, client)) return refuse();
      return whenKnown(find(publicKey, secret), (record) => (record === undefined ? refuse() : admit(record, from)));
    });
  }

  /** Of a locked-out client: a pair that was right a moment ago, or one of the few that the store is asked about. */
  function mayBeRight(publicKey: string, secret: string, client: string): boolean {
    return matches(cache.known(publicKey), hashSecret(secret), now()) || guard.mayLookUp(client);
  }

  async function fail(publicKey: string | undefined, client: string): Promise<Refusal> {
    await guard.failed(publicKey, client);
    return INVALID;
  }

  function admit(record: ServiceKeyRecord, { address, step }: AttemptFrom): MaybePromise<KeyCheck> {
    return whenKnown(setup.suspended?.(record), (suspension) => {
      const fault = suspension === undefined ? faultOf(setup, record, address) : suspendedFault(suspension);
      if (fault !== undefined) return { ...fault, key: toServiceKey(record) };
      touch(record);
      return count(setup, countRequest, record, step);
    });
  }

  /** The key of a pair; undefined when there is none. */
  function find(publicKey: string, secret: string): MaybePromise<ServiceKeyRecord | undefined> {
    const hash = hashSecret(secret);
    const match = (record: ServiceKeyRecord | undefined) => (matches(record, hash, now()) ? record : undefined);
    return whenKnown(
      cache.find(publicKey, STALE_MS),
      (known) => match(known) ?? whenKnown(cache.find(publicKey, FRESH_MS), match),
    );
  }

  return { authenticate, mode: setup.mode };
}

/** Whether a secret is that of a key, or was until its last rotation; takes as long whatever is wrong. */
function matches(record: ServiceKeyRecord | undefined, hash: string, time: number): boolean {
  if (sameHash(hash, record?.secretHash ?? NO_HASH)) return true;
  const isPrevious = sameHash(hash, record?.previousHash ?? NO_HASH);
  return isPrevious && time < (record?.previousUntil ?? 0);
}

/** What keeps a key from being used whose secret is right. */
function faultOf(
  { mode, isLiveOnly = mode === 'live', now }: KeyAuthenticatorSetup,
  key: ServiceKeyRecord,
  address: string,
): Refusal | undefined {
  const { revokedAt, expiresAt, allowedIps } = key;
  if (revokedAt !== undefined) {
    return refusal('service_key_revoked', `The service key was revoked at ${timeText(revokedAt)}.`);
  }
  if (expiresAt !== undefined && expiresAt <= now()) {
    return refusal('service_key_expired', `The service key expired at ${timeText(expiresAt)}.`);
  }
  if (isLiveOnly && key.mode !== 'live') {
    return refusal('wrong_key_mode', 'The service key is a test key, and this is mainnet; use a live key.');
  }
  if (isAllowedAddress(address, allowedIps)) return undefined;
  return refusal('address_not_allowed', `The service key may not be used from ${address}; see its allowed_ips.`);
}

function suspendedFault({ kind }: { readonly kind: string }): Refusal {
  if (kind === 'key')
    return refusal('service_key_suspended', 'The operator of this service has suspended this service key.');
  return refusal(
    'wallet_suspended',
    'The operator of this service has suspended the wallet of this service key: neither it nor its keys act here.',
  );
}

/** Counts a request against the key's limit a second. While the counters cannot be reached everything passes. */
function count(
  { perSecond, scale, onStoreError, now }: KeyAuthenticatorSetup,
  countRequest: CountFewTrips,
  record: ServiceKeyRecord,
  step: CallStep = 'call',
): MaybePromise<KeyCheck> {
  const limit = Math.max(1, Math.round((record.perSecond ?? perSecond) * scale));
  const key = toServiceKey(record);

  function judge({ count: used, resetsAt }: WindowCount): KeyCheck {
    const resetsInSeconds = Math.max(1, Math.ceil((resetsAt - now()) / SECOND_MS));
    const rate: KeyRate = { limit, remaining: Math.max(0, limit - used), resetsInSeconds };
    if (used <= limit) return { ok: true, key, rate };
    const detail = `More than ${limit} ${COUNTED[step]} a second came with this service key.`;
    return { ...refusal('rate_limited', detail), key, rate, retryAfterSeconds: resetsInSeconds };
  }

  function uncounted(error: unknown): KeyCheck {
    onStoreError(error);
    return { ok: true, key, rate: undefined };
  }

  const space = step === 'call' ? 'limit-key' : `limit-key-${step}`;
  return whenKnownOr(() => countRequest(`${space}:${record.id}`, limit), judge, uncounted);
}

/** Notes when keys are used, at most once a minute for each, behind the request's back. */
function createTouch({ store, onStoreError, now }: KeyAuthenticatorSetup): (key: ServiceKeyRecord) => void {
  const touched = boundedCache<string, number>({ max: MAX_TOUCHED });
  return ({ id, lastUsedAt }) => {
    const time = now();
    if (time - (touched.get(id) ?? lastUsedAt ?? 0) < TOUCH_MS) return;
    touched.set(id, time);
    store.touch(id, time, TOUCH_MS).catch(onStoreError);
  };
}

function locked(lockedMs: number): Refusal {
  const retryAfterSeconds = Math.ceil(lockedMs / SECOND_MS);
  const detail = `Too many service keys from this address were wrong; try again in ${retryAfterSeconds} s.`;
  return { ...refusal('rate_limited', detail), retryAfterSeconds };
}

function refusal(code: KeyFault, detail: string): Refusal {
  return { ok: false, code, detail };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}
