import type { Request, Response } from 'express';
import { z } from 'zod';
import { isPending } from '../../lib/maybe-promise.js';
import type { RenderedPage } from '../../pages/layout/page.js';
import { brandOf, type ResolvedPageOptions } from '../../pages/layout/page-options.js';
import { elementDataOf } from '../../pages/paywall/element-data.js';
import type { PaywallContent } from '../../pages/paywall/paywall-content.js';
import { PAYWALL_TYPE, type PageSignIn } from '../../pages/paywall/paywall-data.js';
import { paywallPage } from '../../pages/paywall/paywall-page.js';
import { textsFor } from '../../pages/texts/languages.js';
import { isForAnyWallet, type MustHold, mustHoldInWords } from '../../pages/texts/must-hold.js';
import type { Challenge } from '../../protocol/challenge.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import { addVary } from '../gate/cache-control.js';
import { setHeaders } from '../gate/respond.js';
import { wantsElement } from '../gate/wants-page.js';
import { boughtNotes } from '../terms/pass-words.js';
import { pageRequest } from './page-request.js';
import { renderOwnPage } from './render-own-page.js';
import { shownPrice } from './shown-price.js';

/** What a paywall page is about. */
export interface PageSubject {
  readonly challenge: Challenge;
  readonly network: NetworkId;
  /** Those that have a symbol. */
  readonly tokens: readonly Token[];
  /** How the seller wants it to look. */
  readonly page: ResolvedPageOptions | undefined;
}

/** What a paywall page says. */
export interface PaywallParts extends PageSubject {
  readonly note?: string | undefined;
  /** What a wallet must hold that signs in, any one of them; told before a note. Default: that is not said. */
  readonly mustHold?: readonly MustHold[];
  readonly isWaiting?: boolean;
  readonly problem?: PaywallContent['problem'];
  readonly outage?: PaywallContent['outage'];
}

/** Cookies of ours that stand for somebody. */
const KEPT = /(?:^|[; ])(?:__Host-|__Secure-)?access-(?:wallet|pass-[\da-f]+)=[^;]/;

/** Answers a browser with a paywall page; status and headers of protocols are set already. */
export function sendPaywallPage(req: Request, res: Response, parts: PaywallParts): void {
  const asked = pageRequest(req);
  if (!isPending(asked)) return send(req, res, parts, asked);
  sendLater(res, asked, (request) => send(req, res, parts, request));
}

/** Sends what has to be waited for; what its app has answered meanwhile, as at a time-out, stays as it is. */
function sendLater<T>(res: Response, soon: Promise<T>, write: (value: T) => void): void {
  soon
    .then((value) => {
      if (!res.headersSent) write(value);
    })
    .catch(() => res.destroy());
}

function send(
  req: Request,
  res: Response,
  { challenge, network, tokens, page = {}, mustHold = [], problem, outage, isWaiting = false, ...parts }: PaywallParts,
  request: PaywallContent['request'],
): void {
  const { resource, terms, paymentFlow, extensions } = challenge;
  const spoken = textsFor(req.get('Accept-Language'), page.texts);
  const isForAny = isForAnyWallet(mustHold);
  const texts = isForAny ? { ...spoken, signInRequired: spoken.anyWallet } : spoken;
  const forHolders = isForAny ? undefined : mustHoldInWords(mustHold, texts, terms.length > 0);
  const offers = terms.map((it) => ({
    ...shownPrice(it, tokens, texts.language),
    bought: boughtNotes.of(it),
    payTo: it.payTo,
  }));
  const signIn = signInOf(extensions);
  const isSoldAhead = signIn !== undefined && offers.some(({ bought }) => bought !== undefined);
  const notes = [forHolders, isSoldAhead ? texts.boughtBefore : undefined, parts.note];
  const note = notes.filter((it) => it !== undefined).join(' ') || undefined;
  const content: PaywallContent = {
    ...{ texts, resource, network, request, note, problem, outage, isWaiting },
    brand: brandOf(page),
    offers,
    isUpfront: paymentFlow === 'upfront',
    isFeePaid: terms.every(({ feePayer }) => feePayer !== undefined),
    signIn,
    isKnown: KEPT.test(req.get('Cookie') ?? ''),
  };
  addVary(res, 'Accept-Language');
  if (wantsElement(req)) return end(res, { html: JSON.stringify(elementDataOf(content)), headers: ELEMENT_HEADERS });
  if (page.render === undefined) return end(res, paywallPage(content));
  sendLater(res, renderOwnPage(page.render, content, req), (made) => end(res, made));
}

const ELEMENT_HEADERS = { 'Content-Type': `${PAYWALL_TYPE}; charset=utf-8`, 'X-Content-Type-Options': 'nosniff' };

function end(res: Response, { html, headers }: RenderedPage): void {
  setHeaders(res, headers);
  res.end(html);
}

const signInSchema = z.object({
  info: z.record(z.string(), z.unknown()),
  supportedChains: z.array(z.object({ chainId: z.string() })).min(1),
});

/** The sign-in that a challenge asks for; undefined where it asks for none. */
export function signInOf(extensions: Challenge['extensions']): PageSignIn | undefined {
  const read = signInSchema.safeParse(extensions?.['sign-in-with-x']);
  const [chain] = read.data?.supportedChains ?? [];
  return read.success && chain !== undefined ? { info: read.data.info, chainId: chain.chainId } : undefined;
}
