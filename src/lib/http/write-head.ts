import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { expressPrototype } from './express-prototype.js';
import { isHeadSent } from './intercept-methods.js';
import { createRequestNote } from './request-note.js';
import { checkStatus } from './sendable.js';

/** Gives a response whose head was not sent these headers, and no others. */
export function replaceHeaders(res: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
}

/**
 * Does what `writeHead(status, [message], [headers])` asks for without sending; headers as an object or as a list. Throws for what Node
 * would not send.
 */
export function writeHeadLater(res: ServerResponse, status: number, rest: readonly unknown[]): void {
  const [message] = rest;
  checkStatus(status, typeof message === 'string' ? message : res.statusMessage);
  // Express has made an object of its own kind of it, and there each property that is written costs as much as a header.
  if (res.statusCode !== status) res.statusCode = status;
  if (rest.length === 0) return;
  if (typeof message === 'string') res.statusMessage = message;
  const headers = rest.find((it) => typeof it === 'object' && it !== null);
  const pairs = Array.isArray(headers) ? listed(headers) : Object.entries(headers ?? {});
  for (const [name, value] of pairs) if (value !== undefined) res.setHeader(name, value);
}

/** In a list a name may come more than once: all its values count, and earlier headers of that name do not. */
function listed(list: readonly unknown[]): Iterable<readonly [string, string | string[]]> {
  const values = new Map<string, { readonly name: string; readonly all: string[] }>();
  for (const [name, value] of pairUp(list)) {
    const entry = values.get(name.toLowerCase()) ?? { name, all: [] };
    values.set(name.toLowerCase(), entry);
    entry.all.push(...[value].flat().map(String));
  }
  return [...values.values()].map(({ name, all }) => [name, all.length === 1 ? all.join() : all] as const);
}

/** Node takes `[name, value, name, value]` and `[[name, value], [name, value]]`. */
function pairUp(list: readonly unknown[]): (readonly [string, unknown])[] {
  if (list.every(Array.isArray)) return list.map(([name, value]) => [String(name), value] as const);
  return list.flatMap((name, index) => (index % 2 === 0 ? [[String(name), list[index + 1]] as const] : []));
}

type Adjust = (res: ServerResponse) => void;

/**
 * Calls `adjust` when the head of the response is complete and not sent yet. For what adjusts nearly every response
 * {@link headHook} costs less.
 */
export function onHeaders(res: ServerResponse, adjust: Adjust): void {
  const original = res.writeHead;
  let isComplete = false;
  const writeHead = (status: number, ...rest: unknown[]) => {
    if (isComplete) return Reflect.apply(original, res, [status, ...rest]);
    isComplete = true;
    writeHeadLater(res, status, rest);
    adjust(res);
    return original.call(res, res.statusCode);
  };
  res.writeHead = writeHead as typeof original;
}

/** What is to be done to the heads of responses; what was asked for last is done first. */
const adjusts = createRequestNote<ServerResponse, readonly Adjust[]>();

/**
 * Makes a function that has `adjust` called as {@link onHeaders} does, once for a response however often it is asked for. A response of
 * Express gets no function of its own for it: that costs more than everything else that a gate does to a response.
 */
export function headHook(adjust: Adjust): (res: ServerResponse) => void {
  const alone = [adjust];
  return (res) => {
    // Where somebody has put a function of his own over it, he is called after us.
    if (!hasHookedHead(res)) return onHeaders(res, adjust);
    const before = adjusts.of(res);
    if (before === undefined) adjusts.put(res, alone);
    else if (!before.includes(adjust)) adjusts.put(res, [adjust, ...before]);
  };
}

/** The `writeHead` of each Express, which sees to {@link adjusts}. */
const hooked = new WeakSet<object>();

/** Whether {@link adjusts} are seen to before anything else is done to the head of a response; from the first one on, for all of its Express. */
function hasHookedHead(res: ServerResponse): boolean {
  if (hooked.has(res.writeHead)) return true;
  const shared = Object.hasOwn(res, 'writeHead') ? undefined : expressPrototype(res);
  if (shared === undefined) return false;
  hookHeads(shared);
  // An app may have one of its own over it.
  return hooked.has(res.writeHead);
}

function hookHeads(shared: object): void {
  const original: ServerResponse['writeHead'] = Reflect.get(shared, 'writeHead');
  if (hooked.has(original)) return;
  function writeHead(this: ServerResponse, ...args: [status: number, ...rest: unknown[]]): ServerResponse {
    const asked = isHeadSent(this) ? undefined : adjusts.of(this);
    if (asked === undefined) return Reflect.apply(original, this, args);
    const [status, ...rest] = args;
    writeHeadLater(this, status, rest);
    for (const adjust of asked) adjust(this);
    return original.call(this, this.statusCode);
  }
  hooked.add(writeHead);
  Object.defineProperty(shared, 'writeHead', { configurable: true, writable: true, value: writeHead });
}
