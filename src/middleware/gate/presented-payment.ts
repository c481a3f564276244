import type { Request, Response } from 'express';
import type { PaymentCodec, Reading } from '../../protocol/codecs/codec.js';
import { CODECS } from '../../protocol/codecs/codecs.js';
import { x402V2 } from '../../protocol/codecs/x402-v2.js';
import { requestTarget } from './request-url.js';

/** A payment header and the way it came in. */
export interface PresentedPayment {
  readonly codec: PaymentCodec;
  readonly reading: Reading;
}

const HEADERS = CODECS.map((codec) => ({ codec, name: codec.requestHeader.toLowerCase() }));
/** The cookie in which our page has a browser bring a payment with a navigation, which has no headers of a page's own. */
const COOKIE = 'payment-signature=';
const MOST_COOKIES = 5;
/** What a cookie's path may consist of, as our page writes it: anything else is a cookie of the whole host. */
const PATH = /^\/[\w\-.~%!$&'()*+=:@/,]*$/;

/**
 * The payment header of a request, newest protocol first, or the payment that a browser brings with a navigation; undefined when there
 * is none.
 */
export function readPayment(req: Request): PresentedPayment | undefined {
  const { headers } = req;
  for (const { codec, name } of HEADERS) {
    const header = headers[name]?.toString();
    if (header !== undefined) return { codec, reading: codec.read(header) };
  }
  // Other hosts of the domain can set cookies of that name: what nobody can read is none of our page's.
  const readings = headers.cookie === undefined ? [] : broughtByNavigation(req).map((it) => x402V2.read(it));
  const reading = readings.find(({ ok }) => ok);
  return reading === undefined ? undefined : { codec: x402V2, reading };
}

/** Takes the cookie back in which a payment came: it is for one navigation. */
export function takeBackPayment(req: Request, res: Response): void {
  if (req.headers.cookie === undefined || broughtByNavigation(req).length === 0) return;
  const [asked = '/'] = requestTarget(req).split(/[?#]/, 1);
  res.append('Set-Cookie', `${COOKIE}; Path=${PATH.test(asked) ? asked : '/'}; Max-Age=0; SameSite=Strict`);
}

/** No other site's page may have it brought; a browser that does not say whose page has sent the request keeps `SameSite` all the same. */
function broughtByNavigation({ headers }: Request): readonly string[] {
  const { cookie = '', 'sec-fetch-mode': mode = 'navigate', 'sec-fetch-site': site = 'same-origin' } = headers;
  if (!cookie.includes(COOKIE) || mode !== 'navigate' || site !== 'same-origin') return [];
  return cookie
    .split(';')
    .map((it) => it.trim())
    .filter((it) => it.startsWith(COOKIE) && it.length > COOKIE.length)
    .map((it) => it.slice(COOKIE.length))
    .slice(0, MOST_COOKIES);
}
