import type { ServerResponse } from 'node:http';
import { isHeadSent } from './intercept-methods.js';

/** Does what `writeHead(status, [message], [headers])` asks for without sending; headers as an object or as a list. */
export function writeHeadLater(res: ServerResponse, status: number, rest: readonly unknown[]): void {
  // Express has made an object of its own kind of it, and there each property that is written costs as much as a header.
  if (res.statusCode !== status) res.statusCode = status;
  if (rest.length === 0) return;
  const [message] = rest;
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

/**
 * Makes a function that has `adjust` called as {@link onHeaders} does, once for a response however often it is asked for: with
 * one function for all responses, since a closure for each costs more than everything else that a gate does to a response.
 */
export function headHook(adjust: Adjust): (res: ServerResponse) => void {
  function writeHead(this: ServerResponse, status: number, ...rest: unknown[]): ServerResponse {
    const original: ServerResponse['writeHead'] = Object.getPrototypeOf(this).writeHead;
    if (isHeadSent(this)) return Reflect.apply(original, this, [status, ...rest]);
    writeHeadLater(this, status, rest);
    adjust(this);
    return original.call(this, this.statusCode);
  }
  return (res) => {
    if (!Object.hasOwn(res, 'writeHead')) res.writeHead = writeHead as typeof res.writeHead;
    // Somebody has put a function of his own over it; he is called after us.
    else if (res.writeHead !== writeHead) onHeaders(res, adjust);
  };
}
