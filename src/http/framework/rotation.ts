import { z } from 'zod';
import { OVERLAP_MS } from '../../lib/secret-overlap.js';

const SECOND_MS = 1_000;
const MAX_SECONDS = 30 * 86_400;
const WANTED = `must be a whole number of seconds from 0 to ${MAX_SECONDS.toLocaleString('en')}`;

/** Body of whatever renews a secret. Without one the secret before is good for a day. */
export const rotationBody = z.strictObject(
  {
    expire_old_in: z
      .int(WANTED)
      .min(0, WANTED)
      .max(MAX_SECONDS, WANTED)
      .default(OVERLAP_MS / SECOND_MS)
      .describe(
        'How much longer the secret before is good, in seconds. 0 ends it: at once here, everywhere within 30 s.',
      ),
  },
  'must be a JSON object',
);

/** The same in milliseconds. */
export function overlapOf({ expire_old_in: seconds }: z.output<typeof rotationBody>): number {
  return seconds * SECOND_MS;
}
