import type { Facilitator } from '../facilitator/types.js';
import { createSecretRing, type KeyRing } from './tokens/key-ring.js';
import { createPassTokens } from './tokens/pass-token.js';
import type { PassTokens } from './types.js';

const shared = new WeakMap<Facilitator, PassTokens>();

/**
 * The tokens of passes that all gates on a facilitator share where no identity signs them: with a secret that is kept with the
 * passes, the same for all instances.
 */
export function passTokensOf(facilitator: Facilitator): PassTokens {
  const tokens = shared.get(facilitator) ?? createPassTokens({ ring: ringOf(facilitator), now: Date.now });
  shared.set(facilitator, tokens);
  return tokens;
}

function ringOf({ passes }: Facilitator): () => Promise<KeyRing> {
  let ring: Promise<KeyRing> | undefined;
  return () => {
    ring ??= passes.tokenSecret().then(
      (secret) => createSecretRing('passes', [secret]),
      (error: unknown) => {
        // The next one asks again.
        ring = undefined;
        throw error;
      },
    );
    return ring;
  };
}
