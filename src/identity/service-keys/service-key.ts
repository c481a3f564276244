import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { KeyMode } from '../../storage/keys/service-keys.js';

/** Random bytes, as many as asked for. */
export type RandomBytes = (size: number) => Uint8Array;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = ALPHABET.length;
/** The highest multiple of 62 that a byte reaches: bytes from there on would favour some characters. */
const FAIR_BYTES = 256 - (256 % BASE);
const PUBLIC_LENGTH = 22;
/** 43 characters hold 256 bits. */
const SECRET_LENGTH = 43;
const CHECK_LENGTH = 6;

const PUBLIC = new RegExp(`^toll_pk_(?:live|test)_[0-9A-Za-z]{${PUBLIC_LENGTH}}$`);
const SECRET = new RegExp(`^(toll_sk_(?:live|test)_[0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECK_LENGTH}})$`);

/** A new public key: `toll_pk_live_` and 22 base62 characters. */
export function newPublicKey(mode: KeyMode, random: RandomBytes): string {
  return `toll_pk_${mode}_${randomText(PUBLIC_LENGTH, random)}`;
}

/** A new secret: `toll_sk_live_`, 43 base62 characters, and the CRC32 of all that as 6 more. */
export function newSecret(mode: KeyMode, random: RandomBytes): string {
  const body = `toll_sk_${mode}_${randomText(SECRET_LENGTH, random)}`;
  return body + checkSum(body);
}

/** Whether a text has the form of a public key. */
export function isPublicKey(text: string): boolean {
  return PUBLIC.test(text);
}

/** Whether a text has the form of a secret and its check sum is right: a slip of the pen is found without a look-up. */
export function isSecret(text: string): boolean {
  const [, body, check] = SECRET.exec(text) ?? [];
  return body !== undefined && check === checkSum(body);
}

/** SHA-256 of a secret, base64url: what is kept of it. It has 256 random bits, so that nothing slower is called for. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Whether two hashes are the same, in a time that does not tell where they differ. */
export function sameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, 'latin1'), Buffer.from(other, 'latin1')];
  return a.length === b.length && timingSafeEqual(a, b);
}

function checkSum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let n = 0; n < CHECK_LENGTH; n += 1) {
    digits = ALPHABET.charAt(rest % BASE) + digits;
    rest = Math.floor(rest / BASE);
  }
  return digits;
}

function randomText(length: number, random: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length - text.length)) if (byte < FAIR_BYTES) text += ALPHABET.charAt(byte % BASE);
  }
  return text;
}
