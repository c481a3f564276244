import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { receivedBody } from '../../lib/http/received-body.js';

/** The beginning of a request's body. */
export type BodyStart =
  /** All of it: at most as much as is kept. */
  | { readonly kind: 'whole'; readonly bytes: Buffer; readonly isAsSent: boolean }
  /** More than is kept; the rest has not been read yet. */
  | { readonly kind: 'begun'; readonly bytes: Buffer }
  /** More than is taken. */
  | { readonly kind: 'too_large' }
  /** The caller went away before it was there. */
  | { readonly kind: 'gone' };

/** A body that is larger than its limit. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

const NOTHING: BodyStart = { kind: 'whole', bytes: Buffer.alloc(0), isAsSent: true };

/** Bytes that a request says its body has; undefined where it does not say. */
export function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/**
 * Reads a body until it ends, or is more than is kept. One that was read before is taken as it was left, all of it.
 * @param keepBytes - as much as this is read into memory
 * @param maxBytes - more than this is not taken
 * @throws TypeError when somebody has read the body before, and nothing is left that it can be told from
 */
export async function readStart(req: IncomingMessage, keepBytes: number, maxBytes: number): Promise<BodyStart> {
  const received = receivedBody(req);
  if (received.kind === 'none') return NOTHING;
  if (received.kind === 'lost')
    throw new TypeError(`the body was read before it came to the proxy, and ${received.why}`);
  const length = received.kind === 'read' ? received.bytes.length : declaredLength(req);
  if (length !== undefined && length > maxBytes) return { kind: 'too_large' };
  if (received.kind === 'read') return { ...received, kind: 'whole' };
  return collect(req, keepBytes, maxBytes);
}

function collect(req: IncomingMessage, keepBytes: number, maxBytes: number): Promise<BodyStart> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (start: BodyStart): void => {
      req.pause();
      req.off('data', add).off('end', end).off('close', leave);
      resolve(start);
    };
    const add = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) finish({ kind: 'too_large' });
      else if (length > keepBytes) finish({ kind: 'begun', bytes: Buffer.concat(chunks) });
    };
    const end = (): void => finish({ kind: 'whole', bytes: Buffer.concat(chunks), isAsSent: true });
    const leave = (): void => finish({ kind: 'gone' });
    req.on('data', add).on('end', end).on('close', leave);
    if (req.destroyed) leave();
  });
}

/**
 * A body that was begun, from its beginning, as a stream. It fails with {@link BodyTooLarge}; that it is destroyed does not
 * destroy the request, which is still to be answered.
 * @param onChunk - called whenever some of it moves on
 */
export function wholeStream(req: IncomingMessage, start: Buffer, maxBytes: number, onChunk: () => void): Transform {
  let length = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      onChunk();
      if (length > maxBytes) done(new BodyTooLarge());
      else done(null, chunk);
    },
  });
  stream.on('error', () => {});
  stream.write(start);
  req.pipe(stream);
  return stream;
}

/** Whether all that has come of such a stream was taken, and more is to come. */
export function isMoreToCome({ writableEnded, writableLength, readableLength }: Transform): boolean {
  return !writableEnded && writableLength === 0 && readableLength === 0;
}
