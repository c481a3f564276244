import bs58 from 'bs58';
import { verifyEd25519 } from '../../lib/ed25519/ed25519.js';
import { addressBytes, isSignature } from '../../protocol/address.js';
import { decodeBase64 } from '../../protocol/wire/json.js';

/** Reads a signature in base58, the form of Solana: 64 bytes, or undefined. */
export function readBase58Signature(text: string): Uint8Array | undefined {
  return isSignature(text) ? bs58.decode(text) : undefined;
}

/** Reads a signature in base58 or, as browsers make it, base64: 64 bytes, or undefined. */
export function readSignature(text: string): Uint8Array | undefined {
  const inBase58 = readBase58Signature(text);
  if (inBase58 !== undefined) return inBase58;
  const bytes = decodeBase64(text);
  return bytes.ok && bytes.value.length === 64 ? bytes.value : undefined;
}

/** Whether a signature is that of a text by a wallet. */
export function isSignedBy(address: string, text: string, signature: Uint8Array): boolean {
  return verifyEd25519(addressBytes(address), Buffer.from(text), signature);
}
