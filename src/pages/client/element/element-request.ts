import { type ElementData, PAYWALL_TYPE, type PageRequest } from '../../paywall/paywall-data.js';
import { sendRequest } from '../wire/send-request.js';

/** A handler behind the gate answers as it would have answered a browser. */
const ACCEPT = `text/html,${PAYWALL_TYPE},*/*;q=0.8`;
const LANGUAGE = /^[a-z\d-]{1,35}$/i;

/** The request of an element, as its attributes say it. */
export interface ElementRequest extends Omit<PageRequest, 'key'> {
  readonly url: string;
  /** Whether it goes to another origin than that of the page. */
  readonly isForeign: boolean;
  /** Selector of the part of an HTML document that is put in. Null: its body. */
  readonly select: string | null;
}

/**
 * Reads the attributes of an element: `src`, `crossorigin`, `select`, and the language of where it stands.
 * @throws TypeError when `src` is no address, or one of another origin without `crossorigin`; DOMException when `select` is no selector
 */
export function elementRequest(element: Element): ElementRequest {
  const src = element.getAttribute('src') ?? '';
  const { origin, protocol, href } = new URL(src, document.baseURI);
  const isForeign = origin !== location.origin;
  const crossOrigin = element.getAttribute('crossorigin');
  if (src === '' || !/^https?:$/.test(protocol)) {
    throw new TypeError(`tollhouse-paywall: "src" must be an http(s) address, and is "${src}"`);
  }
  if (isForeign && crossOrigin === null) {
    const instead = 'add the attribute crossorigin, and crossOrigin({ origins }) before the gate there';
    throw new TypeError(`tollhouse-paywall: "src" is of another origin (${origin}): ${instead}`);
  }
  const select = element.getAttribute('select');
  if (select !== null) element.matches(select);
  const language = element.closest('[lang]')?.getAttribute('lang') ?? '';
  const foreign = crossOrigin === 'use-credentials' ? 'include' : 'omit';
  return {
    ...{ method: 'GET', url: href, isForeign, select },
    headers: LANGUAGE.test(language) ? { 'Accept-Language': language } : {},
    credentials: isForeign ? foreign : 'same-origin',
  };
}

/** Asks for what stands behind the gate, or for its terms. */
export function askForTerms(request: ElementRequest): Promise<Response> {
  return sendRequest({ ...request, key: '' }, { Accept: ACCEPT });
}

/** The terms in an answer, for payments by this request; undefined where it has none. */
export async function termsIn(answer: Response, request: ElementRequest): Promise<ElementData | undefined> {
  if (!answer.headers.get('Content-Type')?.startsWith(PAYWALL_TYPE)) return undefined;
  const data: ElementData = await answer.json();
  const origin = request.isForeign ? `${new URL(request.url).origin} ` : '';
  // A script can read a long answer while it comes: it needs no navigation.
  return { ...data, isUpfront: false, request: { ...request, key: origin + data.request.key } };
}
