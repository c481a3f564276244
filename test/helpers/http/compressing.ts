import type { ServerResponse } from 'node:http';
import { createGzip, type Gzip } from 'node:zlib';
import type { RequestHandler } from 'express';

type Method = (this: ServerResponse, ...args: unknown[]) => unknown;

/** Compresses what is written, as the package `compression` does: methods replaced, the head changed before it leaves. */
export const compressing: RequestHandler = (_req, res, next) => {
  const write: Method = res.write as Method;
  const end: Method = res.end as Method;
  let gzip: Gzip | undefined;
  const begin = (): Gzip => {
    res.removeHeader('Content-Length');
    res.setHeader('Content-Encoding', 'gzip');
    const stream = createGzip();
    stream.on('data', (chunk: Buffer) => write.call(res, chunk));
    stream.on('end', () => end.call(res));
    if (!res.headersSent) res.writeHead(res.statusCode);
    return stream;
  };
  Reflect.set(res, 'write', (chunk: unknown) => {
    gzip ??= begin();
    return gzip.write(chunk);
  });
  Reflect.set(res, 'end', (chunk: unknown) => {
    gzip ??= begin();
    gzip.end(typeof chunk === 'function' ? undefined : chunk);
    return res;
  });
  next();
};
