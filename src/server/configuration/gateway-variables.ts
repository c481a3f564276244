import { z } from 'zod';
import type { GatewayOwners } from '../../gateway/owners/admission.js';
import { quotaBytes, quotaCount } from '../../gateway/owners/quotas-option.js';
import { MIN_SECRETS_KEY_BYTES } from '../../gateway/upstream-secrets/secret-box.js';
import { isAddress } from '../../protocol/address.js';
import { DEFAULT_QUOTAS, type Quotas } from '../../storage/owners/quotas.js';
import { secretList } from './secret-list.js';

/** What the environment says of strangers on the gateway. */
export interface GatewayConfiguration {
  /**
   * `QUOTA_PROJECTS`, `QUOTA_KEYS`, `QUOTA_WEBHOOKS`, `QUOTA_PROJECT_BYTES`: what one wallet may own, and `QUOTA_DAILY_CHANGES`: how
   * many changes it may make a day; `QUOTA_UNPAID_REQUESTS`: how many payments it may ask for a day that nobody makes. Default 20, 50, 20,
   * 65,536, 2,000 and 10,000.
   */
  readonly quotas: Quotas;
  /** `OPERATORS`: wallets that may use `/api/v1/operator`, separated by commas. Default: none. */
  readonly operators: readonly string[];
  /** `GATEWAY_OWNERS`: `open`, or wallets that may create projects. Default: `open` on the sandbox, elsewhere the operators. */
  readonly owners: GatewayOwners;
  /**
   * `SECRETS_KEY`, at least 32 bytes: encrypts the secrets that owners add to the calls of their upstreams, and the responses that are
   * kept of calls. Of several, separated by commas, the first encrypts, and all decrypt. Default: on the sandbox a file beside the
   * database; elsewhere none, and such secrets are refused.
   */
  readonly secretsKey: readonly string[];
}

const WALLETS = 'a list of wallets, base58, separated by commas';

const wallets = (rule: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((it) => it.trim()))
    .refine((all) => all.every(isAddress), rule);
// Of a union the fault that came furthest is told, which is that of the list: it names both forms.
const owners = z.union([z.literal('open'), wallets(`"open", or ${WALLETS}`)]);

const count = z.coerce.number('a whole number').pipe(quotaCount);
const bytes = z.coerce.number('a whole number of bytes').pipe(quotaBytes);

/** The variables, each with its rule. */
export const GATEWAY_VARIABLES = {
  OPERATORS: wallets(WALLETS).default([]),
  GATEWAY_OWNERS: owners.optional(),
  SECRETS_KEY: secretList(MIN_SECRETS_KEY_BYTES, 'openssl rand -base64 32').default([]),
  QUOTA_PROJECTS: count.default(DEFAULT_QUOTAS.projects),
  QUOTA_KEYS: count.default(DEFAULT_QUOTAS.keys),
  QUOTA_WEBHOOKS: count.default(DEFAULT_QUOTAS.webhooks),
  QUOTA_PROJECT_BYTES: bytes.default(DEFAULT_QUOTAS.projectBytes),
  QUOTA_DAILY_CHANGES: count.default(DEFAULT_QUOTAS.dailyChanges),
  QUOTA_UNPAID_REQUESTS: count.default(DEFAULT_QUOTAS.unpaidRequests),
};

const variables = z.object(GATEWAY_VARIABLES);

/**
 * What variables that were read mean.
 * @param isSandbox - whether the server has a chain of its own, where everybody is at home
 */
export function gatewayConfiguration(env: z.output<typeof variables>, isSandbox: boolean): GatewayConfiguration {
  return {
    operators: env.OPERATORS,
    secretsKey: env.SECRETS_KEY,
    owners: env.GATEWAY_OWNERS ?? (isSandbox ? 'open' : env.OPERATORS),
    quotas: {
      projects: env.QUOTA_PROJECTS,
      keys: env.QUOTA_KEYS,
      webhooks: env.QUOTA_WEBHOOKS,
      projectBytes: env.QUOTA_PROJECT_BYTES,
      dailyChanges: env.QUOTA_DAILY_CHANGES,
      unpaidRequests: env.QUOTA_UNPAID_REQUESTS,
    },
  };
}
