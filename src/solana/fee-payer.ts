import { inspect } from 'node:util';
import bs58 from 'bs58';
import { badOption } from '../errors.js';
import { addressOf } from '../protocol/address.js';
import { createEd25519Signer, type Ed25519Signer } from './ed25519.js';
import type { DecodedTransaction } from './transaction.js';

/** A secret key in one of the usual forms: web3.js `Keypair`, its 64 bytes, base58 text, or the JSON array of a key file. */
export type KeypairInput = { readonly secretKey: Uint8Array } | Uint8Array | string;

/** A key that pays network fees, and can do nothing else. */
export interface FeePayer {
  /** Base58. */
  readonly address: string;
  /**
   * Signs as fee payer: fills signature slot 0 and answers the transaction's bytes. Throws when account 0 is not this
   * key. The caller has applied the checks: this key is in no instruction.
   */
  sign(transaction: DecodedTransaction): Uint8Array;
}

/** Makes a fee payer. Throws `bad_option` when the text or bytes are no key pair; the message never shows them. */
export function createFeePayer(input: KeypairInput, where: string): FeePayer {
  const signer = readKeypair(input, where);
  const address = addressOf(signer.publicKey);
  const feePayer: FeePayer = {
    address,
    sign(transaction) {
      if (transaction.accounts[0] !== address) throw new Error('this key is not the fee payer of the transaction');
      const signed = Uint8Array.from(transaction.bytes);
      signed.set(signer.sign(transaction.message), transaction.signaturesOffset);
      return signed;
    },
  };
  return Object.defineProperty(feePayer, inspect.custom, { value: () => `FeePayer(${address})` });
}

function readKeypair(input: KeypairInput, where: string): Ed25519Signer {
  const secret = secretBytes(input);
  if (secret?.length !== 64) {
    throw badOption(
      where,
      'option "keypair" must be a web3.js Keypair, its 64 secret bytes, the base58 text of them, or the JSON array of a Solana key file',
      'keypair',
    );
  }
  const signer = createEd25519Signer(secret.subarray(0, 32));
  if (!Buffer.from(secret.subarray(32)).equals(signer.publicKey)) {
    throw badOption(where, 'option "keypair": the public half does not belong to the secret half', 'keypair');
  }
  return signer;
}

function secretBytes(input: KeypairInput): Uint8Array | undefined {
  if (input instanceof Uint8Array) return input;
  if (typeof input === 'object' && input !== null)
    return input.secretKey instanceof Uint8Array ? input.secretKey : undefined;
  if (typeof input !== 'string') return undefined;
  const text = input.trim();
  return text.startsWith('[') ? jsonBytes(text) : bs58.decodeUnsafe(text);
}

function jsonBytes(text: string): Uint8Array | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isBytes = Array.isArray(value) && value.every((it) => Number.isInteger(it) && it >= 0 && it <= 255);
    return isBytes ? Uint8Array.from(value) : undefined;
  } catch {
    return undefined;
  }
}
