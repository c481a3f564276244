import type { NextFunction, Request, Response } from 'express';
import { z } from 'zod';
import { ERRORS } from '../../errors/errors.js';
import { walletOwner } from '../../facilitator/backend/wallet-owner.js';
import type { Facilitator } from '../../facilitator/types.js';
import { SIWX_HEADER } from '../../identity/sign-in/siwx.js';
import { resolveOptions } from '../../lib/options.js';
import { addressProof } from '../gate/client-address.js';
import { isExpress } from '../gate/express-only.js';
import { answerFault, asMiddleware, type Middleware } from '../gate/gate.js';
import { askOption } from '../gate/option-fault.js';
import { passOf, paymentOf, serviceKeyOf, walletOf } from '../gate/request-properties.js';
import { problemCodeOf, sendProblem } from '../gate/respond.js';
import { acceptable } from '../response/decoded-response.js';
import { isLeftOpen, lackingFor, neededScopesOf, noteKeeping, onLeftOpen } from '../response/idempotency-notes.js';
import { isOfOtherRange } from '../response/response-range.js';
import { recordResponse, sendReplay } from '../response/response-recorder.js';
import type { OfRequest } from '../terms/payment-options.js';
import { addressOwner } from './address-owner.js';
import { createIdempotentRequest, type IdempotentRequest, type Known } from './idempotent-request.js';
import { MAX_COMPARED_BYTES, requestFingerprint } from './request-fingerprint.js';

/** Options of {@link idempotency}. */
export interface IdempotencyOptions {
  /** Where responses are kept: `createMemoryIdempotencyStore()`, or `idempotency` of `openStorage`. */
  readonly store: Facilitator['idempotency'];
  /**
   * Who is calling, for instance the account that was signed in: two callers never see each other's responses, whatever their
   * keys. Undefined for somebody who was not proven. Default: the service key that a gate has let in, or the wallet, be it by
   * a sign-in, a pass or a payment, so stand this behind it; before any gate, the text of the credentials in `Authorization`, `X-Service-Key` and `SIGN-IN-WITH-X`. Without
   * any, the key itself is the proof if it has 16 characters or more, so that a client that changes its network still finds
   * its response; shorter ones count per address.
   */
  readonly scopeOf?: OfRequest<string | undefined | Promise<string | undefined>> | undefined;
  /**
   * Whose share of the room a response takes, where several callers are one: the service keys of a wallet. Default: the wallet of the
   * service key that a gate has let in, or else whoever is calling, by `scopeOf`; of somebody who was not proven the address. What was
   * paid for takes the share of the wallet that has paid.
   */
  readonly ownerOf?: OfRequest<string | undefined | Promise<string | undefined>> | undefined;
  /**
   * How long a response may take before a crash is assumed and the request may run again, in milliseconds: 1,000 to
   * 86,400,000. Default 120,000.
   */
  readonly leaseMs?: number | undefined;
}

const WHERE = 'idempotency';
const HEADER = 'Idempotency-Key';
/** RFC 9110 calls the other methods idempotent already. */
const METHODS = new Set(['POST', 'PATCH']);
/** Visible ASCII. */
const KEY = /^[\x21-\x7e]{1,255}$/;
/** From this length on a key is taken for one that nobody else can guess; x402's payment identifiers begin here. */
const SECRET_LENGTH = 16;
const CREDENTIALS = ['authorization', 'x-service-key', 'x-service-secret', SIWX_HEADER.toLowerCase()];
const RETRY_SECONDS = 1;
const NOT_COMPARED = `With ${HEADER} a body must be one that can be compared: of at most ${MAX_COMPARED_BYTES} bytes, not nested too deeply, and without files that the server has put elsewhere before.`;
/** Shorter than a handler takes, it would let a request run twice. */
const LEASE_RANGE = 'a whole number of milliseconds from 1,000 to 86,400,000 (a day)';

/**
 * Refusals that a client answers by doing something and sending the same request again: it proves who it is, pays, waits.
 * Whatever is 500 or more may succeed next time as well.
 */
const OPEN_STATUSES = new Set([401, 402, 403, 407, 408, 409, 421, 423, 425, 426, 428, 429, 431]);

const idempotencyOptions = z.strictObject({
  store: z.custom<IdempotencyOptions['store']>(
    (it) => typeof Reflect.get(Object(it), 'begin') === 'function',
    'a store of kept responses, made by createMemoryIdempotencyStore or openStorage',
  ),
  scopeOf: z
    .custom<NonNullable<IdempotencyOptions['scopeOf']>>((it) => typeof it === 'function', 'a function of the request')
    .optional(),
  ownerOf: z
    .custom<NonNullable<IdempotencyOptions['ownerOf']>>((it) => typeof it === 'function', 'a function of the request')
    .optional(),
  leaseMs: z.int(LEASE_RANGE).min(1_000, LEASE_RANGE).max(86_400_000, LEASE_RANGE).default(120_000),
});

type Resolved = Readonly<z.output<typeof idempotencyOptions>>;

