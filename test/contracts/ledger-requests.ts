import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../src/storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../src/storage/ledger/payment-request.js';
import { LEASE_MS, newClaim, rivalOf, TERMS } from './ledger-samples.js';

/** A payment request that nobody has heard of. */
export function newRequest(change: Partial<PaymentRequestRecord> = {}): PaymentRequestRecord {
  return {
    id: `pay_${randomUUID()}`,
    network: 'solana-devnet',
    token: {
      symbol: 'USDC',
      mint: TERMS.asset,
      decimals: 6,
      program: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    },
    amount: TERMS.amount,
    payTo: TERMS.payTo,
    legs: [{ recipient: TERMS.payTo, amount: TERMS.amount }],
    reference: '6dRnJ9Fj8uzBfS9iUp3wVkG4pGQ3m8m6n1b7C6m3zE4f',
    memo: 'order 7 – ü',
    metadata: { order: '7', note: 'ü€😀' },
    createdAt: 1_700_000_000_000,
    expiresAt: 1_700_000_600_000,
    ...change,
  };
}

/**
 * What every ledger must do with payment requests.
 * @param advance - lets so many milliseconds pass on the ledger's clock
 */
export function paymentRequestsContract(current: () => Ledger, advance: (milliseconds: number) => Promise<void>): void {
  describe('payment requests', () => {
    async function claimed() {
      const claim = newClaim();
      await current().claim(claim);
      return claim;
    }

    test('are kept exactly', async () => {
      const full = newRequest({ payer: TERMS.payTo });
      const { memo: _memo, metadata: _metadata, ...bare } = newRequest();
      await current().savePaymentRequest(full);
      await current().savePaymentRequest(bare);

      expect(await current().findPaymentRequest(full.id)).toEqual(full);
      expect(await current().findPaymentRequest(bare.id)).toEqual(bare);
      expect(await current().findPaymentRequest('pay_unknown')).toBeUndefined();
    });

    test('are found by their reference among the accounts of a transaction', async () => {
      const [one, other] = [newRequest({ reference: randomUUID() }), newRequest({ reference: randomUUID() })];
      await current().savePaymentRequest(one);
      await current().savePaymentRequest(other);

      expect(await current().findPaymentRequestByReference(['a', other.reference, 'b'])).toEqual(other);
      expect(await current().findPaymentRequestByReference(['a', 'b'])).toBeUndefined();
      expect(await current().findPaymentRequestByReference([])).toBeUndefined();
      // As many accounts as a transaction can name.
      const many = Array.from({ length: 255 }, (_, at) => `account ${at}`);
      for (const place of [7, 8, 31, 32, 33, 63, 64, 254]) {
        const accounts = many.with(place, other.reference);
        expect(await current().findPaymentRequestByReference(accounts)).toEqual(other);
      }
      expect(await current().findPaymentRequestByReference(many)).toBeUndefined();
    });

    test('take the payment that comes first; it may come again', async () => {
      const request = newRequest();
      await current().savePaymentRequest(request);
      const [first, second] = [await claimed(), await claimed()];

      expect(await current().attachAttempt(request.id, first.id)).toBe(first.id);
      expect(await current().attachAttempt(request.id, second.id)).toBe(first.id);
      expect(await current().attachAttempt(request.id, first.id)).toBe(first.id);
      expect(await current().findPaymentRequest(request.id)).toEqual({ ...request, attempt: first.id });
    });

    test('keep the payment that comes again, though nobody holds it just then', async () => {
      const request = newRequest();
      await current().savePaymentRequest(request);
      const first = await claimed();
      await current().attachAttempt(request.id, first.id);
      await advance(LEASE_MS + 1);

      expect(await current().attachAttempt(request.id, first.id)).toBe(first.id);
      expect(await current().find(first.id)).toMatchObject({ state: 'claimed' });
    });

    test('take one of twenty payments that come at once', async () => {
      const request = newRequest();
      await current().savePaymentRequest(request);
      const claims = await Promise.all(Array.from({ length: 20 }, claimed));
      const answers = await Promise.all(claims.map(({ id }) => current().attachAttempt(request.id, id)));

      expect(new Set(answers).size).toBe(1);
      expect((await current().findPaymentRequest(request.id))?.attempt).toBe(answers[0]);
    });

    test.each(['expired', 'failed'] as const)('take another payment when the first has %s', async (state) => {
      const request = newRequest();
      await current().savePaymentRequest(request);
      const [first, second] = [await claimed(), await claimed()];
      await current().attachAttempt(request.id, first.id);
      await current().recordBroadcast(first.id, first.lease, {});
      await current().recordOutcome(first.id, first.lease, { state, reason: 'invalid_exact_svm_transaction_failed' });

      expect(await current().attachAttempt(request.id, second.id)).toBe(second.id);
    });

    test('take another payment when the first was never sent', async () => {
      const request = newRequest();
      await current().savePaymentRequest(request);
      const [first, second] = [await claimed(), await claimed()];
      await current().attachAttempt(request.id, first.id);
      await current().forget(first.id, first.lease);

      expect(await current().attachAttempt(request.id, second.id)).toBe(second.id);
    });

    test('take another payment when the holder of the first is gone before it was sent, and it can send it no more', async () => {
      const request = newRequest();
      await current().savePaymentRequest(request);
      const first = await claimed();
      await current().attachAttempt(request.id, first.id);
      await advance(LEASE_MS + 1);
      const second = await claimed();

      expect(await current().attachAttempt(request.id, second.id)).toBe(second.id);
      expect(await current().recordBroadcast(first.id, first.lease, {})).toBe(false);
      expect(await current().find(first.id)).toBeUndefined();
    });

    test('keep the first payment while it was taken over by another holder', async () => {
      const request = newRequest();
      await current().savePaymentRequest(request);
      const first = await claimed();
      await current().attachAttempt(request.id, first.id);
      await advance(LEASE_MS + 1);
      await current().claim(rivalOf(first));
      const second = await claimed();

      expect(await current().attachAttempt(request.id, second.id)).toBe(first.id);
    });

    test.each(['broadcast', 'confirmed', 'served'] as const)(
      'keep a payment that is %s, however long ago',
      async (state) => {
        const request = newRequest();
        await current().savePaymentRequest(request);
        const first = await claimed();
        await current().attachAttempt(request.id, first.id);
        await current().recordBroadcast(first.id, first.lease, { signature: '5'.repeat(88) });
        const landed = { state: 'confirmed', slot: 7, signature: '5'.repeat(88) } as const;
        if (state !== 'broadcast') await current().recordOutcome(first.id, first.lease, landed);
        if (state === 'served') await current().served(first.id, first.lease);
        await advance(LEASE_MS + 1);
        const second = await claimed();

        expect(await current().attachAttempt(request.id, second.id)).toBe(first.id);
      },
    );

    test('that nobody knows take none', async () => {
      const claim = await claimed();
      expect(await current().attachAttempt('pay_unknown', claim.id)).toBeUndefined();
    });
  });
}
