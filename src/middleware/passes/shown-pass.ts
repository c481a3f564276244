import type { Request } from 'express';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import type { PassClaims, PassReading } from '../../identity/types.js';
import { randomHex } from '../../lib/ids.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { PASS_HEADER } from '../gate/pass-headers.js';
import { proofOf } from '../wallet/wallet-auth.js';
import { debitedAs } from './covered-response.js';
import { clearCookie, cookieAt, shownCookies } from './pass-cookie.js';
import type { KeptPass, PassCookie, PassParts, PassPlace, PassRefusal, PassTrouble, UsedPass } from './pass-types.js';

/** What one request costs a pass of uses. */
const ONE_USE = 1n;
const ON_ITS_WAY =
  'A payment of this wallet for such a pass is on its way, and was not charged twice: come again in a moment.';
const RETRY = { retryAfterSeconds: 2 };
const PAY = 'Pay one of the offered terms to go on.';

const TROUBLES: Readonly<Record<PassTrouble, readonly [code: ErrorCode, detail: string]>> = {
  unknown: ['invalid_pass', `The access pass is not known here any more. ${PAY}`],
  revoked: [
    'pass_revoked',
    `The access pass or its token was revoked. Sign in with the wallet that paid, or pay anew.`,
  ],
  ended: ['pass_ended', `The access pass has ended. ${PAY}`],
  used_up: ['pass_used_up', `The access pass is used up. ${PAY}`],
};

/**
 * Looks for a pass that covers a request, by its token, by the wallet that has paid for it, or else by its cookie, and takes what
 * the request costs. Undefined where the request shows nothing, or its wallet has none here.
 * @param places - what the pass may be for
 */
export function useShownPass(
  parts: PassParts,
  req: Request,
  places: readonly PassPlace[],
): MaybePromise<UsedPass | PassRefusal | undefined> {
  const scopes = places.map(({ scope }) => scope);
  const token = req.get(PASS_HEADER);
  // Who shows a token need not prove his wallet, and mostly does not try.
  if (token !== undefined && !showsWallet(req)) return useToken(parts, req, { scopes, token, wallet: undefined });
  return useProof(parts, req, { scopes, token, places });
}

/** What a request brings, and where. */
interface Brought {
  readonly token: string | undefined;
  readonly places: readonly PassPlace[];
}

async function useProof(
  parts: PassParts,
  req: Request,
  { scopes, token, places }: Pick<Shown, 'scopes'> & Brought,
): Promise<UsedPass | PassRefusal | undefined> {
  const proof = await proofOf(req, parts);
  if (token === undefined && proof.status === 'absent') return useCookie(parts, req, places);
  if (proof.status === 'refused') return refusal('pass_sign_in_refused', proof.detail, proof.code);
  const wallet = proof.status === 'proven' ? proof.wallet.address : undefined;
  const byToken = token === undefined ? undefined : await useToken(parts, req, { scopes, token, wallet });
  if (byToken?.admitted || wallet === undefined) return byToken;
  // An old token must not stand in the way of the wallet that has paid.
  const byWallet = await useWallet(parts, req, { scopes, wallet });
  if (!byWallet?.admitted) return byToken ?? byWallet;
  const cookie = cookieAt(req, parts, places, byWallet.shown.scope);
  return cookie === undefined ? byWallet : { ...byWallet, cookie };
}

/** One that is good for nothing any more is taken back; one that is used up may be given a use back by a request under way. */
async function useCookie(
  parts: PassParts,
  req: Request,
  places: readonly PassPlace[],
): Promise<UsedPass | PassRefusal | undefined> {
  const refusals: { readonly refusal: PassRefusal; readonly cookie: PassCookie }[] = [];
  for (const { token, cookie, scope } of shownCookies(req, parts, places)) {
    const used = await useToken(parts, req, { scopes: [scope], token, wallet: undefined });
    if (used.admitted) return used;
    refusals.push({ refusal: used, cookie });
  }
  for (const { refusal, cookie } of refusals) {
    if (req.res !== undefined && refusal.cause.code !== 'pass_used_up') clearCookie(req.res, cookie);
  }
  return refusals[0]?.refusal;
}

function showsWallet({ headers }: Request): boolean {
  return headers['sign-in-with-x'] !== undefined || headers.authorization !== undefined;
}

