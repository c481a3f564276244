import { heldByThisProcess, mustHold } from '../../../../src/facilitator/payments/held-by-this-process.js';
import { createLeases } from '../../../../src/facilitator/payments/leases.js';
import { requestTerms } from '../../../../src/facilitator/proofs/request-terms.js';
import type { PaymentRecord, PaymentState } from '../../../../src/storage/ledger/ledger.js';
import { createMemoryLedger } from '../../../../src/storage/ledger/memory-ledger.js';
import type { Use } from '../../../../src/storage/ledger/payment-use.js';
import { landedFor, NOW, requestOf } from '../../../helpers/request-parts.js';

const request = requestOf();
const terms = requestTerms(request, landedFor(request), { managedKeys: new Set(), maxFeeLamports: 0n });

const USE = { id: 'payment 1', binding: 'use', fingerprint: 'request', retryHash: 'secret' };

function recordIn(state: PaymentState): PaymentRecord {
  return { ...USE, state, payer: 'p', terms, blockhash: '', claimedAt: NOW };
}

function ask(
  record: PaymentRecord | undefined,
  { isHeld = true, ...change }: Partial<Use> & { isHeld?: boolean } = {},
) {
  const leases = createLeases(createMemoryLedger());
  if (isHeld) leases.hold('payment 1', 'lease', 60_000);
  return heldByThisProcess({ leases, ledger: { find: async () => record } }, { ...USE, ...change }).finally(() =>
    leases.close(),
  );
}

describe.each(['claimed', 'broadcast', 'confirmed'] as const)('one at work here that is %s', (state) => {
  test('is busy for the use that it was brought for', async () => {
    expect(await ask(recordIn(state))).toEqual({ status: 'busy', record: recordIn(state) });
  });

  test.each([{ binding: 'another use' }, { fingerprint: 'another request' }, { retryHash: 'another secret' }])(
    'is foreign to %j',
    async (change) => {
      expect(await ask(recordIn(state), change)).toEqual({ status: 'foreign', record: recordIn(state) });
    },
  );
});

test.each(['served', 'failed', 'expired'] as const)('one that is %s is done', async (state) => {
  expect(await ask(recordIn(state))).toBeUndefined();
});

test('one at work elsewhere, or forgotten, is not held here', async () => {
  expect(await ask(recordIn('claimed'), { isHeld: false })).toBeUndefined();
  expect(await ask(undefined)).toBeUndefined();
});

test('one whose answer has left is waited for until that is written down', async () => {
  const leases = createLeases(createMemoryLedger());
  leases.hold('payment 1', 'lease', 60_000);
  let written = (): void => {};
  const writing = leases.finish('lease', () => new Promise<void>((resolve) => (written = resolve)));
  const held = heldByThisProcess({ leases, ledger: { find: async () => recordIn('confirmed') } }, USE);
  written();
  await writing;
  expect(await held).toBeUndefined();
});

test('who holds a payment no more is told that another has taken it over, and when to ask', () => {
  expect(mustHold(true)).toBeUndefined();
  expect(() => mustHold(false)).toThrow(
    expect.objectContaining({
      code: 'payment_in_progress',
      message: 'The payment was taken over by another request; ask again in a moment.',
      context: { retryAfterSeconds: 1 },
    }),
  );
});
