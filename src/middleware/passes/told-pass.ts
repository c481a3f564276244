import type { Request } from 'express';
import { defined } from '../../lib/defined.js';
import { PASS_HEADER } from '../gate/pass-headers.js';
import { cookieAt, giveCookie } from './pass-cookie.js';
import { endOf, remainingHeaders } from './pass-end.js';
import type { KeptPass, PassParts, PassPlace } from './pass-types.js';
import { claimsOf } from './shown-pass.js';

/** Headers that tell of a pass. */
export type PassHeaders = Readonly<Record<string, string>>;

/**
 * Headers that tell of a pass. The response to the request sets its cookie, where it has one at one of the places.
 * @param isTheirs - whether it is certain who is told: without that the token is left out, and the cookie too
 */
export async function passHeaders(
  parts: PassParts,
  req: Request,
  pass: KeptPass,
  places: readonly PassPlace[],
  isTheirs: boolean,
): Promise<PassHeaders> {
  const left = remainingHeaders({ ...endOf(pass), ...defined({ mint: pass.mint }) }, pass.left, parts.symbols);
  if (!isTheirs) return left;
  const claims = claimsOf(pass);
  const token = await parts.tokens.issue(claims);
  const cookie = cookieAt(req, parts, places, pass.scope);
  if (cookie !== undefined && req.res !== undefined) giveCookie(req.res, cookie, token, claims.endsAt);
  return { ...left, [PASS_HEADER]: token };
}
