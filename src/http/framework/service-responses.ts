import { z } from 'zod';
import { address, networkId } from './response.js';

const paths = z.array(z.string());
const version = z.string().describe('Version of the service (semantic versioning).');
const health = z.enum(['active', 'degraded', 'down']);

/** Answer of `GET /`. */
export const serviceResponse = z.object({
  service: z.string(),
  version,
  features: z.array(z.string()),
  endpoints: z.object({ core: paths, facilitation: paths, token_gateway: paths }),
});

/** Answer of `GET /health`. */
export const healthResponse = z.object({
  status: z.enum(['healthy', 'degraded']),
  version,
  networks: z.partialRecord(networkId, health),
  facilitation: z.object({ status: z.enum(['enabled', 'disabled']), wallet: address }),
});

/** Answer of `GET /wallet-status`. */
export const walletStatusResponse = z.object({
  wallet: address,
  balances: z.record(z.string(), z.number().min(0)).describe('By symbol, in whole tokens.'),
  operational: z.boolean().describe('Whether the wallet can pay the fees of a hundred settlements more.'),
});

/** Networks in the response of `GET /supported`. */
export const networksResponse = z.partialRecord(
  networkId,
  z.object({
    name: z.string(),
    type: z.literal('svm'),
    tokens: z.array(z.string()),
    block_time: z.string().optional(),
    finality: z.string().optional(),
  }),
);

/** Answer of `GET /healthz`. */
export const aliveResponse = z.object({ status: z.literal('ok') });

const check = z.enum(['ok', 'low', 'empty', 'unreachable', 'wrong_network', 'limit_reached', 'unpayable']);
const finding = z.object({ code: z.string(), severity: z.enum(['error', 'warning']) });

/** Answer of `GET /readyz` while it is ready. */
export const readyResponse = z.object({
  status: z.literal('ready'),
  checks: z.object({
    rpc: check,
    fee_payer: check,
    store: check,
    counters: check,
    limits: check,
    facilitator: check.optional(),
    recipients: check
      .optional()
      .describe('Whether those who are paid by gates here can receive; left out while nothing is known.'),
  }),
  setup: z
    .object({ checked_at: z.iso.datetime(), findings: z.array(finding) })
    .optional()
    .describe('What the last look at the set-up found; the particulars are told to the operator.'),
});
