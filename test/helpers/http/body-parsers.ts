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

/** Reads a form as parsers of files do that keep them in memory: the text of its fields in `req.body`, its only file as `req.file`. */
export const readForm: RequestHandler = async (req, _res, next) => {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(Uint8Array.from(chunk)));
  await once(req, 'end');
  const headers = { 'content-type': req.headers['content-type'] ?? '' };
  const body: Record<string, string> = {};
  for (const [fieldname, value] of await new Response(new Blob(chunks), { headers }).formData()) {
    if (typeof value === 'string') body[fieldname] = value;
    else Object.assign(req, { file: await fileOf(fieldname, value) });
  }
  Object.assign(req, { body });
  next();
};

async function fileOf(fieldname: string, file: File) {
  const { name: originalname, type: mimetype, size } = file;
  return { fieldname, originalname, mimetype, size, buffer: Buffer.from(await file.arrayBuffer()) };
}