/** What a request shows, and what may cover it. */
interface Shown {
  readonly scopes: readonly string[];
  readonly wallet: string | undefined;
}

function useToken(
  parts: PassParts,
  req: Request,
  shown: Shown & { readonly token: string },
): MaybePromise<UsedPass | PassRefusal> {
  return whenKnown(parts.tokens.read(shown.token), (reading) => useReading(parts, req, shown, reading));
}

function useReading(
  parts: PassParts,
  req: Request,
  { scopes, wallet }: Shown,
  reading: PassReading,
): MaybePromise<UsedPass | PassRefusal> {
  if (!reading.ok) return refusal('invalid_pass', reading.detail);
  const { claims } = reading;
  if (claims.site !== parts.site) {
    return refusal('pass_of_another_site', 'The access pass was sold by another site, and covers nothing here.');
  }
  if (!scopes.includes(claims.scope)) {
    return refusal('pass_of_another_route', `The access pass covers ${claims.scope}, and not this route.`);
  }
  if (wallet !== undefined && wallet !== claims.wallet) {
    const detail = `The access pass is of another wallet than ${wallet}, which has signed in. Send one of the two.`;
    return refusal('pass_of_another_wallet', detail);
  }
  return take(parts, req, { shown: claims, byToken: true });
}

/** Those that end first are used first. */
async function useWallet(
  parts: PassParts,
  req: Request,
  { scopes, wallet }: Shown & { readonly wallet: string },
): Promise<UsedPass | PassRefusal | undefined> {
  const { passes, isBuying, site } = parts;
  const found = (
    await Promise.all([...new Set(scopes)].map((scope) => passes.findFor({ wallet, site, scope })))
  ).flat();
  let refused: PassRefusal | undefined;
  for (const pass of found.filter(({ over }) => over === undefined).toSorted(byEnd)) {
    const used = await take(parts, req, { shown: claimsOf(pass), byToken: false });
    if (used.admitted) return used;
    refused = used;
  }
  // Who was cut off while he paid must not be asked to pay once more.
  if (await isBuying({ wallet, site, scopes })) throw new TollhouseError('settlement_pending', ON_ITS_WAY, RETRY);
  const [last] = found;
  return refused ?? (last?.over === undefined ? undefined : troubled(last.over));
}

function byEnd(one: KeptPass, other: KeptPass): number {
  return (one.endsAt ?? Number.MAX_SAFE_INTEGER) - (other.endsAt ?? Number.MAX_SAFE_INTEGER);
}

/** What the token of a pass says. */
export function claimsOf({ id, wallet, site, scope, kind, serial, endsAt }: KeptPass): PassClaims {
  return { passId: id, wallet, site, scope, kind, serial, ...(endsAt === undefined ? {} : { endsAt }) };
}

async function take(
  { passes }: PassParts,
  { res }: Request,
  { shown, byToken }: Pick<UsedPass, 'shown' | 'byToken'>,
): Promise<UsedPass | PassRefusal> {
  const { passId, kind, serial } = shown;
  if (kind === 'until') {
    const pass = await passes.find(passId);
    const trouble = pass === undefined ? 'unknown' : (pass.over ?? (pass.serial === serial ? undefined : 'revoked'));
    return trouble === undefined ? { admitted: true, shown, byToken } : troubled(trouble);
  }
  // A request is debited once, however many gates it passes.
  const requestId = (res && debitedAs(res)) ?? newRequestId();
  const debit = await passes.debit({ passId, requestId, amount: ONE_USE, serial });
  if (!debit.ok) return troubled(debit.fault);
  return { admitted: true, shown, byToken, left: debit.left, taken: { requestId, amount: ONE_USE } };
}

const PROCESS = randomHex(16);
let requests = 0;

/** Not the client's to choose: one name for many requests would be one debit for all of them. */
function newRequestId(): string {
  requests += 1;
  return `${PROCESS}${requests.toString(36)}`;
}

function troubled(trouble: PassTrouble): PassRefusal {
  return refusal(...TROUBLES[trouble]);
}

function refusal(code: ErrorCode, detail: string, reason?: string): PassRefusal {
  return { admitted: false, cause: { code, detail, ...(reason === undefined ? {} : { reason }) } };
}
