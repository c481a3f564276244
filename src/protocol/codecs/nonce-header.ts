import { randomPart } from '../../lib/ids.js';

const NONCE_BYTES = 18;

/** A secret for one 402: 144 random bits, as 24 characters of URL-safe base64. */
export function newNonce(): string {
  return randomPart(NONCE_BYTES).toString('base64url');
}

/** Nobody else can write this text into what is written around it. */
const SLOT = newNonce();

/**
 * Prepares a header, base64 of JSON, that differs from time to time in its nonce only. Where the nonce stands, fixed
 * characters are put before it, so that its three times eight characters are four times eight of the base64 whatever they
 * are, and only those are encoded anew.
 * @param write - makes the value with a text in the places of the nonce
 * @returns the header for a nonce of {@link newNonce}
 */
export function headerWithNonce(write: (nonce: string) => object): (nonce: string) => string {
  let bytes = Buffer.from(JSON.stringify(write(SLOT)));
  const places: number[] = [];
  for (let at = bytes.indexOf(SLOT); at !== -1; at = bytes.indexOf(SLOT, at + SLOT.length)) {
    const padding = Buffer.from('n'.repeat((3 - (at % 3)) % 3));
    bytes = Buffer.concat([bytes.subarray(0, at), padding, bytes.subarray(at)]);
    at += padding.length;
    places.push(at);
  }
  const around = [0, ...places.map((at) => at + SLOT.length)].map((from, index) =>
    bytes.toString('base64', from, places[index] ?? bytes.length),
  );
  return (nonce) => around.join(Buffer.from(nonce, 'latin1').toString('base64'));
}
