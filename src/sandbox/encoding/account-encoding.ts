import bs58 from 'bs58';
import { invalidParams, JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';
import type { RuntimeAccount } from '../runtime/runtime.js';
import type { Config } from './params.js';
import { parseAccount, type ReadAccount } from './parse-account.js';

const MAX_BASE58_BYTES = 128;
const RENT_EPOCH_NEVER = 2n ** 64n - 1n;

type Encoder = (data: Buffer) => unknown;

const ENCODERS: Readonly<Record<string, Encoder>> = {
  binary: (data) => base58(data),
  base58: (data) => [base58(data), 'base58'],
  base64: (data) => [data.toString('base64'), 'base64'],
};

/**
 * An account as RPC nodes write it, null for one that does not exist.
 *
 * @param address - where the account is
 * @param config - the call's configuration; `encoding` and `dataSlice` count
 * @param read - reads other accounts at the same commitment: a parsed token account names its mint's decimals
 */
export function encodeAccount(address: string, config: Config, read: ReadAccount): unknown {
  const state = read(address);
  if (state === null) {
    return null;
  }
  return {
    data: encodeData(state, config, read),
    executable: state.executable,
    lamports: state.lamports,
    owner: state.owner,
    rentEpoch: RENT_EPOCH_NEVER,
    space: state.data.length,
  };
}

function encodeData(state: RuntimeAccount, config: Config, read: ReadAccount): unknown {
  const encoding = config['encoding'] ?? 'binary';
  const data = Buffer.from(state.data);
  if (encoding === 'jsonParsed') {
    return parseAccount(state, read) ?? ENCODERS['base64']?.(data);
  }
  const encoder = typeof encoding === 'string' && Object.hasOwn(ENCODERS, encoding) ? ENCODERS[encoding] : undefined;
  if (encoder === undefined) {
    throw invalidParams(`unknown encoding ${JSON.stringify(encoding)}, expected base58, base64 or jsonParsed`);
  }
  return encoder(slice(data, config['dataSlice']));
}

function slice(data: Buffer, range: unknown): Buffer {
  if (range === undefined || range === null) {
    return data;
  }
  const { offset, length } = typeof range === 'object' ? { offset: 0, length: 0, ...range } : {};
  if (typeof offset !== 'number' || typeof length !== 'number') {
    throw invalidParams('dataSlice must be { offset, length }');
  }
  return data.subarray(offset, offset + length);
}

function base58(data: Buffer): string {
  if (data.length > MAX_BASE58_BYTES) {
    const detail = `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes, please use Base64 encoding.`;
    throw new JsonRpcFault(RPC_CODES.invalidRequest, detail);
  }
  return bs58.encode(data);
}
