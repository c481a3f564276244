import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { isPriceScope } from '../../facilitator/payments/price-credit.js';
import type { PassClaims, PassReading } from '../../identity/types.js';
import { defined } from '../../lib/defined.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { formerSite } from '../../protocol/networks/pass-site.js';
import { PASS_HEADER } from '../gate/pass-headers.js';
import { proofOf } from '../wallet/wallet-auth.js';
import { clearCookie, cookieAt, type ShownCookie, shownCookies } from './pass-cookie.js';
import { creditRefusal, isPassForOther, refusal, troubled } from './pass-troubles.js';
import type { KeptPass, PassCookie, PassParts, PassPlace, PassRefusal, UsedPass } from './pass-types.js';
import { takeUse } from './take-use.js';

const ON_ITS_WAY =
  'A payment of this wallet for such a pass is on its way, and was not charged twice: come again in a moment.';
const SHOWN_IN = PASS_HEADER.toLowerCase();
/** So many passes that came as cookies of one name are asked for in the store: each was paid for, and there is one as a rule. */
const MOST_ASKED = 5;
const RETRY = { retryAfterSeconds: 2 };

/**
 * Looks for a pass that covers a request, by its token, by the wallet that has paid for it, or else by its cookie, and at last by the
 * owner of its service key, and takes what the request costs. Undefined where the request shows nothing, or its wallet has none here.
 * @param places - what the pass may be for
 */
export function useShownPass(
  parts: PassParts,
  req: Request,
  places: readonly PassPlace[],
): MaybePromise<UsedPass | PassRefusal | undefined> {
  const shown = useOwnProof(parts, req, places);
  const owner = parts.keyOwner(req);
  if (owner === undefined) return shown;
  return whenKnown(shown, async (it) => {
    if (it?.admitted) return it;
    const byKey = await useWallet(parts, req, { places, wallet: owner, by: 'key' });
    return byKey?.admitted ? byKey : (it ?? byKey);
  });
}

/** By what the request itself shows of a pass. */
function useOwnProof(
  parts: PassParts,
  req: Request,
  places: readonly PassPlace[],
): MaybePromise<UsedPass | PassRefusal | undefined> {
  const { headers } = req;
  const token = headers[SHOWN_IN]?.toString();
  // Who shows a token need not prove his wallet, and mostly does not try.
  if (token !== undefined && !showsWallet(headers)) return useToken(parts, req, { places, token, wallet: undefined });
  return useProof(parts, req, { places, token });
}

async function useProof(
  parts: PassParts,
  req: Request,
  { places, token }: { readonly places: readonly PassPlace[]; readonly token: string | undefined },
): Promise<UsedPass | PassRefusal | undefined> {
  const proof = await proofOf(req, parts);
  if (token === undefined && proof.status === 'absent') return useCookie(parts, req, places);
  if (proof.status === 'refused' && proof.code === 'wallet_suspended')
    throw new TollhouseError(proof.code, proof.detail);
  if (proof.status === 'refused') return refusal('pass_sign_in_refused', proof.detail, { reason: proof.code });
  const wallet = proof.status === 'proven' ? proof.wallet.address : undefined;
  const byToken = token === undefined ? undefined : await useToken(parts, req, { places, token, wallet });
  if (byToken?.admitted || wallet === undefined) return byToken;
  // An old token must not stand in the way of the wallet that has paid.
  const byWallet = await useWallet(parts, req, { places, wallet, by: 'wallet' });
  // A browser that is kept signed in with one wallet may have paid with another.
  const isKept = token === undefined && !showsWallet(req.headers);
  const byCookie = byWallet?.admitted || !isKept ? undefined : await useCookie(parts, req, places);
  if (byCookie?.admitted) return byCookie;
  if (!byWallet?.admitted) return byToken ?? byWallet;
  const cookie = cookieAt(req, parts, places, byWallet.shown.scope);
  return cookie === undefined ? byWallet : { ...byWallet, cookie };
}