/**
 * Express middleware that makes POST and PATCH requests safe to repeat. A request with an `Idempotency-Key` is
 * run once: the same one again gets the same response, with `Idempotency-Replayed: true`, for 24 hours; one with another body or
 * query under the key is 422, one that comes while the first is running 409. Answers that a retry may change are not kept:
 * 401, 402, 403, 408, 409, 429 and the like, 500 and above; nor are bodies above 1 MiB. What is kept is encrypted with a key
 * derived from the client's, so use keys that nobody can guess, a UUID for instance. Requests without the header pass.
 *
 * Stand it in front of the handlers it shall guard, behind what finds out who is calling and in front of a payment gate, which is paid once; before or behind a body parser.
 * @throws TollhouseError `bad_option`
 */
export function idempotency(options: IdempotencyOptions): Middleware {
  const resolved = resolveOptions(WHERE, idempotencyOptions, options);
  return asMiddleware((req, res, next) => {
    if (!isExpress(WHERE, req, next)) return;
    const key = req.get(HEADER);
    if (key === undefined || !METHODS.has(req.method)) return next();
    guard(resolved, key, req, res, next).catch((error: unknown) => answerFault(res, next, error));
  });
}

async function guard(options: Resolved, key: string, req: Request, res: Response, next: NextFunction): Promise<void> {
  if (!KEY.test(key)) {
    const detail = `${HEADER} must have 1 to 255 visible ASCII characters, without spaces.`;
    return sendProblem(res, 'invalid_idempotency_key', detail, { param: HEADER });
  }
  const { scopeOf, ownerOf = scopeOf === undefined ? ownerOfKey : undefined } = options;
  const proven = scopeOf === undefined ? provenOf(req) : await askOption(WHERE, 'scopeOf', () => scopeOf(req));
  const caller = proven ?? callerOf(req, key);
  const fingerprint = await requestFingerprint(req);
  if (fingerprint === undefined) {
    return sendProblem(res, 'body_too_large', NOT_COMPARED);
  }
  const scope = JSON.stringify([WHERE, req.method, `${req.baseUrl}${req.path}`, caller]);
  const { store, leaseMs } = options;
  // Of credentials that nobody has proven there are as many as somebody likes.
  const wallet = ownerOf && (await askOption(WHERE, 'ownerOf', () => ownerOf(req)));
  const owner = wallet ?? proven ?? addressOwner(req);
  const run = createIdempotentRequest({ store, scope, secret: key, fingerprint, leaseMs, owner });
  const begun = await run.begin();
  if (begun.status !== 'started') return answerKnown(req, res, begun);
  onLeftOpen(res, () => void run.abandon());
  recordResponse(res, async (answer) => {
    const neededScopes = neededScopesOf(res);
    const kept =
      answer === undefined || isOpen(res) ? forget(run) : run.finish({ ...answer, neededScopes }, paidBy(req, res));
    noteKeeping(res, kept);
    return kept;
  });
  next();
}

async function forget(run: IdempotentRequest): Promise<false> {
  await run.abandon();
  return false;
}

async function answerKnown(req: Request, res: Response, known: Known): Promise<void> {
  const lacking = known.status === 'replay' ? lackingFor(res, known.response.neededScopes) : [];
  if (lacking.length > 0) {
    const detail = `What was answered under this ${HEADER} is shown to nobody without the scope "${lacking.join('", "')}". Nothing was done again.`;
    return sendProblem(res, 'insufficient_scope', detail);
  }
  const isOther = known.status === 'replay' && isOfOtherRange(req, known.response);
  if (known.status === 'replay' && !isOther) return sendReplay(res, await acceptable(req, known.response));
  if (known.status === 'mismatch' || isOther) {
    const detail = `Another request was sent under this ${HEADER}; take a new key for a new request.`;
    return sendProblem(res, 'idempotency_key_reused', detail, { param: HEADER });
  }
  const detail = `The request with this ${HEADER} is running; send it again in a moment to get its answer.`;
  sendProblem(res, 'idempotency_in_progress', detail, { retryAfterSeconds: RETRY_SECONDS });
}

/** Whether a retry may change the response. */
function isOpen(res: Response): boolean {
  const code = problemCodeOf(res);
  if (code !== undefined && ERRORS[code].retryable) return true;
  return isLeftOpen(res) || res.statusCode >= 500 || OPEN_STATUSES.has(res.statusCode);
}

/** The wallet from which a gate behind this has taken something for it, if one has: what fails costs nothing. */
function paidBy(req: Request, res: Response): string | undefined {
  return res.statusCode < 400 ? (paymentOf(req)?.payer ?? passOf(req)?.wallet) : undefined;
}

/** Whom a gate has let in: a payer by his wallet, whatever he has paid with. */
function provenOf(req: Request): string | undefined {
  const key = serviceKeyOf(req);
  if (key !== undefined) return `key ${key.id}`;
  const wallet = walletOf(req)?.address ?? passOf(req)?.wallet ?? paymentOf(req)?.payer;
  return wallet && walletOwner(wallet);
}

/** A wallet has as many keys as it likes, one after the other. */
function ownerOfKey(req: Request): string | undefined {
  const key = serviceKeyOf(req);
  return key && walletOwner(key.owner);
}

/** By credentials; without any by address where the key is short. */
function callerOf(req: Request, key: string): string {
  const credentials = CREDENTIALS.map((name) => req.headers[name] ?? null);
  const anonymous = key.length >= SECRET_LENGTH ? 'anybody' : `address ${addressProof(req)}`;
  return credentials.every((it) => it === null) ? anonymous : JSON.stringify(credentials);
}
