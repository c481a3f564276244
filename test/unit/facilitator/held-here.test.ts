import { heldHere } from '../../../src/facilitator/held-here.js';
import { createLeases } from '../../../src/facilitator/leases.js';
import { termsOf } from '../../../src/facilitator/request-terms.js';
import type { PaymentRecord, PaymentState } from '../../../src/storage/ledger.js';
import { createMemoryLedger } from '../../../src/storage/memory-ledger.js';
import { landedFor, NOW, requestOf } from '../../helpers/request-parts.js';

const request = requestOf();
const terms = termsOf(request, landedFor(request), { managedKeys: new Set(), maxFeeLamports: 0n });

function recordIn(state: PaymentState): PaymentRecord {
  return { id: 'payment 1', state, binding: 'use', payer: 'p', terms, blockhash: '', claimedAt: NOW };
}

function ask(record: PaymentRecord | undefined, { binding = 'use', isHeld = true } = {}) {
  const leases = createLeases(createMemoryLedger());
  if (isHeld) leases.hold('payment 1', 'lease', 60_000);
  return heldHere({ leases, ledger: { find: async () => record } }, 'payment 1', binding).finally(() => leases.close());
}

test.each(['claimed', 'broadcast', 'confirmed'] as const)('one at work here that is %s is held here', async (state) => {
  expect(await ask(recordIn(state))).toEqual(recordIn(state));
});

test.each(['served', 'failed', 'expired'] as const)('one that is %s is done', async (state) => {
  expect(await ask(recordIn(state))).toBeUndefined();
});

test('one at work elsewhere, for another use, or forgotten is not held here', async () => {
  expect(await ask(recordIn('claimed'), { isHeld: false })).toBeUndefined();
  expect(await ask(recordIn('claimed'), { binding: 'another use' })).toBeUndefined();
  expect(await ask(undefined)).toBeUndefined();
});

test('one whose answer has left is waited for until that is written down', async () => {
  const leases = createLeases(createMemoryLedger());
  leases.hold('payment 1', 'lease', 60_000);
  let written = (): void => {};
  const writing = leases.finish('lease', () => new Promise<void>((resolve) => (written = resolve)));
  const held = heldHere({ leases, ledger: { find: async () => recordIn('confirmed') } }, 'payment 1', 'use');
  written();
  await writing;
  expect(await held).toBeUndefined();
});
