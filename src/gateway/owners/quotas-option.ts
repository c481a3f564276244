import { z } from 'zod';
import { DEFAULT_QUOTAS } from '../../storage/owners/quotas.js';

const MAX_COUNT = 1_000_000;
/** A body of a request has at most so many bytes. */
const MAX_BYTES = 102_400;
const MIN_BYTES = 1_024;

const COUNT = `a whole number, 0 to ${MAX_COUNT}`;
const BYTES = `a whole number of bytes, ${MIN_BYTES} to ${MAX_BYTES}`;

/** How many of something a wallet may own, or do. */
export const quotaCount = z.int(COUNT).min(0, COUNT).max(MAX_COUNT, COUNT);
/** How long a project may be. */
export const quotaBytes = z.int(BYTES).min(MIN_BYTES, BYTES).max(MAX_BYTES, BYTES);

/** Schema of the option `quotas` of `createGateway`. */
export const quotasOption = z
  .strictObject(
    {
      projects: quotaCount.default(DEFAULT_QUOTAS.projects),
      keys: quotaCount.default(DEFAULT_QUOTAS.keys),
      webhooks: quotaCount.default(DEFAULT_QUOTAS.webhooks),
      projectBytes: quotaBytes.default(DEFAULT_QUOTAS.projectBytes),
      dailyChanges: quotaCount.default(DEFAULT_QUOTAS.dailyChanges),
      unpaidRequests: quotaCount.default(DEFAULT_QUOTAS.unpaidRequests),
    },
    'an object such as { projects: 20, keys: 50, webhooks: 20, projectBytes: 65536, dailyChanges: 2000, unpaidRequests: 10000 }',
  )
  .prefault({});
