import { generateKeyPairSync } from 'node:crypto';
import bs58 from 'bs58';
import { badOption } from '../errors/errors.js';
import { createEd25519Signer, type Ed25519Signer } from '../lib/ed25519/ed25519.js';
import { addressOf } from '../protocol/address.js';

/** A secret key in one of the usual forms: web3.js `Keypair`, its 64 bytes, base58 text, or the JSON array of a key file. */
export type KeypairInput = { readonly secretKey: Uint8Array } | Uint8Array | string;

/** Whoever pays again and again brings the same `Keypair`, and OpenSSL takes a millisecond to read one. */
const known = new WeakMap<object, Ed25519Signer>();

/**
 * Reads a key pair. Throws `bad_option` when the text or bytes are none; the message never shows them.
 * @param option - name of the option, for the message
 */
export function readKeypair(input: KeypairInput, where: string, option = 'keypair'): Ed25519Signer {
  if (typeof input === 'string' || input instanceof Uint8Array) return readSecret(input, where, option);
  const signer = known.get(Object(input)) ?? readSecret(input, where, option);
  known.set(input, signer);
  return signer;
}

function readSecret(input: KeypairInput, where: string, option: string): Ed25519Signer {
  const secret = secretBytes(input);
  if (secret?.length !== 64) throw badOption(where, `option "${option}" ${wrongKey(input, secret)}`, option);
  const signer = createEd25519Signer(secret.subarray(0, 32));
  const belongs = Buffer.from(secret.subarray(32)).equals(signer.publicKey);
  // What was made of a text is ours to wipe; bytes are the giver's.
  if (typeof input === 'string') secret.fill(0);
  if (!belongs) {
    throw badOption(where, `option "${option}": the public half does not belong to the secret half`, option);
  }
  return signer;
}

/** A new key: its address, base58, and the text of its file. */
export function newKeyFile(): { readonly address: string; readonly text: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  const publicKey = Buffer.from(x, 'base64url');
  return {
    address: addressOf(publicKey),
    text: `${JSON.stringify([...Buffer.from(d, 'base64url'), ...publicKey])}\n`,
  };
}

const FORMS = 'a web3.js Keypair, its 64 secret bytes, the base58 text of them, or the JSON array of a Solana key file';

/** What is wrong with something that is no key pair. It may be most of one: nothing of it is shown. */
function wrongKey(input: KeypairInput, bytes: Uint8Array | undefined): string {
  const text = typeof input === 'string' ? input.trim() : undefined;
  if (text === '') return `is empty; it must be ${FORMS}`;
  const isObject = typeof Reflect.get(Object(input), 'toBase58') === 'function';
  if (isObject || bytes?.length === 32)
    return `is an address, or another 32 bytes, and must be the secret key: ${FORMS}`;
  if ([input].flat().some((it) => typeof it === 'number'))
    return 'is a list of numbers: pass Uint8Array.from(list), or the text of the key file as it is';
  const isPath = text !== undefined && /^(~|\.{0,2}[\\/]|[a-z]:[\\/])|\.(json|key|txt|pem)$/i.test(text);
  if (isPath) return `looks like the path of a file; pass what is in it: readFileSync(path, 'utf8')`;
  return `must be ${FORMS}`;
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
