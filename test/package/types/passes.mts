import express from 'express';
import {
  type Adjustment,
  type AdjustResult,
  type ChargeCredit,
  chargeCredit,
  type Debit,
  type DebitResult,
  type Facilitator,
  type Identity,
  type NewPass,
  type Offer,
  type Pass,
  type PassClaims,
  type PassFault,
  type PassKind,
  type PassOption,
  type PassQuery,
  type PassReading,
  type PassStore,
  type PassTokens,
  type RequestPass,
  type RequestPayment,
  requirePayment,
} from 'tollhouse';
import { holds, type Same } from './exact.mjs';

declare const facilitator: Facilitator;
declare const identity: Identity;
declare const passes: PassStore;
declare const tokens: PassTokens;

const hundred: PassOption = { uses: 100, group: 'magazine', cookie: true };
const offers: readonly Offer[] = [{ price: '$1', pass: { for: '30d' } }];
const payTo = 'the wallet of the seller';

express().get('/a', requirePayment({ facilitator, identity, payTo, price: '$0.50', pass: hundred }));
express().get('/b', requirePayment({ facilitator, identity, payTo, price: ['$0.01', ...offers] }));
// @ts-expect-error how many is a number
express().get('/c', requirePayment({ facilitator, payTo, price: '$0.50', pass: { uses: '100' } }));

const credit = { credit: true, cost: ['$0.001', { amount: 1_000n, asset: 'USDT' }], stream: true };
const metered = requirePayment({ facilitator, payTo, price: ['$1', '1 USDT'], settle: 'before', pass: credit });
express().get('/d', metered, async (req, res) => {
  const goesOn: boolean = await chargeCredit(req, '0.0004 USDC');
  if (goesOn && (await req.payment?.charge?.(400n)) !== false) res.send(req.pass?.mint);
});
// @ts-expect-error what it cost is a price or atomic units
chargeCredit(express().request, 0.0004);
holds<Same<RequestPayment['charge'], ChargeCredit | undefined>>();
holds<Same<RequestPass['charge'], ChargeCredit | undefined>>();
holds<Same<Parameters<PassStore['adjust']>[0], Adjustment>>();

holds<Same<PassKind, 'uses' | 'until' | 'credit'>>();
holds<Same<PassFault, 'unknown' | 'revoked' | 'ended' | 'used_up'>>();
holds<Same<Parameters<PassStore['open']>[0], NewPass>>();
holds<Same<Parameters<PassStore['findFor']>[0], PassQuery>>();
holds<Same<Parameters<PassStore['debit']>[0], Debit>>();

const taken: DebitResult | Promise<DebitResult> = passes.debit({ passId: 'pass_1', requestId: 'req_1', amount: 1n });
const pass: Promise<Pass | undefined> = passes.find('pass_1');

async function readClaims(): Promise<PassClaims | undefined> {
  const reading: PassReading = await tokens.read('a token');
  return reading.ok ? reading.claims : undefined;
}

const adjusted: Promise<AdjustResult> = passes.adjust({ passId: 'pass_1', requestId: 'req_1', amount: 0n });

export { adjusted, pass, readClaims, taken };
