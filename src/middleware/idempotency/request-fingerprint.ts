import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Request } from 'express';
import { notePeeked, type PeekedBody, receivedBody } from '../../lib/http/received-body.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { discardOnceAnswered } from '../../lib/http/unread-body.js';
import { formText } from './received-form.js';
import { boundaryOf, unboundForm } from './unbound-form.js';

/** Longest body that is compared with that of another request, in bytes. */
export const MAX_COMPARED_BYTES = 1024 * 1024;
/** Longest wait for the end of a body that nobody reads, in milliseconds. */
const DISCARD_MS = 10_000;
const MULTIPART = /^\s*multipart\//i;
/** So many at random are never twice the same. */
const UNLIKE_BYTES = 32;

/**
 * One text for requests that are the same in method, address and body, another for all others; undefined when the body is
 * longer than {@link MAX_COMPARED_BYTES} or was parsed to something that cannot be written as JSON again (nested too deeply,
 * for instance), or is a form whose files somebody has put elsewhere, or the client is gone. A body that nobody has read yet is read here and put back for
 * whoever comes next; of one that was parsed, the bytes that were kept, or else what came out of it. Of a form the boundary does
 * not count, which clients make anew each time.
 * @param parts - what else must be the same
 */
export async function requestFingerprint(req: Request, parts: readonly string[] = []): Promise<string | undefined> {
  const body = await bodyOf(req);
  if (!body.isWhole || body.bytes.length > MAX_COMPARED_BYTES) return undefined;
  return digestOf(req, body, () => parts);
}

/**
 * Binds a payment to its request: method, address with its query, and body, as above. Of a body that nobody has read yet and that is
 * longer than {@link MAX_COMPARED_BYTES} its length and so much of its beginning count (of a form 64 KiB less). Always the same for the
 * same request, and of a form whose files somebody has put elsewhere another for each; undefined when the client is gone.
 */
export async function paymentFingerprint(req: Request): Promise<string | undefined> {
  const body = await bodyOf(req);
  if (!body.isWhole && req.socket.destroyed && !req.complete) return undefined;
  return digestOf(req, body, (boundaries) => [body.isWhole ? null : lengthWithout(req, boundaries)]);
}

/** @param more - what counts beside method, address and body, told how many bytes of the body are boundaries */
function digestOf(
  req: Request,
  { bytes, isWhole }: PeekedBody,
  more: (boundaries: number) => readonly (string | null)[],
): string {
  const compared = isWhole ? bytes : bytes.subarray(0, MAX_COMPARED_BYTES);
  const boundary = boundaryOf(req.headers['content-type']);
  const form = boundary === undefined ? undefined : unboundForm(compared, boundary, isWhole);
  // Of a form that is cut off the part that is cut off is taken for its last.
  const boundaries = form === undefined ? 0 : form.lengths.length * (boundary?.length ?? 0);
  // An object is nothing that there is more of any other request: no other can be taken for a form.
  const pieces = form === undefined ? [] : [{ form: form.lengths }];
  const head = `${JSON.stringify([req.method, req.originalUrl, ...more(boundaries), ...pieces])}\n`;
  const content = form?.content ?? compared;
  return hash('sha256', content.length === 0 ? head : Buffer.concat([Buffer.from(head), content]));
}

/** As its Content-Length says, which stays as it is where nothing is to be taken off. */
function lengthWithout(req: Request, boundaries: number): string | null {
  const length = req.get('content-length') ?? null;
  return length === null || boundaries === 0 ? length : String(Number(length) - boundaries);
}

/** The same where all of the body counts; undefined also where it is longer than {@link MAX_COMPARED_BYTES}, or not known to the byte. */
export async function wholeFingerprint(req: Request): Promise<string | undefined> {
  const body = await readWholeBody(req, MAX_COMPARED_BYTES);
  return body && paymentFingerprint(req);
}

