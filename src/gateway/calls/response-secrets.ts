import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';

/** What a response of a call is sealed with in the place of a secret that tells whose it is: the first seals, and all open. */
export type ResponseSecrets = (secret: string) => readonly string[];

const USE = 'tollhouse kept responses';
const KEY_BYTES = 32;

/**
 * Mixes the keys that the database does not hold into what responses are sealed with: an `Idempotency-Key` may be one that can be
 * guessed, and not every payment brings a secret. What was sealed before there was a key is opened as well.
 * @param secretsKeys - as they are given to `createGateway`; without any a secret stands for itself
 */
export function createResponseSecrets(secretsKeys: readonly string[]): ResponseSecrets {
  const keys = secretsKeys.map((it) => createSecretKey(Buffer.from(hkdfSync('sha256', it, '', USE, KEY_BYTES))));
  return (secret) => [...keys.map((key) => createHmac('sha256', key).update(secret).digest('base64url')), secret];
}
