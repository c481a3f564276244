import { z } from 'zod';
import { address, networkId } from '../framework/fields.js';
import { versionField } from '../framework/service-info.js';
import { CHECK_STATES, PART_NAMES, PART_STATES } from './readiness-parts.js';

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

const check = z.enum(CHECK_STATES);
const part = z.object({
  part: z.enum(PART_NAMES),
  network: networkId.optional().describe('Left out where all networks share the part.'),
  state: z
    .enum(PART_STATES)
    .describe('`failed` keeps payments from being taken, `degraded` does not yet, `unknown` could not be looked at.'),
  reason: z.string().optional().describe('What is wrong; left out when nothing is.'),
  since: z.iso.datetime().describe('When it was first seen in this state.'),
});
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
    disk: check.optional(),
    clock: check.optional(),
    facilitator: check.optional(),
    recipients: check
      .optional()
      .describe('Whether those who are paid by gates here can receive; left out while nothing is known.'),
  }),
  networks: z
    .partialRecord(networkId, health)
    .describe('How each network is. It is ready while one of them serves; `checks` tells what is wrong on any.'),
  parts: z.array(part).describe('Everything that taking payments depends on, one by one.'),
  setup: z
    .object({ checked_at: z.iso.datetime(), findings: z.array(finding) })
    .optional()
    .describe('What the last look at the set-up found; the particulars are told to the operator.'),
});
