import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';

/** For `verify` of Express's parsers: keeps the bytes, as signature checks of webhooks want it. */
export function keepRaw(req: IncomingMessage, _res: ServerResponse, bytes: Buffer): void {
  Object.assign(req, { rawBody: bytes });
}

/** Reads a body to its end and leaves on the request what it is told to, as parsers of files do. */
export function swallow(leave: (bytes: Buffer) => object): RequestHandler {
  return async (req, _res, next) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(req, 'end');
    Object.assign(req, leave(Buffer.concat(chunks)));
    next();
  };
}

/** Puts a body on a request that nobody has read, as adapters for servers that have none do. */
export function preset(body: unknown): RequestHandler {
  return (req, _res, next) => {
    Object.assign(req, { body });
    next();
  };
}
