import { z } from 'zod';
import { address, networkId } from '../framework/fields.js';
import { versionField } from '../framework/service-info.js';

const health = z.enum(['active', 'degraded', 'down']);

/** Response of `GET /health`. */
export const healthResponse = z.object({
  status: z.enum(['healthy', 'degraded']),
  version: versionField,
  networks: z.partialRecord(networkId, health),
  facilitation: z.object({ status: z.enum(['enabled', 'disabled']), wallet: address }),
});

/** Response of `GET /wallet-status`. */
export const walletStatusResponse = z.object({
  wallet: address,
  balances: z.record(z.string(), z.number().min(0)).describe('By symbol, in whole tokens.'),
  operational: z.boolean().describe('Whether the wallet can pay the fees of a hundred settlements more.'),
});

/** Response of `GET /healthz`. */
export const aliveResponse = z.object({ status: z.literal('ok') });

const check = z.enum(['ok', 'low', 'empty', 'unreachable', 'wrong_network', 'limit_reached', 'unpayable']);
const finding = z.object({ code: z.string(), severity: z.enum(['error', 'warning']) });

/** Response of `GET /readyz` while it is ready. */
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
  networks: z
    .partialRecord(networkId, health)
    .describe('How each network is. It is ready while one of them serves; `checks` tells what is wrong on any.'),
  setup: z
    .object({ checked_at: z.iso.datetime(), findings: z.array(finding) })
    .optional()
    .describe('What the last look at the set-up found; the particulars are told to the operator.'),
});
