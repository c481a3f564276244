import { METHODS } from 'node:http';
import { badOption } from '../../errors/errors.js';
import { didYouMean } from '../../lib/did-you-mean.js';
import { trimEnd } from '../../lib/trim-end.js';
import { decodeSegments } from './path-readings.js';

/** A route of a map: which requests it is about. */
export interface RoutePattern {
  /** Undefined for every method. */
  readonly method: string | undefined;
  /** As it was written, without the method. */
  readonly path: string;
  /** Whether a path, read in one of its ways, is this route's. */
  matchesPath(path: string): boolean;
}

const EXAMPLE = 'such as "GET /report", "/report" for all methods, "/files/*" or "/reports/:id"';
const PARAMETER = /\[[^\][/]+\]|:[a-z_]\w*/gi;
/** What a segment may hold one of: with two, a hostile path could be matched in too many ways. */
const OPEN_PARTS = /\*|\[[^\][/]+\]|:[a-z_]\w*/gi;

/**
 * Reads a route as the route map of `@x402/express` has it: a method or none, and a path in which `*` stands for anything,
 * `:id` and `[id]` for one segment or a part of it, and `/*` at the end for all below, itself included.
 * @param where - names the map and the route, for messages
 * @throws TollhouseError `bad_option` for a text that is none
 */
export function readRoutePattern(where: string, text: string): RoutePattern {
  const words = text.trim().split(/\s+/);
  const [first = '', second] = words;
  const [verb, path] = second === undefined ? ['*', first] : [first, second];
  if (words.length > 2) throw badOption(where, `a route is a method and a path, ${EXAMPLE}`);
  const fault = pathFault(path);
  if (fault !== undefined) throw badOption(where, fault);
  return { method: readMethod(where, verb), path, matchesPath: pathMatcher(path) };
}

/** Whether a request's method is the route's. Whoever asks for the head of a response gets what GET gets. */
export function takesMethod({ method }: RoutePattern, asked: string): boolean {
  return method === undefined || method === asked || (method === 'GET' && asked === 'HEAD');
}

/** Whether every request for the later route is one for the earlier route too. */
export function covers(earlier: RoutePattern, later: RoutePattern): boolean {
  if (earlier.method !== undefined && (later.method === undefined || !takesMethod(earlier, later.method))) return false;
  if (later.path.includes('*')) return earlier.path.toLowerCase() === later.path.toLowerCase();
  return earlier.matchesPath(later.path);
}

function readMethod(where: string, verb: string): string | undefined {
  if (verb === '*') return undefined;
  const method = verb.toUpperCase();
  if (METHODS.includes(method)) return method;
  const meant = didYouMean(method, METHODS);
  throw badOption(where, `there is no method "${verb}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`);
}

/** What keeps a text from being the path of a route, and what to write instead. */
function pathFault(path: string): string | undefined {
  if (path === '*') return undefined;
  if (/^[a-z]+:\/\//i.test(path)) return `write the path alone, without scheme and host, ${EXAMPLE}`;
  if (!path.startsWith('/')) return `its path must begin with "/"; did you mean "/${path}"?`;
  if (/[?#]/.test(path)) return 'a route has no query and no "?": write its path alone; every query belongs to it';
  if (/[(){}\\]/.test(path)) return 'patterns with brackets and groups are not taken: write ":id" for a segment or "*"';
  if (/\*[a-z_]/i.test(path)) return 'a "*" has no name here: write "/*" at the end for all that is below';
  const segments = path.split('/');
  if (segments.some((it) => it === '.' || it === '..')) return 'a path has no segments "." and ".."';
  if (segments.some((it) => (it.match(OPEN_PARTS)?.length ?? 0) > 1)) return 'a segment holds one "*" or one ":id"';
  return undefined;
}

/** The pieces between the "*", in their order. Each is looked for once, so that no path takes longer than its length. */
function pathMatcher(path: string): RoutePattern['matchesPath'] {
  const isOpen = path === '*' || path.endsWith('/*');
  const body = isOpen ? path.replace(/\/?\*$/, '') : trimEnd(path, '/');
  const pieces = body.split('*').map(pieceSource);
  const last = pieces.length - 1;
  const end = isOpen ? '(?:/|$)' : '/?$';
  const patterns = pieces.map((source, at) => {
    const isEverything = isOpen && body === '';
    return new RegExp(at === last && !isEverything ? source + end : source, at === 0 ? 'iy' : 'ig');
  });
  return (asked) => {
    let from = 0;
    for (const pattern of patterns) {
      pattern.lastIndex = from;
      if (!pattern.test(asked)) return false;
      from = pattern.lastIndex;
    }
    return true;
  };
}

function pieceSource(piece: string): string {
  return decodeSegments(piece.replace(/\/+/g, '/'))
    .split(PARAMETER)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('[^/]+');
}
