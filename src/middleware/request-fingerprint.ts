import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { createRequestNote } from './request-note.js';

/** Longest body that is compared with that of another request, in bytes. */
export const MAX_COMPARED_BYTES = 1024 * 1024;

/**
 * One text for requests that are the same in method, address and body, another for all others; undefined when the body is
 * longer than {@link MAX_COMPARED_BYTES} or was parsed to something that cannot be written as JSON again (nested too deeply,
 * for instance), or the client is gone. A body that nobody has read yet is read here and put back for
 * whoever comes next; of one that was parsed, what came out of it counts.
 * @param parts - what else must be the same
 */
export async function requestFingerprint(req: Request, parts: readonly string[] = []): Promise<string | undefined> {
  const body = await bodyOf(req);
  if (body === undefined) return undefined;
  const head = JSON.stringify([req.method, req.originalUrl, ...parts]);
  return createHash('sha256').update(head).update('\n').update(body).digest('hex');
}

const peeked = createRequestNote<Request, Promise<Uint8Array | undefined>>();

async function bodyOf(req: Request): Promise<Uint8Array | undefined> {
  if (!hasBody(req)) return Buffer.alloc(0);
  const isUnread = !req.readableEnded && !req.readableDidRead;
  const body = peeked.of(req) ?? (isUnread ? peek(req) : undefined);
  if (body !== undefined) {
    peeked.put(req, body);
    return body;
  }
  const bytes = bytesOf(req.body);
  return bytes === undefined || bytes.length > MAX_COMPARED_BYTES ? undefined : bytes;
}

function bytesOf(parsed: unknown): Uint8Array | undefined {
  if (parsed instanceof Uint8Array) return parsed;
  try {
    return Buffer.from(JSON.stringify(parsed) ?? '');
  } catch {
    return undefined;
  }
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Reads the body to its end and puts it back. The stream does not end meanwhile: it ends when it is found empty in a later
 * turn, and by then it is full again.
 */
function peek(req: Request): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let length = 0;

    function finish(isWhole: boolean): void {
      req.off('readable', look).off('close', gone);
      const body = Buffer.concat(chunks);
      if (length > 0 && !req.destroyed) req.unshift(body);
      resolve(isWhole ? body : undefined);
    }

    function look(): void {
      while (req.readableLength > 0 && length <= MAX_COMPARED_BYTES) {
        const chunk: Uint8Array = req.read();
        chunks.push(chunk);
        length += chunk.length;
      }
      if (length > MAX_COMPARED_BYTES) finish(false);
      else if (req.complete) finish(true);
    }

    const gone = (): void => finish(false);
    req.once('close', gone);
    req.on('readable', look);
    if (req.complete) look();
  });
}
