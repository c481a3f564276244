import type { z } from 'zod';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import { isAllowance } from '../../facilitator/payments/allowance.js';
import { type ResponseBody, timeText } from '../framework/fields.js';
import type { passFields } from './pass-schemas.js';

type Pass = Awaited<ReturnType<EmbeddedFacilitator['passes']['list']>>[number];

/** A pass as its wallet sees it. */
export function passView(pass: Pass): ResponseBody<z.ZodObject<typeof passFields>> {
  const { id, paymentId, wallet, site, scope, kind, mint = null, bought, left, openedAt, over } = pass;
  const { endsAt, graceMs = 0 } = pass;
  return {
    ...{ id, payment_id: isAllowance(paymentId) ? null : paymentId, wallet, site, covers: scope, kind, mint },
    bought: bought === undefined ? null : String(bought),
    left: left === undefined ? null : String(left),
    opened_at: timeText(openedAt),
    ends_at: endsAt === undefined ? null : timeText(endsAt - graceMs),
    renewable_until: endsAt === undefined || pass.graceMs === undefined ? null : timeText(endsAt),
    status: over === undefined || over === 'unknown' ? 'active' : over,
  };
}
