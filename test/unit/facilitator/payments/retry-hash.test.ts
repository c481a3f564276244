import { isTooLateToRetry, retryHashOf, tooLateSince } from '../../../../src/facilitator/payments/retry-hash.js';
import type { PaymentRecord, PaymentState } from '../../../../src/storage/ledger/ledger.js';
import { newClaim } from '../../../contracts/ledger-samples.js';

const TEN_MINUTES = 600_000;
const CLAIMED_AT = 1_700_000_000_000;
const SENT: readonly PaymentState[] = ['broadcast', 'confirmed', 'served', 'failed', 'expired'];

const BY_ADDRESS = retryHashOf({ address: '192.0.2.7' });
const BY_SECRET = retryHashOf({ secret: 'nonce AbCdEfGhIjKlMnOpQrStUv_-' });

function record(state: PaymentState, retryHash?: string): PaymentRecord {
  const { lease: _lease, leaseMs: _leaseMs, ...payment } = newClaim();
  return { ...payment, state, claimedAt: CLAIMED_AT, ...(retryHash === undefined ? {} : { retryHash }) };
}

describe('the digest of a proof', () => {
  test('is the same for the same proof, and different for all others', () => {
    expect(retryHashOf({ address: '192.0.2.7' })).toBe(BY_ADDRESS);
    const proofs = [{ secret: 'a' }, { secret: 'b' }, { address: 'a' }, { address: 'b' }, { secret: '' }];
    expect(new Set(proofs.map(retryHashOf)).size).toBe(proofs.length);
  });

  test('of a secret is never that of an address, whatever the secret is', () => {
    for (const secret of ['192.0.2.7', 'address 192.0.2.7', BY_ADDRESS]) {
      expect(retryHashOf({ secret })).not.toBe(BY_ADDRESS);
      expect(isTooLateToRetry(record('confirmed', retryHashOf({ secret })), CLAIMED_AT + TEN_MINUTES + 1)).toBe(false);
    }
  });

  test('shows nothing of the proof', () => {
    expect([BY_ADDRESS, BY_SECRET].join()).not.toMatch(/192|AbCdEf/);
  });
});

describe('to come again', () => {
  test.each(SENT)('with an address is possible for ten minutes, for a payment that is %s', (state) => {
    const late = (ms: number) => isTooLateToRetry(record(state, BY_ADDRESS), CLAIMED_AT + ms);
    expect([late(0), late(TEN_MINUTES), late(TEN_MINUTES + 1)]).toEqual([false, false, true]);
  });

  test.each(SENT)('with a secret, or where nobody needs one, is never too late for one that is %s', (state) => {
    for (const retryHash of [BY_SECRET, undefined]) {
      expect(isTooLateToRetry(record(state, retryHash), CLAIMED_AT + 1_000 * TEN_MINUTES)).toBe(false);
    }
  });

  test('with a payment that was never sent is never too late', () => {
    for (const retryHash of [BY_ADDRESS, BY_SECRET, undefined]) {
      expect(isTooLateToRetry(record('claimed', retryHash), CLAIMED_AT + 1_000 * TEN_MINUTES)).toBe(false);
    }
  });
});

test('what was sent at a time is too late by an address ten minutes after it, by the clock of then, and by a secret never', () => {
  let now = CLAIMED_AT;
  const isTooLate = tooLateSince(() => now);
  const [byAddress, bySecret] = [record('claimed', BY_ADDRESS), record('claimed', BY_SECRET)];
  for (const [ms, late] of [
    [0, false],
    [TEN_MINUTES, false],
    [TEN_MINUTES + 1, true],
  ] as const) {
    now = CLAIMED_AT + ms;
    expect([isTooLate(byAddress, CLAIMED_AT), isTooLate(bySecret, CLAIMED_AT)]).toEqual([late, false]);
  }
});
