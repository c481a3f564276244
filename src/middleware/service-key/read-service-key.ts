import type { Request, Response } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type {
  CallStep,
  KeyAuthenticator,
  KeyCheck,
  KeyRate,
  ServiceKey,
} from '../../identity/service-keys/service-key-types.js';
import { defined } from '../../lib/defined.js';
import { clientIp } from '../../lib/http/client-ip.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';

/** A key that was checked for a request. */
interface Checked {
  readonly check: MaybePromise<KeyCheck>;
  /** Whether the response says where the key stands in its limit. */
  isTold: boolean;
}

const checks = createRequestNote<Request, Map<KeyAuthenticator, Checked>>();
const steps = createRequestNote<Request, CallStep>();

/** Notes what a request is to a call of a project, before its key is read: as that it counts. */
export function noteCallStep(req: Request, step: CallStep): void {
  steps.put(req, step);
}

/**
 * The service key that a request shows in the headers `X-Service-Key` and `X-Service-Secret`, checked; undefined when it
 * shows none. The query is never read: addresses end up in logs. A request that is asked about again, by another gate, counts
 * once.
 * @throws TollhouseError the fault of the key, `unauthenticated` when one of the two headers is missing
 */
export function readServiceKey(
  req: Request,
  res: Response,
  keys: KeyAuthenticator,
): MaybePromise<ServiceKey | undefined> {
  const checking = checkServiceKey(req, res, keys);
  if (checking === undefined) {
    if (SHOWN.some((name) => headerOf(req, name) !== undefined)) throw new TollhouseError('unauthenticated', HALF);
    return undefined;
  }
  return whenKnown(checking, (check) => {
    if (check.ok) return check.key;
    throw keyError(check);
  });
}

/**
 * What came of checking the service key that a request shows; undefined when it shows none, or half of one. Puts the key's
 * limit a second into `RateLimit` and `RateLimit-Policy` (draft 8).
 */
export function checkServiceKey(
  req: Request,
  res: Response,
  keys: KeyAuthenticator,
): MaybePromise<KeyCheck> | undefined {
  const checked = checkOf(req, keys);
  if (checked === undefined) return undefined;
  return whenKnown(checked.check, (check) => {
    if (!checked.isTold && check.rate !== undefined) sendRate(res, check.rate);
    checked.isTold = true;
    return check;
  });
}

/**
 * The key whose secret a request proves, whether it is let in with it or not; undefined where it shows none, or a wrong secret.
 * The response says nothing of it. The request counts once, here and in {@link readServiceKey}.
 */
export function provenServiceKey(req: Request, keys: KeyAuthenticator): MaybePromise<ServiceKey | undefined> {
  const checked = checkOf(req, keys);
  return checked && whenKnown(checked.check, (check) => check.key);
}

function checkOf(req: Request, keys: KeyAuthenticator): Checked | undefined {
  const [key, secret] = SHOWN.map((name) => headerOf(req, name));
  if (key === undefined || secret === undefined) return undefined;
  const known = checks.of(req) ?? new Map<KeyAuthenticator, Checked>();
  checks.put(req, known);
  const check = () =>
    keys.authenticate({ key, secret, address: clientIp(req) ?? '', ...defined({ step: steps.of(req) }) });
  const checked = known.get(keys) ?? { check: check(), isTold: false };
  known.set(keys, checked);
  return checked;
}

/** What a request with a key that was refused is told. */
export function keyError({ code, detail, retryAfterSeconds }: Extract<KeyCheck, { ok: false }>): TollhouseError {
  return new TollhouseError(code, detail, defined({ retryAfterSeconds }));
}

/** Node joins what comes more than once. */
function headerOf({ headers }: Request, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

const SHOWN = ['x-service-key', 'x-service-secret'];
const HALF = 'A service key is two headers: X-Service-Key and X-Service-Secret. One of them is missing.';

/** Beside limits of other kinds, each an item of the list that the header is. */
function sendRate(res: Response, { limit, remaining, resetsInSeconds }: KeyRate): void {
  addHeader(res, 'RateLimit-Policy', `"key"; q=${limit}; w=1`);
  addHeader(res, 'RateLimit', `"key"; r=${remaining}; t=${resetsInSeconds}`);
}

function addHeader(res: Response, name: string, value: string): void {
  if (res.hasHeader(name)) res.append(name, value);
  else res.setHeader(name, value);
}
