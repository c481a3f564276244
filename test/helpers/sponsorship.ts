import { createFeeLimit } from '../../src/facilitator/sponsorship/fee-limit.js';
import { createMoneyInFlight } from '../../src/facilitator/sponsorship/money-in-flight.js';
import { createPayerStanding } from '../../src/facilitator/sponsorship/payer-standing.js';
import { createSendWindow } from '../../src/facilitator/sponsorship/send-window.js';
import { createSponsorship, type SponsorshipParts } from '../../src/facilitator/sponsorship/sponsorship.js';

/** What keeps count of the risk of a fee payer on devnet, in this process's memory. */
export function newSponsorship(
  rpc: SponsorshipParts['rpc'],
  maxFeeLamportsPerHour: bigint,
  now: () => number = Date.now,
  pause = async () => {},
  window = createSendWindow(),
) {
  const counted = { network: 'solana-devnet', counters: undefined, now } as const;
  const feeLimit = createFeeLimit({ ...counted, maxFeeLamportsPerHour, onLimitReached: () => undefined });
  const standing = createPayerStanding(counted);
  const flight = createMoneyInFlight();
  return {
    feeLimit,
    flight,
    standing,
    sponsorship: createSponsorship({ rpc, feeLimit, standing, flight, window, pause }),
  };
}
