import type { Request, Response } from 'express';
import type { InspectedProof } from '../../identity/types.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { varyBy } from '../gate/cache-control.js';
import { type CallerParts, CallerRequest } from './caller-request.js';
import { isOwnDoing, isSecureAt } from './own-doing.js';

const NAME = 'access-wallet';

/** The wallet that a browser keeps signed in by its cookie; undefined where there is none, or another site may be behind the request. */
export function sessionProof(req: Request, parts: CallerParts): MaybePromise<InspectedProof | undefined> {
  const { cookie } = req.headers;
  const { sessions } = parts.identity;
  if (sessions === undefined || cookie === undefined || !cookie.includes(NAME)) return undefined;
  if (req.res !== undefined) varyBy(req.res, 'Cookie');
  if (!isOwnDoing(req, parts)) return undefined;
  const name = `${nameAt(req, parts)}=`;
  const pair = cookie
    .split(';')
    .map((it) => it.trim())
    .find((it) => it.startsWith(name));
  const wallet = pair && sessions.read(pair.slice(name.length), new CallerRequest(req, parts));
  return whenKnown(wallet, (address) =>
    address ? { proof: { status: 'proven', wallet: { address, by: 'siwx', scopes: [] } } } : undefined,
  );
}

/** Has a browser keep a wallet signed in; false where the site has no name to sign in at. */
export async function giveSession(req: Request, res: Response, parts: CallerParts, wallet: string): Promise<boolean> {
  const session = await parts.identity.sessions?.open(wallet, new CallerRequest(req, parts));
  if (session === undefined) return false;
  const seconds = Math.floor((session.endsAt - Date.now()) / 1_000);
  const secure = isSecureAt(req, parts) ? '; Secure' : '';
  const value = `${nameAt(req, parts)}=${session.token}`;
  res.append('Set-Cookie', `${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`);
  return true;
}

/** Has a browser forget the wallet that it keeps signed in. */
export function takeSession(req: Request, res: Response, parts: CallerParts): void {
  const secure = isSecureAt(req, parts) ? '; Secure' : '';
  res.append('Set-Cookie', `${nameAt(req, parts)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure}`);
}

/** The prefix says to browsers that no page over http and no other host of its domain may set it. */
function nameAt(req: Request, parts: CallerParts): string {
  return isSecureAt(req, parts) ? `__Host-${NAME}` : NAME;
}
