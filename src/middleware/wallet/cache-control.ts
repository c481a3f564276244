import type { ServerResponse } from 'node:http';
import { isHeadSent } from '../../lib/http/intercept-methods.js';
import { onHeaders, writeHeadLater } from '../../lib/http/write-head.js';
import { privateCacheControl } from '../gate/respond.js';

/** Keeps a response out of caches that others share, whatever its handler says of caching. */
export function keepPrivate(res: ServerResponse): void {
  if (!Object.hasOwn(res, 'writeHead')) res.writeHead = writeHeadPrivately;
  // Somebody has put a function of his own over it; he is called after us.
  else if (res.writeHead !== writeHeadPrivately) onHeaders(res, setPrivate);
}

/** One function for all responses: a closure for each costs more than everything else that a gate does to a response. */
function writeHeadPrivately(this: ServerResponse, status: number, ...rest: unknown[]): ServerResponse {
  const original = Reflect.get(Object.getPrototypeOf(this), 'writeHead');
  if (isHeadSent(this)) return Reflect.apply(original, this, [status, ...rest]);
  writeHeadLater(this, status, rest);
  setPrivate(this);
  return Reflect.apply(original, this, [this.statusCode]);
}

function setPrivate(res: ServerResponse): void {
  res.setHeader('Cache-Control', privateCacheControl(res.getHeader('Cache-Control')));
}
