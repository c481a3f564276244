import type { Request, RequestHandler } from 'express';
import { ipKeyGenerator, type Options, rateLimit, type Store } from 'express-rate-limit';
import { z } from 'zod';
import { SIWX_HEADER } from '../../identity/sign-in/siwx.js';
import { createStoreWarning } from '../../identity/store-warning.js';
import type { Identity } from '../../identity/types.js';
import { clientIp } from '../../lib/http/client-ip.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';
import { resolveOptions } from '../../lib/options.js';
import { warnOfProxy } from '../gate/client-address.js';
import { asMiddleware, type Middleware } from '../gate/gate.js';
import { sendProblem } from '../gate/respond.js';
import { type KeyGateway, keyGatewayOption } from '../service-key/key-gateway.js';
import {
  isCountedElsewhere,
  onlyWhatIsRight,
  type ProvenParts,
  unlessKeyed,
  unlessProven,
  walletCounted,
} from './known-callers.js';
import { createLockOut } from './rate-limit-lockout.js';
import { createTries } from './tries.js';

/** Options of {@link createRateLimits}. */
export interface RateLimitOptions {
  /** Where is counted; made by `createMemoryCounters`, or shared by several processes. */
  readonly counters: LimitCounters;
  /** Multiplies every limit. Default 1. */
  readonly scale?: number | undefined;
  /**
   * Knows service keys: whoever shows a good one is counted by it alone, up to its own limit a second, wherever it comes from.
   * Default: everybody is counted by address.
   */
  readonly gateway?: KeyGateway | undefined;
  /**
   * Knows wallets, made by `createIdentity`, where a gate is mounted behind `challenges` and does not stand on the same route: whoever proves
   * a wallet comes in from an address that has used those up. Default: only the gates on the route are asked.
   */
  readonly identity?: Identity | undefined;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: (() => number) | undefined;
}

/**
 * Limits per client address for callers who show no service key, each as Express middleware. An IPv6 client is its /56 network. Answers carry
 * `RateLimit` and `RateLimit-Policy` (draft 8), refusals are 429 with `Retry-After`. While the counters cannot be reached
 * everything passes.
 */
export interface RateLimits {
  /** For routes that are open to anybody: 60 requests a minute. */
  readonly requests: Middleware[];
  /** For routes where credentials are handed in: like `requests`, and every request counts as an attempt to authenticate. */
  readonly signIns: Middleware[];
  /**
   * For routes that succeed for nobody but who shows something right, as those do where a signed message or a refresh token is handed in:
   * like `signIns`, and beyond the limit what is right still passes, as often again; what fails is 429.
   */
  readonly credentials: Middleware[];
  /**
   * In front of gates: 120 responses 401 or 402 a minute. Requests under way count too, until they turn out to be welcome; those
   * with SIGN-IN-WITH-X count always, since each that is good is remembered, so that it is not good twice. Beyond that who proves a
   * wallet still passes: by an access token, then the wallet has as many of its own, or by SIGN-IN-WITH-X, as often again.
   */
  readonly challenges: Middleware[];
}

const WHERE = 'createRateLimits';
const MINUTE_MS = 60_000;
const REQUESTS = 60;
const CHALLENGES = 120;
/** Proofs a second that are looked at beyond a limit and found wrong; it bounds what an address costs that shows nothing else. */
const TRIES = 20;
/** Failed authentications a minute that lock an address out; all three of the above see to it. */
const AUTH_FAILURES = 10;
const SIGN_IN_HEADER = SIWX_HEADER.toLowerCase();

const rateLimitOptions = z.strictObject({
  counters: z.custom<LimitCounters>(
    (it) => typeof Reflect.get(Object(it), 'increment') === 'function',
    'counters, made by createMemoryCounters',
  ),
  scale: z.number('a number above 0').positive('a number above 0').default(1),
  gateway: keyGatewayOption.optional(),
  identity: z
    .custom<Identity>((it) => typeof Reflect.get(Object(it), 'prove') === 'function', 'made by createIdentity')
    .optional(),
  now: z.custom<() => number>((it) => typeof it === 'function', 'a function that answers milliseconds').optional(),
});

/**
 * Makes the limits that the router and the server use, for routes of your own: `app.use('/club', ...limits.challenges)`.
 * @throws TollhouseError `bad_option`
 */
