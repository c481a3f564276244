import { CommandError } from '../../command.js';
import type { PayableRequest, UrlResponse } from '../ask-url.js';
import { quoted } from '../kept-payment.js';

type Asked = Pick<PayableRequest, 'url' | 'method'>;

const SENDS_ON = new Set([301, 302, 303, 307, 308]);
const SEE_OTHER = 303;
/** So often is a request sent on. */
const MOST_TIMES = 5;

/** Where a response sends its reader; undefined where it does not. */
export function leadsTo(url: string, { status, header }: UrlResponse): string | undefined {
  const location = header('location') ?? '';
  if (!SENDS_ON.has(status) || location === '' || !URL.canParse(location, url)) return undefined;
  return new URL(location, url).href;
}

/**
 * Where a request that pays nothing goes on to after its response: a GET or HEAD is sent on within its site, and to `https` there.
 * @param times - how often it was sent on already
 * @returns undefined where the response sends nowhere
 * @throws CommandError where it is for the payer to say whether he goes there
 */
export function goesOnTo({ url, method }: Asked, response: UrlResponse, times: number): string | undefined {
  const to = leadsTo(url, response);
  if (to === undefined) return undefined;
  const reason = staysFor({ url, method }, new URL(to), times);
  if (reason === undefined) return to;
  const how = response.status === SEE_OTHER ? 'without -X and -d' : 'with the same options';
  throw new CommandError(
    `${response.status}: ${url} leads to ${to}, and ${reason}; nothing was paid. If that is where you want to ask: npx tollhouse pay ${quoted(to)} …, ${how}`,
  );
}

function staysFor({ url, method }: Asked, to: URL, times: number): string | undefined {
  if (!isSameSite(new URL(url), to)) return 'a request is not sent on to another site by itself';
  if (!['GET', 'HEAD'].includes(method.toUpperCase())) return `a ${method} is not sent on by itself`;
  return times < MOST_TIMES ? undefined : `the request was sent on ${MOST_TIMES} times before`;
}

/** What is asked for on a site may hold secrets in its headers: they may leave it for nothing but the same host by `https`. */
function isSameSite(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && to.hostname === from.hostname;
  return (to.origin === from.origin || isUpgrade) && to.username + to.password === '';
}
