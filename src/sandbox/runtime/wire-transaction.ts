import { createHash } from 'node:crypto';
import { VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { verifyEd25519 } from '../../lib/ed25519/ed25519.js';
import { addressBytes, addressOf } from '../../protocol/address.js';
import { invalidParams, JsonRpcFault, RPC_CODES } from './rpc-error.js';

/** Bytes of a transaction that fits a packet; the length of their base58 and base64 text. */
const MAX_BYTES = 1232;
const MAX_TEXT = { base58: 1683, base64: 1644 } as const;

/** A transaction that could be decoded and whose indexes are in bounds. */
export interface WireTransaction {
  /** The transaction again, in its one canonical encoding. */
  readonly bytes: Uint8Array;
  readonly messageBytes: Uint8Array;
  /** SHA-256 of the message, base64: what the chain tells duplicates by. */
  readonly messageHash: string;
  /** The first signature, base58: the transaction's id. */
  readonly signature: string;
  readonly parsed: VersionedTransaction;
  /** Addresses in the message itself, without those from look-up tables. */
  readonly staticKeys: readonly string[];
}

/**
 * Decodes the text of a transaction.
 *
 * @param text - the wire transaction as base58 or base64
 * @param encoding - how `text` is encoded
 * @throws RpcError `-32602` as a node answers it, when the bytes are no transaction
 */
export function decodeWireTransaction(text: unknown, encoding: 'base58' | 'base64'): WireTransaction {
  if (typeof text !== 'string') {
    throw invalidParams('the first parameter must be an encoded transaction');
  }
  const bytes = decodeText(text, encoding);
  return parseWireTransaction(bytes);
}

/** Decodes the bytes of a transaction; see {@link decodeWireTransaction}. */
export function parseWireTransaction(bytes: Uint8Array): WireTransaction {
  const parsed = parse(bytes);
  const { message } = parsed;
  const messageBytes = message.serialize();
  checkIndexes(parsed);
  return {
    bytes: Uint8Array.from(
      Buffer.concat([Uint8Array.of(parsed.signatures.length), ...parsed.signatures, messageBytes]),
    ),
    messageBytes,
    messageHash: createHash('sha256').update(messageBytes).digest('base64'),
    signature: bs58.encode(parsed.signatures[0] ?? new Uint8Array()),
    parsed,
    staticKeys: message.staticAccountKeys.map((key) => addressOf(key.toBytes())),
  };
}

function decodeText(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  if (text.length > MAX_TEXT[encoding]) {
    const limits = `max: encoded/raw ${MAX_TEXT[encoding]}/${MAX_BYTES}`;
    throw new JsonRpcFault(
      RPC_CODES.invalidParams,
      `${encoding} encoded transaction too large: ${text.length} bytes (${limits})`,
    );
  }
  const bytes = encoding === 'base58' ? bs58.decodeUnsafe(text) : Buffer.from(text, 'base64');
  if (bytes === undefined || (encoding === 'base64' && !/^[A-Za-z0-9+/]+={0,2}$/.test(text))) {
    throw new JsonRpcFault(RPC_CODES.invalidParams, `invalid ${encoding} encoding`);
  }
  if (bytes.length > MAX_BYTES) {
    const detail = `decoded transaction too large: ${bytes.length} bytes (max: ${MAX_BYTES} bytes)`;
    throw new JsonRpcFault(RPC_CODES.invalidParams, detail);
  }
  return bytes;
}

function parse(bytes: Uint8Array): VersionedTransaction {
  try {
    return VersionedTransaction.deserialize(bytes);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new JsonRpcFault(RPC_CODES.invalidParams, `failed to deserialize transaction: ${reason}`);
  }
}

/** The runtime trusts these bounds and would end the process on bytes that break them. */
function checkIndexes({ signatures, message }: VersionedTransaction): void {
  const { header, staticAccountKeys, addressTableLookups } = message;
  const total =
    staticAccountKeys.length +
    addressTableLookups.reduce((sum, table) => sum + table.readonlyIndexes.length + table.writableIndexes.length, 0);
  const signed = header.numRequiredSignatures;
  const sane =
    signed > 0 &&
    signatures.length === signed &&
    header.numReadonlySignedAccounts < signed &&
    signed + header.numReadonlyUnsignedAccounts <= staticAccountKeys.length &&
    total <= 256 &&
    message.compiledInstructions.every(
      ({ programIdIndex, accountKeyIndexes }) =>
        programIdIndex > 0 &&
        programIdIndex < staticAccountKeys.length &&
        accountKeyIndexes.every((index) => index < total),
    );
  if (!sane) {
    throw new JsonRpcFault(
      RPC_CODES.invalidParams,
      'invalid transaction: Transaction failed to sanitize accounts offsets correctly',
    );
  }
}

/** Whether every signature the message asks for is there and right. */
export function hasValidSignatures({ parsed, messageBytes, staticKeys }: WireTransaction): boolean {
  return parsed.signatures.every((signature, index) => {
    const signer = staticKeys[index];
    return signer !== undefined && verifyEd25519(addressBytes(signer), messageBytes, signature);
  });
}
