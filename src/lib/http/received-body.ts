import type { IncomingMessage } from 'node:http';
import { parsedBytes } from './parsed-bytes.js';

/** What there is of a request's body after others have seen the request. */
export type ReceivedBody =
  /** It has none. */
  | { readonly kind: 'none' }
  /** Nobody has read it: it comes with the stream. */
  | { readonly kind: 'unread' }
  /** It was read, and these are its bytes. */
  | {
      readonly kind: 'read';
      readonly bytes: Buffer;
      /** Whether they are those of the wire. Else they were decompressed or written anew: what its headers say of those does not hold. */
      readonly isAsSent: boolean;
    }
  /** It was read, and what is left of it does not tell its bytes. */
  | { readonly kind: 'lost'; readonly why: string };

/** The beginning of a body that was read and put back. */
export interface PeekedBody {
  readonly bytes: Uint8Array;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
}

/** The parts of a request that parsers leave. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

const GZIP = Buffer.from([0x1f, 0x8b]);
const NONE: ReceivedBody = { kind: 'none' };
const UNREAD: ReceivedBody = { kind: 'unread' };

const peeked = new WeakMap<IncomingMessage, PeekedBody>();

/** Notes what was read of a body before it was put back, for {@link receivedBody}. */
export function notePeeked(req: IncomingMessage, body: PeekedBody): void {
  peeked.set(req, body);
}

/**
 * Tells what is left of a request's body behind a body parser: the bytes that were kept as `req.rawBody`, or as a Buffer in
 * `req.body`, else those of the parsed body, written again. Where they would not say what came, it is lost.
 */
export function receivedBody(req: IncomingMessage): ReceivedBody {
  const { body, rawBody } = req as ParsedRequest;
  if (rawBody instanceof Uint8Array) return keptBytes(req, rawBody);
  if (typeof rawBody === 'string' && isWholeText(req, rawBody)) return keptBytes(req, Buffer.from(rawBody));
  if (body instanceof Uint8Array) return keptBytes(req, body);
  if (!hasBody(req)) return NONE;
  const seen = peeked.get(req);
  if (seen?.isWhole) return seen.bytes.length === 0 ? NONE : unreadOr(req, seen.bytes);
  const isUnread = seen === undefined ? !req.readableEnded && !req.readableDidRead : !req.readableEnded;
  // Express 4 has an empty object where nothing was parsed; what is not empty was read before the request was made.
  if (isUnread && (seen !== undefined || isEmpty(body))) return UNREAD;
  const written = parsedBytes(req, body);
  return written.ok ? { kind: 'read', bytes: written.value, isAsSent: false } : { kind: 'lost', why: written.detail };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A stream whose client has left gives nothing that was put back. */
function unreadOr(req: IncomingMessage, bytes: Uint8Array): ReceivedBody {
  return req.readableEnded || req.destroyed ? { kind: 'read', bytes: Buffer.from(bytes), isAsSent: true } : UNREAD;
}

function isEmpty(body: unknown): boolean {
  return Object.keys(Object(body)).length === 0;
}

/** Not where it was decoded as something that it was not. */
function isWholeText({ headers }: IncomingMessage, text: string): boolean {
  return Number(headers['content-length']) === Buffer.byteLength(text) && !text.includes('\ufffd');
}

/** Parsers decompress; who keeps the bytes of the wire has as many as were announced. */
function keptBytes({ headers }: IncomingMessage, kept: Uint8Array): ReceivedBody {
  const bytes = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength);
  const declared = headers['content-length'];
  const isCompressed = (headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity';
  const isWire = declared === undefined ? bytes.subarray(0, 2).equals(GZIP) : Number(declared) === bytes.length;
  return { kind: 'read', bytes, isAsSent: !isCompressed || isWire };
}
