import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import type { Request } from 'express';
import { atMost } from '../../lib/work/at-most.js';
import { networksOfClient } from '../../lib/work/client-networks.js';
import { clientAddress } from '../gate/client-address.js';
import type { StoredResponse } from './response-seal.js';

/**
 * Longest body that is decoded, in bytes, as it is held until its client has read it: whoever made it may have coded a thousand times as
 * much. Eight times what is kept is as much as texts are coded to.
 */
const MAX_BYTES = 8 * 1024 * 1024;
/** So many at once, however many ask, and the addresses that do in turns: a decoder takes up to 16 MiB beside, and a thread that others need. */
const inTurn = atMost(2);

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

/** A response that was kept, for a client that may take another coding than the one that it was coded for. What cannot be decoded, or to more than 8 MiB, stays as it is. */
export async function acceptable(req: Request, stored: StoredResponse): Promise<StoredResponse> {
  const coding = String(stored.headers['content-encoding']).toLowerCase();
  const decode = DECODERS.get(coding);
  const isPart = stored.statusCode === 206;
  if (decode === undefined || isPart || stored.body.length === 0 || req.acceptsEncodings(coding) !== false)
    return stored;
  try {
    const body = await inTurn(networksAround(req), () => decode(stored.body, { maxOutputLength: MAX_BYTES }));
    const headers = Object.entries(stored.headers).filter(([name]) => !OF_CODED.has(name.toLowerCase()));
    return { ...stored, headers: Object.fromEntries(headers.map(([name, it]) => [name, ofDecoded(name, it)])), body };
  } catch {
    return stored;
  }
}

/** The widest first: who has many addresses has no more turns. */
function networksAround(req: Request): readonly string[] {
  const { client } = clientAddress(req);
  return client === undefined ? [] : [...networksOfClient(client)].reverse();
}

/** A strong ETag is of the very bytes. */
function ofDecoded<T>(name: string, value: T): T | string {
  const isStrong = name.toLowerCase() === 'etag' && typeof value === 'string' && value.startsWith('"');
  return isStrong ? `W/${value}` : value;
}
