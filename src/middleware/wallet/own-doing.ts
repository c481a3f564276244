import type { Request } from 'express';
import { type CallerParts, callerOrigin } from './caller-request.js';

/** A name that only this machine answers to; browsers do not all take secure cookies there over http. */
const LOOPBACK = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/;

/** Whether the cookies of a site are for secure connections alone. */
export function isSecureAt(req: Request, parts: CallerParts): boolean {
  return !LOOPBACK.test(callerOrigin(req, parts));
}

/**
 * Whether no page of another site or host has sent a request, as its browser says. Programs that are no browsers say nothing, and have
 * nobody's cookies but their own.
 */
export function isFromHere(req: Request, parts: CallerParts): boolean {
  const { 'sec-fetch-site': site, origin } = req.headers;
  if (site !== undefined) return site === 'same-origin';
  return origin === undefined || origin === callerOrigin(req, parts);
}

/**
 * Whether a request with a cookie may count as its owner's doing: what changes something does where its browser says that a page of
 * this site has sent it.
 */
export function isOwnDoing(req: Request, parts: CallerParts): boolean {
  if (req.method === 'GET' || req.method === 'HEAD') return true;
  const from = req.headers['sec-fetch-site'];
  return from === undefined ? req.headers.origin === callerOrigin(req, parts) : from === 'same-origin';
}
