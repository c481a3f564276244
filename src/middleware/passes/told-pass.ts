import type { Request } from 'express';
import { PASS_HEADER, REMAINING_HEADER } from '../gate/pass-headers.js';
import { remainingText } from './enter-by-pass.js';
import { cookieAt, giveCookie } from './pass-cookie.js';
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
  const left = { [REMAINING_HEADER]: remainingText(pass, pass.left, parts.symbols) };
  if (!isTheirs) return left;
  const token = await parts.tokens.issue(claimsOf(pass));
  const cookie = cookieAt(req, parts, places, pass.scope);
  if (cookie !== undefined && req.res !== undefined) giveCookie(req.res, cookie, token, pass.endsAt);
  return { ...left, [PASS_HEADER]: token };
}
