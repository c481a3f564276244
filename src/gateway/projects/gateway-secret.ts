import { randomBytes } from 'node:crypto';
import type { ProjectRecord } from '../../storage/projects/projects.js';

const SECRET_BYTES = 32;
/** How long an upstream has to learn a new secret; that of service keys is the same. */
const OVERLAP_MS = 24 * 3_600_000;

/** A new secret by which an upstream knows our calls: `gws_` and base64url of 32 random bytes. */
export function newGatewaySecret(): string {
  return `gws_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** The fields of a project whose secret is renewed; the one before stays good for a day. */
export function renewedSecret({ secret }: ProjectRecord, now: number) {
  return { secret: newGatewaySecret(), previousSecret: secret, previousSecretUntil: now + OVERLAP_MS };
}

/** The secrets that a call is signed with, the newest first: two while an upstream may not know the new one yet. */
export function signingSecrets(
  { secret, previousSecret, previousSecretUntil = 0 }: ProjectRecord,
  now: number,
): readonly string[] {
  return previousSecret === undefined || now >= previousSecretUntil ? [secret] : [secret, previousSecret];
}
