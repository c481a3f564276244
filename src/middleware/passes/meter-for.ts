import type { Request } from 'express';
import { isClientGone } from '../../lib/http/connection-events.js';
import { createCreditMeter, type MeterParts } from './credit-meter.js';
import { endOutOfCredit } from './out-of-credit.js';
import { troubled } from './pass-troubles.js';
import type { CreditMeter, PassParts } from './pass-types.js';

/** A meter for a request, which ends its response when the credit is out. */
export function meterFor(
  { symbols, giveBack, refuse }: Pick<PassParts, 'symbols' | 'giveBack' | 'refuse'>,
  req: Request,
  taken: Pick<MeterParts, 'whose' | 'cost' | 'left' | 'isTakenBefore'>,
  adjust: MeterParts['adjust'],
): CreditMeter {
  const { res } = req;
  return createCreditMeter({
    ...{ ...taken, tokens: symbols, giveBack, adjust },
    isGone: () => res === undefined || res.writableEnded || isClientGone(res),
    endGone() {
      if (res?.writableEnded === false) res.end();
    },
    async end(because) {
      if (res !== undefined) await endOutOfCredit(req, res, troubled(because, 'credit').cause, refuse);
    },
  });
}
