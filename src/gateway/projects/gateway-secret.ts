import { randomBytes } from 'node:crypto';
import { endOfOldSecret } from '../../lib/secret-overlap.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

const SECRET_BYTES = 32;

/** A new secret by which an upstream knows our calls: `gws_` and base64url of 32 random bytes. */
export function newGatewaySecret(): string {
  return `gws_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/**
 * The fields of a project whose secret is renewed.
 * @param overlapMs - how much longer calls are signed with the one before as well, in milliseconds; default a day
 */
export function renewedSecret({ secret }: ProjectRecord, now: number, overlapMs?: number) {
  return { secret: newGatewaySecret(), previousSecret: secret, previousSecretUntil: endOfOldSecret(now, overlapMs) };
}

/** The secrets that a call is signed with, the newest first: two while an upstream may not know the new one yet. */
export function signingSecrets(
  { secret, previousSecret, previousSecretUntil = 0 }: ProjectRecord,
  now: number,
): readonly string[] {
  return previousSecret === undefined || now >= previousSecretUntil ? [secret] : [secret, previousSecret];
}
