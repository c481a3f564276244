import type { ServerResponse } from 'node:http';

/** Does what `writeHead(status, [message], [headers])` asks for without sending; headers as an object or as a list. */
export function writeHeadLater(res: ServerResponse, status: number, rest: readonly unknown[]): void {
  res.statusCode = status;
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

/** Calls `adjust` when the head of the response is complete and not sent yet. */
export function onHeaders(res: ServerResponse, adjust: (res: ServerResponse) => void): void {
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
