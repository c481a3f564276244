import { setTimeout } from 'node:timers/promises';
import { createMemoryLedger, type MemoryLedgerOptions } from '../../src/storage/ledger/memory-ledger.js';
import { ledgerContract } from './ledger.js';
import { newRequest } from './ledger-requests.js';
import { newClaim } from './ledger-samples.js';

const START = 1_700_000_000_000;

function open(options: Omit<MemoryLedgerOptions, 'now'> = {}) {
  let time = START;
  const advance = async (milliseconds: number): Promise<void> => {
    time += milliseconds;
  };
  const now = () => time;
  // Room for fewer than by default is made much sooner, and is as much as a test needs.
  const room = { maxFinished: 5_000, maxRequests: 5_000 };
  return { ledger: createMemoryLedger({ ...room, ...options, now }), now, advance };
}

ledgerContract('the ledger in memory', async () => open(), 400);

test('a full ledger takes no more payments, and takes them again when one is forgotten', async () => {
  const { ledger } = open({ maxOpen: 2 });
  const [first, second, third] = [newClaim(), newClaim(), newClaim()];
  await ledger.claim(first);
  await ledger.claim(second);
  await expect(ledger.claim(third)).rejects.toMatchObject({
    code: 'payment_backend_unavailable',
    message: 'Too many payments are open at once; try again shortly.',
    context: { retryAfterSeconds: 2 },
  });

  await ledger.forget(first.id, first.lease);
  expect((await ledger.claim(third)).status).toBe('won');
});

test('a full ledger forgets the oldest payment that nobody came back for, and never one that is held', async () => {
  const { ledger } = open({ maxOpen: 2 });
  const [held, abandoned, next] = [newClaim(), newClaim(), newClaim()];
  await ledger.claim(held);
  await ledger.claim(abandoned);
  await ledger.recordBroadcast(abandoned.id, abandoned.lease, { signature: '5'.repeat(88) });
  await ledger.keep(abandoned.id, abandoned.lease);

  expect((await ledger.claim(next)).status).toBe('won');
  expect(await ledger.find(abandoned.id)).toBeUndefined();
  expect((await ledger.find(held.id))?.state).toBe('claimed');
});

test('a full ledger forgets a payment whose holder is gone, from the moment on when its lease is over', async () => {
  const { ledger, advance } = open({ maxOpen: 1 });
  const gone = newClaim();
  await ledger.claim(gone);
  await advance(gone.leaseMs - 1);
  await expect(ledger.claim(newClaim())).rejects.toMatchObject({ code: 'payment_backend_unavailable' });
  await advance(1);
  expect((await ledger.claim(newClaim())).status).toBe('won');
  expect(await ledger.find(gone.id)).toBeUndefined();
});

test('a flood of payments that come to nothing leaves nothing behind', async () => {
  const { ledger } = open({ maxOpen: 10 });
  for (let at = 0; at < 1_000; at += 1) {
    const claim = newClaim();
    await ledger.claim(claim);
    await ledger.forget(claim.id, claim.lease);
  }
  expect((await ledger.claim(newClaim())).status).toBe('won');
});

test('finished payments are forgotten when there are too many, the oldest first', async () => {
  const { ledger } = open({ maxFinished: 2 });
  const claims = [newClaim(), newClaim(), newClaim()];
  for (const claim of claims) {
    await ledger.claim(claim);
    await ledger.recordBroadcast(claim.id, claim.lease, {});
    await ledger.recordOutcome(claim.id, claim.lease, { state: 'confirmed', slot: 1, signature: '5'.repeat(88) });
    await ledger.served(claim.id, claim.lease);
  }
  const found = await Promise.all(claims.map(({ id }) => ledger.find(id)));

  expect(found.map((record) => record?.state)).toEqual([undefined, 'served', 'served']);
});

test('payment requests are forgotten when there are too many, the oldest first', async () => {
  const { ledger } = open({ maxRequests: 2 });
  const requests = [newRequest(), newRequest(), newRequest()];
  for (const request of requests) await ledger.savePaymentRequest(request);
  const found = await Promise.all(requests.map(({ id }) => ledger.findPaymentRequest(id)));

  expect(found).toEqual([undefined, requests[1], requests[2]]);
});

test('a payment request is forgotten when its time is over, though a payment came for it meanwhile', async () => {
  let time = 1_000;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => time);
  // The cache remembers its clock for a timer of one millisecond: one as long, begun later, ends after it.
  const pass = async (milliseconds: number): Promise<void> => {
    time += milliseconds;
    await setTimeout(1);
  };
  try {
    const { ledger } = open({ retentionMs: 1_000 });
    const request = newRequest();
    await ledger.savePaymentRequest(request);
    await pass(600);
    expect(await ledger.attachAttempt(request.id, 'payment')).toBe('payment');
    await pass(400);
    expect(await ledger.findPaymentRequest(request.id)).toEqual({ ...request, attempt: 'payment' });
    await pass(1);
    expect(await ledger.findPaymentRequest(request.id)).toBeUndefined();
  } finally {
    clock.mockRestore();
  }
});

test('a ledger that is closed holds nothing any more', async () => {
  const { ledger } = open();
  const [claim, landed, request] = [newClaim(), newClaim(), newRequest()];
  await ledger.claim(claim);
  await ledger.claim(landed);
  const outcome = { state: 'served', slot: 1, signature: '5'.repeat(88) } as const;
  await ledger.recordOutcome(landed.id, landed.lease, outcome);
  await ledger.savePaymentRequest(request);
  await ledger.close();
  expect([await ledger.find(claim.id), await ledger.find(landed.id)]).toEqual([undefined, undefined]);
  expect(await ledger.findPaymentRequest(request.id)).toBeUndefined();
});
