import express from 'express';
import {
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

holds<Same<PassKind, 'uses' | 'until' | 'credit'>>();
holds<Same<PassFault, 'unknown' | 'revoked' | 'ended' | 'used_up'>>();
holds<Same<Parameters<PassStore['open']>[0], NewPass>>();
holds<Same<Parameters<PassStore['findFor']>[0], PassQuery>>();
holds<Same<Parameters<PassStore['debit']>[0], Debit>>();

const taken: Promise<DebitResult> = passes.debit({ passId: 'pass_1', requestId: 'req_1', amount: 1n });
const pass: Promise<Pass | undefined> = passes.find('pass_1');

async function readClaims(): Promise<PassClaims | undefined> {
  const reading: PassReading = await tokens.read('a token');
  return reading.ok ? reading.claims : undefined;
}

export { pass, readClaims, taken };
