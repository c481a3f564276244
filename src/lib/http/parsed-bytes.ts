import type { IncomingMessage } from 'node:http';

/** Bytes, or why there are none. */
type Written = { readonly ok: true; readonly value: Buffer } | { readonly ok: false; readonly detail: string };

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = /^application\/json$|\+json$/;
const UTF8 = /^(?:utf-?8|us-ascii)$/;
/** What a decoder leaves where it found no UTF-8, and a form where it found no UTF-8 behind a percent sign. */
const UNDECODED = /\ufffd|%[\da-f]{2}/i;
/** JSON that is no single value. */
const OBJECT = /^\s*[{[]/;
/** So short is an empty object, with the room that somebody may leave in it. */
const EMPTY_OBJECT_BYTES = 4;

/**
 * Writes a body again that a parser has read: JSON, a form, or text, in UTF-8. Where the same value could have come from bytes
 * that say something else, as many of them as were announced must come out.
 * @returns why it cannot be done, as part of a sentence
 */
export function parsedBytes(req: IncomingMessage, body: unknown): Written {
  const { type, charset } = typeOf(req);
  if (body === undefined || body === null || isLeftEmpty(req, body)) return lost('nothing of it was kept');
  if (!UTF8.test(charset)) return lost(`its charset is ${charset}`);
  if (typeof body === 'string') return textBytes(req, type, body);
  if (JSON_TYPE.test(type)) return jsonBytes(body);
  if (type === FORM) return formBytes(req, body);
  // Files of it are elsewhere, whatever its fields come to.
  if (type.startsWith('multipart/')) return lost(`its type is ${type}`);
  const json = jsonBytes(body);
  return json.ok && isAnnounced(req, json.value) ? json : lost(`its type is ${type === '' ? 'not said' : type}`);
}

function typeOf({ headers }: IncomingMessage) {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((it) => /^\s*charset="?([^"]*?)"?\s*$/.exec(it)?.[1]).find((it) => it !== undefined);
  return { type: type.trim(), charset: charset ?? 'utf-8' };
}

/** Express 4 has an empty object where no parser felt called. */
function isLeftEmpty(req: IncomingMessage, body: unknown): boolean {
  const isEmpty = typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0;
  return isEmpty && !isCompressed(req) && Number(req.headers['content-length'] ?? 0) > EMPTY_OBJECT_BYTES;
}

function isCompressed({ headers }: IncomingMessage): boolean {
  return (headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity';
}

function isAnnounced(req: IncomingMessage, { length }: Buffer): boolean {
  return !isCompressed(req) && Number(req.headers['content-length']) === length;
}

/** A text is the body, or what a parser of JSON made of a body in quotation marks. */
function textBytes(req: IncomingMessage, type: string, text: string): Written {
  if (text.includes('\ufffd')) return lost('it was no UTF-8');
  const bytes = Buffer.from(text);
  if (!JSON_TYPE.test(type) || isAnnounced(req, bytes)) return written(bytes);
  const quoted = Buffer.from(JSON.stringify(text));
  if (isAnnounced(req, quoted)) return written(quoted);
  return OBJECT.test(text) ? written(bytes) : lost('it was parsed to a text, or is one');
}

function jsonBytes(body: unknown): Written {
  let isExact = true;
  try {
    const text = JSON.stringify(body, (_key, value: unknown) => {
      if (typeof value === 'number' && !isExactNumber(value)) isExact = false;
      return value;
    });
    if (text === undefined) return lost('it was parsed to something that is not JSON');
    return isExact ? written(Buffer.from(text)) : lost('it has a number whose digits the parser rounded');
  } catch {
    return lost('it cannot be written as JSON again');
  }
}

function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/** `a=1&a=2` and `a[]=1&a[]=2` become the same list; what has no lists can have come from one form only. */
function formBytes(req: IncomingMessage, body: unknown): Written {
  const fields = fieldsOf(body, '');
  const bytes = Buffer.from(
    new URLSearchParams(fields.map(({ name, value }): [string, string] => [name, value])).toString(),
  );
  const isCertain = fields.every((it) => !it.isListed && !UNDECODED.test(it.name) && !UNDECODED.test(it.value));
  if (isCertain || isAnnounced(req, bytes)) return written(bytes);
  return lost('it is a form with lists, or not in UTF-8');
}

/** One field of a form. */
export interface FormField {
  readonly name: string;
  readonly value: string;
  /** Whether it is one of a list. */
  readonly isListed: boolean;
}

/** The fields that a parser has made a value of, as they were written: `{ a: { b: 1 } }` has one, `a[b]`. */
export function fieldsOf(value: unknown, name: string): FormField[] {
  if (Array.isArray(value))
    return value.flatMap((it) => fieldsOf(it, name).map((field) => ({ ...field, isListed: true })));
  if (typeof value !== 'object' || value === null) return [{ name, value: String(value), isListed: false }];
  return Object.entries(value).flatMap(([key, it]) => fieldsOf(it, name === '' ? key : `${name}[${key}]`));
}

function written(value: Buffer): Written {
  return { ok: true, value };
}

function lost(detail: string): Written {
  return { ok: false, detail };
}
