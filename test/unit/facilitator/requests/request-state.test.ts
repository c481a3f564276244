import { requestTerms } from '../../../../src/facilitator/proofs/request-terms.js';
import type { BesidePrice } from '../../../../src/facilitator/proofs/unmatched-payments.js';
import { createRequestStates } from '../../../../src/facilitator/requests/request-state.js';
import type { Ledger } from '../../../../src/storage/ledger/ledger.js';
import { createMemoryLedger } from '../../../../src/storage/ledger/memory-ledger.js';
import type { PaymentRequestRecord } from '../../../../src/storage/ledger/payment-request.js';
import { landedFor, NOW, requestOf, requestParts } from '../../../helpers/request-parts.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const request = requestOf();
const attached = { ...request, attempt: 'payment 1' };
const [payer, lease] = [walletKey('payer').address, 'lease'];
const { network, payTo, amount } = request;
const receipt = { signature: 's', network, payer, payTo, asset: request.token.mint, amount, slot: 7 };

const NOTHING: BesidePrice = { surplus: 0n, unmatched: [] };

/** A request, and what has become of its payment. */
async function scene(live?: (ledger: Ledger) => Promise<unknown>, beside: BesidePrice = NOTHING) {
  const ledger = createMemoryLedger();
  await ledger.savePaymentRequest(request);
  const clock = { now: NOW };
  const parts = requestParts({ ledger, now: () => clock.now });
  if (live !== undefined) await attempt(ledger, live);
  const looks: string[] = [];
  const told = { onLook: async (): Promise<void> => {} };
  const walletPayments = async ({ id }: PaymentRequestRecord) => {
    looks.push(id);
    await told.onLook();
    return { status: 'none' } as const;
  };
  const stateOf = createRequestStates(parts, walletPayments, async () => beside);
  return { ledger, clock, looks, told, state: () => stateOf(request.id), stateOf };
}

async function attempt(ledger: Ledger, live: (ledger: Ledger) => Promise<unknown>): Promise<void> {
  const terms = requestTerms(request, landedFor(request), { managedKeys: new Set(), maxFeeLamports: 0n });
  const claim = { id: 'payment 1', binding: 'x', payer, terms, blockhash: '', lease, leaseMs: 60_000 };
  await ledger.claim(claim);
  await ledger.attachAttempt(request.id, 'payment 1');
  await live(ledger);
}

const send = (ledger: Ledger) => ledger.recordBroadcast('payment 1', lease, { signature: 's' });
const land = (ledger: Ledger) =>
  ledger.recordOutcome('payment 1', lease, { state: 'confirmed', slot: 7, signature: 's' });
const end = (state: 'failed' | 'expired') => async (ledger: Ledger) => {
  await send(ledger);
  await ledger.recordOutcome('payment 1', lease, { state, reason: 'invalid_exact_svm_transaction_failed' });
};

test('of what was never asked for there is none', async () => {
  const { stateOf, looks } = await scene();
  expect(await stateOf('pay_2')).toBeUndefined();
  expect(looks).toEqual([]);
});

test('what nobody has paid is open until its time is over', async () => {
  const { clock, state } = await scene();
  expect(await state()).toStrictEqual({ request, status: 'created' });
  clock.now = request.expiresAt;
  expect(await state()).toStrictEqual({ request, status: 'created' });
  clock.now = request.expiresAt + 1;
  expect(await state()).toStrictEqual({ request, status: 'expired' });
});

test.each<[string, (ledger: Ledger) => Promise<unknown>, object, number]>([
  ['claimed', async () => {}, { status: 'pending' }, 1],
  ['sent', send, { status: 'pending', signature: 's' }, 0],
  ['sent by somebody else', (it) => it.recordBroadcast('payment 1', lease, {}), { status: 'pending' }, 0],
  [
    'taken back',
    async (it) => {
      await send(it);
      await it.forget('payment 1', lease);
    },
    { status: 'created' },
    1,
  ],
  ['landed', land, { status: 'settled', receipt, signature: 's' }, 0],
  [
    'served',
    async (it) => {
      await land(it);
      await it.served('payment 1', lease);
    },
    { status: 'settled', receipt, signature: 's' },
    0,
  ],
  ['failed', end('failed'), { status: 'failed', signature: 's', reason: 'invalid_exact_svm_transaction_failed' }, 1],
  ['expired', end('expired'), { status: 'created' }, 1],
])(
  'of a payment that was %s, and whether the chain is searched for another',
  async (_name, live, expected, searched) => {
    const { state, looks } = await scene(live);
    expect(await state()).toStrictEqual({ request: attached, ...expected });
    expect(looks).toHaveLength(searched);
  },
);

test('what the search finds is told at once', async () => {
  const { ledger, told, state } = await scene();
  told.onLook = () => attempt(ledger, land);
  expect(await state()).toStrictEqual({ request: attached, status: 'settled', receipt, signature: 's' });
});

test('the chain is searched once in a while, but again at once after an outage', async () => {
  const { told, looks, state } = await scene();
  told.onLook = () => Promise.reject(new Error('outage'));
  await expect(state()).rejects.toThrow('outage');
  told.onLook = async () => {};
  await state();
  await state();
  expect(looks).toHaveLength(2);
});

test('what came beside the price is told with the state, and can be put into JSON', async () => {
  const asset = request.token.mint;
  const received = [{ asset, decimals: 9, amount: 4n, to: payTo, from: payer }];
  const unmatched = [{ signature: 't', reason: 'invalid_transfer_leg_missing' as const, received }];
  const { state } = await scene(land, { surplus: 2n, unmatched });
  const told = await state();
  expect(told).toMatchObject({ status: 'settled', receipt, surplus: 2n, unmatched });
  expect(JSON.parse(JSON.stringify(told))).toMatchObject({
    surplus: '2',
    unmatched: [{ signature: 't', received: [{ amount: '4' }] }],
  });
});
