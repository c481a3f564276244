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

/** A file of a form, as parsers leave it that keep it in memory. */
export interface ReceivedFile {
  readonly fieldname: string;
  readonly originalname: string;
  readonly mimetype: string;
  readonly size: number;
  readonly buffer: Buffer;
}

type Fields = Readonly<Record<string, string>>;

/** Reads a form, and leaves on the request what it is told to. */
export function formParser(leave: (fields: Fields, files: readonly ReceivedFile[]) => object): RequestHandler {
  return async (req, _res, next) => {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(Uint8Array.from(chunk)));
    await once(req, 'end');
    const headers = { 'content-type': req.headers['content-type'] ?? '' };
    const entries = [...(await new Response(new Blob(chunks), { headers }).formData())];
    const fields = entries.filter((it): it is [string, string] => typeof it[1] === 'string');
    const files = entries.map(([name, value]) => (typeof value === 'string' ? [] : [receivedFile(name, value)]));
    Object.assign(req, leave(Object.fromEntries(fields), await Promise.all(files.flat())));
    next();
  };
}

/** The text of the fields in `req.body`, the only file as `req.file`. */
export const readForm = formParser((body, [file]) => ({ body, file }));

async function receivedFile(fieldname: string, file: File): Promise<ReceivedFile> {
  const { name: originalname, type: mimetype, size } = file;
  return { fieldname, originalname, mimetype, size, buffer: Buffer.from(await file.arrayBuffer()) };
}
