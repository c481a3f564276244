import { z } from 'zod';
import { resolveOptions } from '../../lib/options.js';
import { answerPreflight, isPreflight, statePolicy } from './cors.js';
import { isExpress } from './express-only.js';
import { asMiddleware, type Middleware } from './gate.js';

/** Options of {@link crossOrigin}. */
export interface CrossOriginOptions {
  /**
   * Origins whose pages may send requests and read the responses, such as `https://shop.example`, at most 1,000; or `'*'` for
   * every one. Default `'*'`: payments, sign-ins and keys are in headers that no browser adds on its own.
   */
  readonly origins?: '*' | readonly string[] | undefined;
  /** Whether browsers send cookies along when a page asks for it. It takes a list of origins. Default false. */
  readonly credentials?: boolean | undefined;
}

const WHERE = 'crossOrigin';
const MAX_ORIGINS = 1_000;
const ORIGIN = 'an origin such as https://shop.example: a scheme and a host in lower case, and no path';
const NO_PATTERN = 'one origin and no pattern: list each by its name, or give "*" in place of the list for all';
const ORIGINS = '"*", or a list of origins such as https://shop.example';

/** Schema of a list of origins. */
export const originList = z
  .array(
    z
      .string(ORIGIN)
      .refine((it) => !it.includes('*'), NO_PATTERN)
      .refine(isOrigin, ORIGIN),
  )
  .min(1, 'a list of at least one origin')
  .max(MAX_ORIGINS, `a list of at most ${MAX_ORIGINS} origins`);

const options = z
  .strictObject({
    origins: z.union([z.literal('*'), originList], ORIGINS).default('*'),
    credentials: z.boolean('true or false').default(false),
  })
  .refine(({ origins, credentials }) => !credentials || origins !== '*', {
    path: ['credentials'],
    message: 'false where "origins" is "*": browsers send cookies to named origins only; list yours',
  });

/**
 * Express middleware that lets pages of other origins use an app: `app.use(crossOrigin({ origins: ['https://shop.example'] }))`,
 * once, before the gates and routes that it is for. Express itself answers a browser's preflight of `app.get(path, gate)`, and
 * the gate never hears of it: so preflights are answered here, for every path below the mount, and every response says the same
 * as its preflight did, those of gates included. A policy that stands before this one is left alone, and one behind it has the
 * last word on its responses.
 * @throws TollhouseError `bad_option` now, not at the first request, when an option is wrong
 */
export function crossOrigin(given: CrossOriginOptions = {}): Middleware {
  const { origins, credentials } = resolveOptions(WHERE, options, given);
  const policy = { origins: origins === '*' ? undefined : new Set(origins), credentials };
  return asMiddleware(function tollhouseCrossOrigin(req, res, next) {
    if (!isExpress(WHERE, req, next)) return;
    statePolicy(policy, req, res);
    if (isPreflight(req)) return answerPreflight(req, res);
    next();
  });
}

/** As browsers write them. Pages without an origin of their own all say `null`: nobody is named by that. */
function isOrigin(text: string): boolean {
  return (
    /^[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/.test(text) && URL.canParse(text) && new URL(text).host === text.split('://')[1]
  );
}
