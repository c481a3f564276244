import { z } from 'zod';
import { CALLS_PATH } from '../../http/framework/path.js';
import { PRICE_OF } from '../../storage/passes/pass-store.js';
import { readState, stateFolder, writeState } from '../state/state-folder.js';

const FILE = 'passes.json';
/** The longest token that is taken from a server, and how many are kept in all: the ones of last. */
const MAX_TOKEN_LENGTH = 4_096;
const MAX_KEPT = 200;
/** Who has several passes that may cover a request shows so many of them, one after another. */
const MOST_SHOWN = 3;

const keptSchema = z.object({
  origin: z.string(),
  scope: z.string(),
  wallet: z.string(),
  /** Path for which it was bought. */
  path: z.string(),
  token: z.string(),
});
const fileSchema = z.object({ passes: z.array(keptSchema) });

/** The token of a pass, as it is kept. It is shown to the origin that has given it out, and to nobody else. */
export type KeptToken = z.output<typeof keptSchema>;

/** Where tokens are kept, as help texts tell it. */
export const PASSES_KEPT_IN = '$XDG_STATE_HOME/tollhouse/passes.json (default ~/.local/state)';

const claimsSchema = z.object({
  sub: z.string().startsWith('wallet:'),
  routes: z.tuple([z.string().max(512)]),
});

/** A request that a pass may cover. */
interface Wanted {
  readonly url: string;
  readonly method: string;
  /** Base58. */
  readonly wallet: string;
}

/** The tokens that may cover a request of a wallet, the likeliest first. The server has the last word. */
export function tokensFor({ url, method, wallet }: Wanted): readonly KeptToken[] {
  const { origin, pathname } = new URL(url);
  const own = readKept().filter((it) => it.origin === origin && it.wallet === wallet);
  const exact = own.filter(({ path, scope }) => path === pathname && takesMethod(scope, method));
  const others = own.filter((it) => !exact.includes(it) && mayCover(it, method, pathname));
  return [...exact, ...others].slice(0, MOST_SHOWN);
}

/**
 * Keeps a token that a response has brought, in the place of the one for the same.
 * @returns what it covers; undefined where it is not kept, as it is none of ours, or of another wallet
 * @throws SystemError where it cannot be written
 */
export function keepToken({ url, wallet }: Omit<Wanted, 'method'>, token: string): string | undefined {
  const claims = token.length > MAX_TOKEN_LENGTH ? undefined : claimsOf(token);
  if (claims?.wallet !== wallet) return undefined;
  const { origin, pathname: path } = new URL(url);
  const kept: KeptToken = { origin, scope: claims.scope, wallet, path, token };
  writeKept([kept, ...readKept().filter((it) => !isForSame(it, kept))].slice(0, MAX_KEPT));
  return claims.scope;
}

/** Forgets a token that is good for nothing any more. */
export function forgetToken({ token }: KeptToken): void {
  writeKept(readKept().filter((it) => it.token !== token));
}

/** What it says is not believed: it tells which request to show it with. */
function claimsOf(token: string): { readonly wallet: string; readonly scope: string } | undefined {
  try {
    const [, payload = ''] = token.split('.');
    const read = claimsSchema.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return read.success ? { wallet: read.data.sub.slice('wallet:'.length), scope: read.data.routes[0] } : undefined;
  } catch {
    return undefined;
  }
}

function isForSame(one: KeptToken, other: KeptToken): boolean {
  return one.origin === other.origin && one.wallet === other.wallet && one.scope === other.scope;
}

/** What a scope covers: credit for the price of a route is good for that route. */
function placeIn(scope: string): string {
  return scope.startsWith(PRICE_OF) ? scope.slice(PRICE_OF.length) : scope;
}

function takesMethod(scope: string, method: string): boolean {
  const [verb = ''] = placeIn(scope).split(' ', 1);
  const asked = method.toUpperCase() === 'HEAD' ? 'GET' : method.toUpperCase();
  return ['group', 'project', '*', 'path', asked].includes(verb);
}

/** Whether a pass for `GET /report/:id` may be good for a path: what is no plain text of the pattern may be anything. */
function mayCover({ scope: covers, path }: KeptToken, method: string, pathname: string): boolean {
  if (!takesMethod(covers, method)) return false;
  const scope = placeIn(covers);
  if (scope.startsWith('project ')) return projectPath(path) === projectPath(pathname);
  const pattern = scope.slice(scope.indexOf(' ') + 1);
  if (scope.startsWith('group ') || !pattern.startsWith('/')) return scope.startsWith('group ');
  const given = pathname.split('/');
  const wanted = pattern.split('/');
  const open = wanted.findIndex((it) => /[^\w.~%-]/.test(it));
  const literal = open < 0 ? wanted : wanted.slice(0, open);
  const isLongEnough = open < 0 ? given.length === wanted.length : given.length >= open;
  return isLongEnough && literal.every((it, at) => it.toLowerCase() === given[at]?.toLowerCase());
}

/** The part of a path that all calls of a project have. */
function projectPath(pathname: string): string | undefined {
  const [, path] = new RegExp(`^(.*?${CALLS_PATH}/[^/]+)`).exec(pathname) ?? [];
  return path;
}

/** A file that cannot be read is none: what is in it can be had again by signing in. */
function readKept(): readonly KeptToken[] {
  try {
    return fileSchema.parse(JSON.parse(readState(FILE) ?? '{"passes":[]}')).passes;
  } catch {
    process.emitWarning(`${stateFolder()}/${FILE} cannot be read, and is written anew`, {
      code: 'TOLLHOUSE_PASSES_FILE',
    });
    return [];
  }
}

function writeKept(passes: readonly KeptToken[]): void {
  writeState(FILE, `${JSON.stringify({ passes }, undefined, 2)}\n`);
}
