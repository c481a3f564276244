import type { z } from 'zod';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { ResponseBody } from '../framework/fields.js';
import type { passFields } from './pass-schemas.js';

type Pass = Awaited<ReturnType<EmbeddedFacilitator['passes']['list']>>[number];

/** A pass as its wallet sees it. */
export function passView(pass: Pass): ResponseBody<z.ZodObject<typeof passFields>> {
  const { id, paymentId, wallet, site, scope, kind, mint = null, bought, left, openedAt, endsAt, over } = pass;
  return {
    ...{ id, payment_id: paymentId, wallet, site, covers: scope, kind, mint },
    bought: bought === undefined ? null : String(bought),
    left: left === undefined ? null : String(left),
    opened_at: new Date(openedAt).toISOString(),
    ends_at: endsAt === undefined ? null : new Date(endsAt).toISOString(),
    status: over === undefined || over === 'unknown' ? 'active' : over,
  };
}
