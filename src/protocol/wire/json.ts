import { type Parsed, parsed, unparsed } from '../../lib/parsed.js';
import { MAX_HEADER_BYTES, MAX_JSON_DEPTH, MAX_JSON_VALUES } from '../limits.js';

const URL_SAFE = /[-_]/;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a header that holds base64 of JSON (x402 HTTP transport). Its length is checked before anything is decoded, its
 * depth and keys before anything looks into it.
 *
 * @param name - of the header, for the message
 */
export function readHeader(name: string, header: string): Parsed<unknown> {
  if (header.length > MAX_HEADER_BYTES) return unparsed(`${name} is longer than ${MAX_HEADER_BYTES} bytes`);
  const bytes = base64Bytes(header);
  if (!bytes.ok) return unparsed(`${name} is not base64: ${bytes.detail}`);
  const json = parseJson(bytes.value);
  if (!json.ok) return unparsed(`${name} is not base64 of JSON: ${json.detail}`);
  const fault = jsonFault(json.value);
  return fault === undefined ? json : unparsed(`${name}: ${fault}`);
}

/** Writes a header that holds base64 of JSON. Fields that are undefined are left out. */
export function writeHeader(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Decodes standard base64 with padding, in its one normal form; every other spelling of the same bytes is refused. */
export function decodeBase64(text: string): Parsed<Uint8Array> {
  const bytes = base64Bytes(text);
  // They lie in memory that Node shares among many, and would keep all of it.
  return bytes.ok ? parsed(new Uint8Array(bytes.value)) : bytes;
}

function base64Bytes(text: string): Parsed<Buffer> {
  if (text === '') return unparsed('it is empty');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text) return parsed(bytes);
  if (URL_SAFE.test(text)) return unparsed('it uses the URL-safe alphabet; the standard one has + and /');
  if (text.length % 4 !== 0) return unparsed('its length is not a multiple of four; is the padding missing?');
  return unparsed('it holds characters or bits that base64 does not have');
}

/**
 * What makes a JSON value unfit to be looked into, or undefined: nested too deeply, too many values, or a `__proto__` key,
 * which would become a prototype where somebody copies the object.
 */
export function jsonFault(value: unknown): string | undefined {
  let level = isObject(value) ? [value] : [];
  let count = 1;
  for (let depth = 1; level.length > 0; depth += 1) {
    const inner: object[] = [];
    const before = count;
    for (const it of level) {
      if (Object.hasOwn(it, '__proto__')) return 'its JSON has a key named __proto__';
      const values: unknown[] = Object.values(it);
      count += values.length;
      for (const found of values) if (isObject(found)) inner.push(found);
    }
    if (count > MAX_JSON_VALUES) return `its JSON has more than ${MAX_JSON_VALUES} values`;
    if (count > before && depth > MAX_JSON_DEPTH) return `its JSON is nested deeper than ${MAX_JSON_DEPTH} levels`;
    level = inner;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function parseJson(bytes: Uint8Array): Parsed<unknown> {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return unparsed('the text is not UTF-8');
  }
  try {
    return parsed<unknown>(JSON.parse(text));
  } catch {
    return unparsed('the text is not JSON');
  }
}
