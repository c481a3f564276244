import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { Request } from 'express';
import type { StoredResponse } from './response-seal.js';

/** What is kept is a few MiB; coded, it may be of so many bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

const DECODERS = new Map<string, (body: Uint8Array, options: ZlibOptions) => Promise<Uint8Array>>([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** Header fields that say something of the bytes as they were coded. */
const OF_CODED = new Set([
  'content-encoding',
  'content-length',
  'accept-ranges',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
]);

/** A response that was kept, for a client that may take another coding than the one that it was coded for. What cannot be decoded stays as it is. */
export async function acceptable(req: Request, stored: StoredResponse): Promise<StoredResponse> {
  const coding = String(stored.headers['content-encoding']).toLowerCase();
  const decode = DECODERS.get(coding);
  const isPart = stored.statusCode === 206;
  if (decode === undefined || isPart || stored.body.length === 0 || req.acceptsEncodings(coding) !== false)
    return stored;
  try {
    const body = await decode(stored.body, { maxOutputLength: MAX_BYTES });
    const headers = Object.entries(stored.headers).filter(([name]) => !OF_CODED.has(name.toLowerCase()));
    return { ...stored, headers: Object.fromEntries(headers.map(([name, it]) => [name, ofDecoded(name, it)])), body };
  } catch {
    return stored;
  }
}

/** A strong ETag is of the very bytes. */
function ofDecoded<T>(name: string, value: T): T | string {
  const isStrong = name.toLowerCase() === 'etag' && typeof value === 'string' && value.startsWith('"');
  return isStrong ? `W/${value}` : value;
}
