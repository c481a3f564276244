import type { Request, Response } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type { KeyAuthenticator, KeyCheck, KeyRate, ServiceKey } from '../../identity/service-keys/service-key-types.js';
import { defined } from '../../lib/defined.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { createRequestNote } from '../gate/request-note.js';

const checks = createRequestNote<Request, Map<KeyAuthenticator, MaybePromise<KeyCheck>>>();

/**
 * The service key that a request shows in the headers `X-Service-Key` and `X-Service-Secret`, checked; undefined when it
 * shows none. The query is never read: addresses end up in logs. Puts the key's limit a second into `RateLimit` and
 * `RateLimit-Policy` (draft 8). A request that is asked about again, by another gate, counts once.
 * @throws TollhouseError `unauthenticated` when one of the two headers is missing, else the fault of the key
 */
export function readServiceKey(
  req: Request,
  res: Response,
  keys: KeyAuthenticator,
): MaybePromise<ServiceKey | undefined> {
  const key = headerOf(req, 'x-service-key');
  const secret = headerOf(req, 'x-service-secret');
  if (key === undefined && secret === undefined) return undefined;
  if (key === undefined || secret === undefined) throw new TollhouseError('unauthenticated', HALF);
  const known = checks.of(req) ?? new Map<KeyAuthenticator, MaybePromise<KeyCheck>>();
  checks.put(req, known);
  const earlier = known.get(keys);
  const checking = earlier ?? keys.authenticate({ key, secret, address: req.ip ?? '' });
  known.set(keys, checking);
  return whenKnown(checking, (check) => {
    if (earlier === undefined && check.rate !== undefined) sendRate(res, check.rate);
    if (check.ok) return check.key;
    const { code, detail, retryAfterSeconds } = check;
    throw new TollhouseError(code, detail, defined({ retryAfterSeconds }));
  });
}

/** Node joins what comes more than once. */
function headerOf({ headers }: Request, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

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