/**
 * What is good for nothing any more is taken back, where all that came under its name was looked at and is: another host of the domain
 * can plant some beside a good one, which would go with them. What is used up may be given a use back by a request under way.
 */
async function useCookie(
  parts: PassParts,
  req: Request,
  places: readonly PassPlace[],
): Promise<UsedPass | PassRefusal | undefined> {
  const refusals: PassRefusal[] = [];
  const gone: PassCookie[] = [];
  for (const shown of shownCookies(req, parts, places)) {
    const here = { places: places.filter(({ scope }) => scope === shown.scope), wallet: undefined };
    const used = await useOneOf(parts, req, here, shown);
    if ('admitted' in used) return used;
    if (shown.isFormer && used.refusals.every(isPassForOther)) continue;
    refusals.push(...used.refusals);
    if (used.isWhole && used.refusals.every(({ cause }) => cause.code !== 'pass_used_up')) gone.push(shown.cookie);
  }
  if (req.res !== undefined) for (const cookie of gone) clearCookie(req.res, cookie);
  return refusals.find((it) => !isPassForOther(it)) ?? refusals[0];
}

/** The first of the tokens under one name that covers the request; else why none does, and whether all of them were looked at. */
async function useOneOf(
  parts: PassParts,
  req: Request,
  here: Shown,
  { tokens, isWhole }: ShownCookie,
): Promise<UsedPass | { readonly refusals: readonly PassRefusal[]; readonly isWhole: boolean }> {
  const refusals: PassRefusal[] = [];
  const asked = new Set<string>();
  for (const token of tokens) {
    const fit = fitting(parts, here, await parts.tokens.read(token));
    if (!fit.ok) {
      refusals.push(fit.refusal);
      continue;
    }
    const { passId, serial } = fit.claims;
    const name = `${passId} ${serial}`;
    if (asked.has(name)) continue;
    if (asked.size === MOST_ASKED) return { refusals, isWhole: false };
    asked.add(name);
    const used = await use(parts, req, { shown: fit.claims, by: 'token' }, here.places);
    if (used.admitted) return used;
    refusals.push(used);
  }
  return { refusals, isWhole };
}

function showsWallet(headers: Request['headers']): boolean {
  return headers['sign-in-with-x'] !== undefined || headers.authorization !== undefined;
}

/** What a request shows, and what may cover it. */
interface Shown {
  readonly places: readonly PassPlace[];
  readonly wallet: string | undefined;
}

/** Whose passes may cover it, and how the wallet was proven. */
interface OfWallet extends Pick<UsedPass, 'by'> {
  readonly places: readonly PassPlace[];
  readonly wallet: string;
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
  here: Shown,
  reading: PassReading,
): MaybePromise<UsedPass | PassRefusal> {
  const fit = fitting(parts, here, reading);
  return fit.ok ? use(parts, req, { shown: fit.claims, by: 'token' }, here.places) : fit.refusal;
}

/** What a token says, where that may cover the request; nobody is asked for it. */
function fitting(
  { site }: PassParts,
  { places, wallet }: Shown,
  reading: PassReading,
): { readonly ok: true; readonly claims: PassClaims } | { readonly ok: false; readonly refusal: PassRefusal } {
  const unfit = (...why: Parameters<typeof refusal>) => ({ ok: false, refusal: refusal(...why) }) as const;
  if (!reading.ok) return unfit('invalid_pass', reading.detail);
  const { claims } = reading;
  if (claims.site !== site && claims.site !== formerSite(site)) return { ok: false, refusal: ofAnotherSite() };
  if (places.every(({ scope }) => scope !== claims.scope)) {
    return unfit('pass_of_another_route', `The access pass covers ${coveredBy(claims.scope)}, and not this route.`);
  }
  if (wallet !== undefined && wallet !== claims.wallet) {
    const detail = `The access pass is of another wallet than ${wallet}, which has signed in. Send one of the two.`;
    return unfit('pass_of_another_wallet', detail);
  }
  return { ok: true, claims };
}