const NOTHING = Buffer.alloc(0);

/** Lets the rest of a body go that nobody will read, and waits for its end: who is still sending may miss the response. */
export async function discardBody(req: Request): Promise<void> {
  if (req.complete || req.destroyed) return;
  const late = AbortSignal.timeout(DISCARD_MS);
  const over = Promise.race(['end', 'close', 'error'].map((event) => once(req, event, { signal: late })));
  req.resume();
  // Who has not come to its end by then may go on for ever.
  await over.catch(() => {
    if (req.res !== undefined) req.res.shouldKeepAlive = false;
  });
}

const peeked = createRequestNote<Request, Promise<PeekedBody>>();

/** Whether a body is longer than so many bytes, as far as its first {@link MAX_COMPARED_BYTES} tell. */
export async function isBodyLonger(req: Request, maxBytes: number): Promise<boolean> {
  return (await bodyOf(req)).bytes.length > maxBytes;
}

/**
 * The body of a request, where it is known to the byte and at most so long; it stays there for whoever reads it next. Of one that is
 * longer no more is read than shows that.
 */
export async function readWholeBody(req: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (receivedBody(req).kind === 'lost' || Number(req.headers['content-length'] ?? 0) > maxBytes) return undefined;
  const { bytes, isWhole } = await bodyOf(req, Math.min(maxBytes, MAX_COMPARED_BYTES));
  return isWhole && bytes.length <= maxBytes ? bytes : undefined;
}

/** What was read before is what it was read to then. */
async function bodyOf(req: Request, maxBytes = MAX_COMPARED_BYTES): Promise<PeekedBody> {
  const known = peeked.of(req);
  if (known !== undefined) return known;
  const received = receivedBody(req);
  if (received.kind === 'none') return { bytes: NOTHING, isWhole: true };
  if (received.kind === 'read') return { bytes: received.bytes, isWhole: true };
  const isForm = MULTIPART.test(req.headers['content-type'] ?? '');
  if (received.kind === 'lost' && !isForm) return whatIsLeft(req);
  const body = received.kind === 'lost' ? formLeft(req) : peek(req, maxBytes);
  peeked.put(req, body);
  return body;
}

/** A form that cannot be compared is like no other: what came of one file is never given for another. */
async function formLeft(req: Request): Promise<PeekedBody> {
  const text = await formText(req);
  if (text === undefined) return { bytes: randomBytes(UNLIKE_BYTES), isWhole: false };
  return { bytes: Buffer.from(text), isWhole: true };
}

function whatIsLeft({ body, headers }: Request): PeekedBody {
  try {
    return { bytes: Buffer.from(JSON.stringify([body ?? null, headers['content-length'] ?? null])), isWhole: true };
  } catch {
    return { bytes: NOTHING, isWhole: false };
  }
}

/**
 * Reads the body to its end, or until it is longer than so many bytes, and puts it back. The stream does not end meanwhile: it ends
 * when it is found empty in a later turn, and by then it is full again.
 */
function peek(req: Request, maxBytes: number): Promise<PeekedBody> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let length = 0;

    function finish(isWhole: boolean): void {
      req.off('readable', look).off('close', gone);
      const body = Buffer.concat(chunks);
      if (length > 0 && !req.destroyed) req.unshift(body);
      notePeeked(req, { bytes: body, isWhole });
      resolve({ bytes: body, isWhole });
    }

    function look(): void {
      while (req.readableLength > 0 && length <= maxBytes) {
        const chunk: Uint8Array = req.read();
        chunks.push(chunk);
        length += chunk.length;
      }
      if (length > maxBytes) {
        finish(false);
        if (req.res !== undefined) discardOnceAnswered(req, req.res);
      } else if (req.complete) finish(true);
    }

    const gone = (): void => finish(false);
    req.once('close', gone);
    req.on('readable', look);
    if (req.complete) look();
    else if (req.destroyed) gone();
  });
}
