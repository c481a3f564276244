import type { ServerResponse } from 'node:http';

/** Does what `writeHead(status, [message], [headers])` asks for without sending; headers as an object or as a flat list. */
export function applyHead(res: ServerResponse, status: number, rest: readonly unknown[]): void {
  res.statusCode = status;
  const [message] = rest;
  if (typeof message === 'string') res.statusMessage = message;
  const headers = rest.find((it) => typeof it === 'object' && it !== null);
  const pairs = Array.isArray(headers) ? pairUp(headers.flat()) : Object.entries(headers ?? {});
  for (const [name, value] of pairs) if (value !== undefined) res.setHeader(name, value);
}

function pairUp(flat: readonly unknown[]): (readonly [string, string])[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[String(name), String(flat[index + 1])] as const] : []));
}

/** Calls `adjust` when the head of the answer is complete and not sent yet. */
export function beforeHead(res: ServerResponse, adjust: () => void): void {
  const original = res.writeHead;
  const writeHead = (status: number, ...rest: unknown[]) => {
    res.writeHead = original;
    applyHead(res, status, rest);
    adjust();
    return res.writeHead(res.statusCode);
  };
  Reflect.set(res, 'writeHead', writeHead);
}