/** Takes what the request costs; where that is refused it is told what is left. */
function use(
  parts: PassParts,
  req: Request,
  by: Pick<UsedPass, 'shown' | 'by'>,
  places: readonly PassPlace[],
): MaybePromise<UsedPass | PassRefusal> {
  return whenKnown(claimsToday(parts, by.shown), (shown): MaybePromise<UsedPass | PassRefusal> => {
    if (shown === undefined) return ofAnotherSite();
    return whenKnown(
      takeUse(parts, req, { shown, by: by.by }, places),
      (used): MaybePromise<UsedPass | PassRefusal> =>
        used.admitted ? used : creditRefusal(parts, shown, places, used),
    );
  });
}

/**
 * What a token says that was given out before its pass was of a network of test money: the step `0032-pass-sites` has counted its tokens
 * up. Only the pass itself tells it from one that live money has bought. Undefined where it is of another site.
 */
function claimsToday({ passes, site }: PassParts, claims: PassClaims): MaybePromise<PassClaims | undefined> {
  if (claims.site === site) return claims;
  const { serial, ...more } = claims;
  return passes
    .find(claims.passId)
    .then((pass) => (pass?.site === site ? { serial: serial + 1, ...more, site } : undefined));
}

function ofAnotherSite(): PassRefusal {
  return refusal('pass_of_another_site', 'The access pass was sold by another site, and covers nothing here.');
}

function coveredBy(scope: string): string {
  return isPriceScope(scope) ? `the ${scope}` : scope;
}

/** By a pass that the wallet has; where it has none to use, a payment of its own may just be making one. */
async function useWallet(
  parts: PassParts,
  req: Request,
  { places, wallet, by }: OfWallet,
): Promise<UsedPass | PassRefusal | undefined> {
  const { isBuying, site } = parts;
  const scopes = [...new Set(places.map(({ scope }) => scope))];
  const used = await useBought(parts, req, { places, wallet, by, scopes });
  if (used?.admitted) return used;
  // Who was cut off while he paid must not be asked to pay once more.
  if (await isBuying({ wallet, site, scopes })) throw new TollhouseError('settlement_pending', ON_ITS_WAY, RETRY);
  // What was paid for since the first look is there now.
  return useBought(parts, req, { places, wallet, by, scopes });
}

/** Those that end first are used first. */
async function useBought(
  parts: PassParts,
  req: Request,
  { places, wallet, by, scopes }: OfWallet & { readonly scopes: readonly string[] },
): Promise<UsedPass | PassRefusal | undefined> {
  const { passes, site } = parts;
  const found = (await Promise.all(scopes.map((scope) => passes.findFor({ wallet, site, scope })))).flat();
  let refused: { readonly shown: PassClaims; readonly why: PassRefusal } | undefined;
  for (const pass of found.filter(({ over }) => over === undefined).toSorted(byEnd)) {
    const shown = claimsOf(pass);
    const used = await takeUse(parts, req, { shown, by }, places);
    if (used.admitted) return used;
    refused = { shown, why: used };
  }
  if (refused !== undefined) return creditRefusal(parts, refused.shown, places, refused.why);
  const [last] = found;
  return last?.over === undefined ? undefined : troubled(last.over, last.kind);
}

function byEnd(one: KeptPass, other: KeptPass): number {
  return (one.endsAt ?? Number.MAX_SAFE_INTEGER) - (other.endsAt ?? Number.MAX_SAFE_INTEGER);
}

/** What the token of a pass says. That of one which can be renewed stays good with it, and has no end of its own. */
export function claimsOf({ id, wallet, site, scope, kind, mint, serial, graceMs, ...pass }: KeptPass): PassClaims {
  const endsAt = graceMs === undefined ? pass.endsAt : undefined;
  return { passId: id, wallet, site, scope, kind, serial, ...defined({ mint, endsAt }) };
}