export function createRateLimits(options: RateLimitOptions): RateLimits {
  const { counters, scale, gateway, identity, now = Date.now } = resolveOptions(WHERE, rateLimitOptions, options);
  const onStoreError = createStoreWarning(now, 'rate limits cannot be counted and let everything pass');
  const limiter = createLimiter({ counters, scale, onStoreError });
  const tries = createTries(scaled(TRIES, scale), now);
  const lockOut = { counters, failures: scaled(AUTH_FAILURES, scale), clientOf, onStoreError, now };
  const forStrangers = (limit: RequestHandler) => (gateway === undefined ? limit : unlessKeyed(limit, gateway.keys));
  const ofRequests: Partial<Options> = {
    skipSuccessfulRequests: true,
    requestWasSuccessful: (_req, res) => res.statusCode < 400 && isCountedElsewhere(res),
  };
  const requests = limiter('requests', REQUESTS, ofRequests);
  const beyond = onlyWhatIsRight({
    refuse: refusal(`${scaled(REQUESTS, scale)} requests`, 'address'),
    limit: limiter('right', REQUESTS, { skipFailedRequests: true }),
    tries,
    clientOf,
  });
  const credentials = limiter('requests', REQUESTS, { ...ofRequests, handler: beyond });
  const challenges = limitChallenges(limiter, { limit: scaled(CHALLENGES, scale), identity, tries, clientOf });
  const tellOfProxy: RequestHandler = (req, _res, next) => {
    warnOfProxy(req);
    next();
  };
  const whenShown = createLockOut(lockOut, false);
  return Object.freeze({
    requests: [tellOfProxy, forStrangers(requests), whenShown].map(asMiddleware),
    signIns: [tellOfProxy, requests, createLockOut(lockOut, true)].map(asMiddleware),
    credentials: [tellOfProxy, credentials, createLockOut(lockOut, true)].map(asMiddleware),
    challenges: [tellOfProxy, forStrangers(challenges), whenShown].map(asMiddleware),
  });
}

/** Makes a limit a minute, by address unless more is said. */
type Limiter = (space: string, limit: number, more: Partial<Options>) => RequestHandler;

interface LimiterParts {
  readonly counters: LimitCounters;
  readonly scale: number;
  readonly onStoreError: (error: unknown) => void;
}

function createLimiter({ counters, scale, onStoreError }: LimiterParts): Limiter {
  return (space, limit, more) =>
    rateLimit({
      windowMs: MINUTE_MS,
      limit: scaled(limit, scale),
      identifier: space,
      standardHeaders: 'draft-8',
      legacyHeaders: false,
      keyGenerator: clientOf,
      store: createLimitStore(counters, space, MINUTE_MS),
      passOnStoreError: true,
      logger: { error: onStoreError, warn: onStoreError },
      handler: refusal(`${scaled(limit, scale)} ${space}`, 'address'),
      ...more,
    });
}

type ChallengeParts = Pick<ProvenParts, 'identity' | 'tries' | 'clientOf'> & { readonly limit: number };

/** Where an address has used up what it has, those who prove a wallet have more. */
function limitChallenges(limiter: Limiter, { limit, ...parts }: ChallengeParts): RequestHandler {
  const counted: Partial<Options> = {
    skipSuccessfulRequests: true,
    requestWasSuccessful: (req, res) =>
      res.statusCode !== 401 && res.statusCode !== 402 && req.headers[SIGN_IN_HEADER] === undefined,
  };
  const refuse = refusal(`${limit} challenges`, 'address');
  const forToken = limiter('wallet-challenges', CHALLENGES, {
    ...counted,
    keyGenerator: (req) => walletCounted(req) ?? '',
    handler: refusal(`${limit} challenges`, 'wallet'),
  });
  const forSignIn = limiter('proven-challenges', CHALLENGES, { ...counted, handler: refuse });
  return limiter('challenges', CHALLENGES, {
    ...counted,
    handler: unlessProven({ ...parts, refuse, forToken, forSignIn }),
  });
}

function refusal(what: string, whose: 'address' | 'wallet'): RequestHandler {
  const detail = `More than ${what} a minute came from this ${whose}. Retry-After tells when to come back.`;
  return (_req, res) => sendProblem(res, 'rate_limited', detail);
}

function scaled(limit: number, scale: number): number {
  return Math.max(1, Math.round(limit * scale));
}

/** The client of a request, by address; IPv6 clients get whole networks, so those count as one. */
function clientOf(req: Request): string {
  return ipKeyGenerator(clientIp(req) ?? '');
}

/** What limits need of `Counters`; see there. */
interface LimitCounters {
  increment(key: string, windowMs: number): MaybePromise<{ readonly count: number; readonly resetsAt: number }>;
  decrement(key: string): Promise<void>;
  reset(key: string): Promise<void>;
  put(key: string, value: string, ttlMs: number): Promise<void>;
  get(key: string): MaybePromise<string | undefined>;
}

/**
 * A store of express-rate-limit that counts in shared counters.
 * @param space - what is counted; other limits on the same counters count elsewhere
 * @param windowMs - length of a window, in milliseconds
 */
function createLimitStore(counters: LimitCounters, space: string, windowMs: number): Store {
  const prefix = `limit-${space}:`;
  return {
    prefix,
    localKeys: false,
    async increment(key) {
      const { count, resetsAt } = await counters.increment(prefix + key, windowMs);
      return { totalHits: count, resetTime: new Date(resetsAt) };
    },
    decrement: (key) => counters.decrement(prefix + key),
    resetKey: (key) => counters.reset(prefix + key),
  };
}
