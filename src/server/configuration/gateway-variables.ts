import { z } from 'zod';
import { quotaBytes, quotaCount } from '../../gateway/owners/quotas-option.js';
import { DEFAULT_QUOTAS, type Quotas } from '../../storage/owners/quotas.js';

/** What the environment says of strangers on the gateway. */
export interface GatewayConfiguration {
  /**
   * `QUOTA_PROJECTS`, `QUOTA_KEYS`, `QUOTA_WEBHOOKS`, `QUOTA_PROJECT_BYTES`: what one wallet may own. Default 20, 50, 20 and
   * 65,536.
   */
  readonly quotas: Quotas;
}

const count = z.coerce.number('a whole number').pipe(quotaCount);
const bytes = z.coerce.number('a whole number of bytes').pipe(quotaBytes);

/** The variables, each with its rule. */
export const GATEWAY_VARIABLES = {
  QUOTA_PROJECTS: count.default(DEFAULT_QUOTAS.projects),
  QUOTA_KEYS: count.default(DEFAULT_QUOTAS.keys),
  QUOTA_WEBHOOKS: count.default(DEFAULT_QUOTAS.webhooks),
  QUOTA_PROJECT_BYTES: bytes.default(DEFAULT_QUOTAS.projectBytes),
};

const variables = z.object(GATEWAY_VARIABLES);

/** What variables that were read mean. */
export function gatewayConfiguration(env: z.output<typeof variables>): GatewayConfiguration {
  return {
    quotas: {
      projects: env.QUOTA_PROJECTS,
      keys: env.QUOTA_KEYS,
      webhooks: env.QUOTA_WEBHOOKS,
      projectBytes: env.QUOTA_PROJECT_BYTES,
    },
  };
}
