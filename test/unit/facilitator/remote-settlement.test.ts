import bs58 from 'bs58';
import type { InspectedPayment } from '../../../src/facilitator/backend/backend.js';
import { REASONS } from '../../../src/protocol/reasons.js';
import {
  AWAY,
  aPeer,
  backendOf,
  inspected,
  outage,
  remotesOf,
  stepOf,
  useRemotes,
} from '../../helpers/fixtures/remotes.js';
import { rejectionOf } from '../../helpers/nodes/fake-node.js';

const SIGNATURE = bs58.encode(new Uint8Array(64).fill(7));
/** The facilitator finds the payment good. */
const GOOD = { '/verify': { body: { isValid: true } } };

useRemotes();

describe('how a settlement ends', () => {
  const refusal = { errorReason: 'insufficient_funds', errorMessage: 'too little' };
  const landedWithError = {
    errorReason: 'invalid_exact_svm_transaction_failed',
    errorMessage: 'it failed',
    transaction: SIGNATURE,
  };
  const expired = { errorReason: 'invalid_exact_svm_transaction_expired', errorMessage: 'too late' };
  const failure = { reason: 'insufficient_funds', message: 'too little' };
  const failed = {
    status: 'failed',
    final: 'failed',
    reason: 'invalid_exact_svm_transaction_failed',
    message: 'it failed',
    signature: SIGNATURE,
  };
  const over = {
    status: 'failed',
    final: 'expired',
    reason: 'invalid_exact_svm_transaction_expired',
    message: expect.stringMatching(/^too late That is the word of another facilitator/),
  };
  const pending = { errorReason: 'settlement_pending' };
  const begun = { errorReason: 'settlement_in_progress' };
  const refusedNow = { status: 'unsent', reason: 'settlement_in_progress', message: REASONS.settlement_in_progress };
  const known = { signature: SIGNATURE };
  const cases: [string, object, object, object, object[]][] = [
    ['a refusal', refusal, { ...failure, status: 'unsent' }, { status: 'pending' }, []],
    ['landed with an error', landedWithError, failed, failed, []],
    ['expired', expired, over, over, []],
    ['pending', pending, { status: 'pending' }, { status: 'pending' }, []],
    ['begun by somebody else', begun, refusedNow, { status: 'pending' }, []],
    [
      'pending with a signature',
      { ...pending, transaction: SIGNATURE },
      { status: 'pending', ...known },
      { status: 'pending', ...known },
      [known],
    ],
  ];

  async function scene(answer: object) {
    const peer = await aPeer();
    peer.replies = { ...peer.replies, ...GOOD, '/settle': { body: { success: false, ...answer } } };
    const backend = backendOf(await remotesOf([peer, 'well']));
    return { backend, payment: await inspected(backend, peer), step: stepOf() };
  }

  /** A payment that was sent before. */
  function recordOf({ payer, terms, transaction }: InspectedPayment, signature?: string) {
    const { messageHash: id, blockhash } = transaction;
    const record = { id, state: 'broadcast', binding: 'x', payer, terms, blockhash, claimedAt: Date.now() } as const;
    return signature === undefined ? record : { ...record, signature };
  }

  test.each(cases)('%s, asked for the first time', async (_name, answer, expected, _again, notes) => {
    const { backend, payment, step } = await scene(answer);
    expect(await backend.settle(payment, step)).toStrictEqual({ payer: payment.payer, ...expected });
    expect(step.noted).toEqual([{}, ...notes]);
  });

  test.each(cases)('%s, asked for again', async (_name, answer, _first, expected, notes) => {
    const { backend, payment, step } = await scene(answer);
    const record = recordOf(payment);
    expect(await backend.resume(payment, record, step)).toStrictEqual({ payer: payment.payer, ...expected });
    expect(step.noted).toEqual(notes);
  });

  test('a refusal of one that was sent is not believed; its signature stays known', async () => {
    const { backend, payment, step } = await scene(refusal);
    const open = { status: 'pending', payer: payment.payer, signature: SIGNATURE };
    expect(await backend.resume(payment, recordOf(payment, SIGNATURE), step)).toStrictEqual(open);
  });

  const duplicate = { errorReason: 'duplicate_settlement', errorMessage: 'again' };
  const settled = { status: 'settled', receipt: expect.objectContaining({ signature: SIGNATURE, slot: 0 }) };

  test('a duplicate with its signature is the receipt of what was sent', async () => {
    const { backend, payment, step } = await scene({ ...duplicate, transaction: SIGNATURE });
    expect(await backend.resume(payment, recordOf(payment), step)).toEqual(settled);
  });

  test('a duplicate without one is open, whatever was told before: it may have failed since', async () => {
    const { backend, payment, step } = await scene(duplicate);
    const open = { status: 'pending', payer: payment.payer, signature: SIGNATURE };
    expect(await backend.resume(payment, recordOf(payment, SIGNATURE), step)).toEqual(open);
  });

  test('a duplicate with its signature is a refusal of what is asked for the first time', async () => {
    const { backend, payment, step } = await scene({ ...duplicate, transaction: SIGNATURE });
    const { payer } = payment;
    const refused = { status: 'unsent', reason: 'duplicate_settlement', message: 'again', payer, signature: SIGNATURE };
    expect(await backend.settle(payment, step)).toEqual(refused);
  });

  test('what the facilitator does not find good is not noted, and not asked for', async () => {
    const peer = await aPeer();
    const invalid = { isValid: false, invalidReason: 'duplicate_settlement', invalidMessage: 'again' };
    peer.replies = { ...peer.replies, '/verify': { body: invalid } };
    const backend = backendOf(await remotesOf([peer, 'well']));
    const payment = await inspected(backend, peer);
    const step = stepOf();
    const { payer } = payment;
    const refused = { status: 'unsent', reason: 'duplicate_settlement', message: 'again', payer };
    expect(await backend.settle(payment, step)).toEqual(refused);
    expect(step.noted).toEqual([]);
    expect(peer.count('/settle')).toBe(0);
  });

  test('what was found good a moment ago is not asked about again', async () => {
    const peer = await aPeer();
    peer.replies = { ...peer.replies, ...GOOD, '/settle': { body: { success: false, ...pending } } };
    const backend = backendOf(await remotesOf([peer, 'well']));
    const payment = await inspected(backend, peer);
    await backend.verify(payment);
    await backend.settle(payment, stepOf());
    expect(peer.count('/verify')).toBe(1);
  });

  test.each([
    [180_000, 'failed'],
    [179_999, 'pending'],
  ])(
    'a refusal %i ms after the payment was brought leaves it %s: nothing can come of it any more',
    async (age, status) => {
      const warnings: unknown[] = [];
      jest.spyOn(process, 'emitWarning').mockImplementation((_text, options) => void warnings.push(options));
      const peer = await aPeer();
      peer.replies = { ...peer.replies, '/settle': { body: { success: false, ...duplicate } } };
      const now = Date.now();
      const backend = backendOf(await remotesOf([peer, 'well']), 1_000, { now: () => now });
      const payment = await inspected(backend, peer);
      const result = await backend.resume(payment, { ...recordOf(payment), claimedAt: now - age }, stepOf());
      expect(result.status).toBe(status);
      if (status === 'pending') return expect(warnings).toEqual([]);
      expect(result).toMatchObject({ final: 'failed', reason: 'duplicate_settlement' });
      expect(result).toMatchObject({ message: expect.stringContaining('whether it was paid is not known') });
      expect(warnings).toEqual([{ code: 'TOLLHOUSE_REMOTE_OUTCOME' }]);
    },
  );

  test('what is held by somebody else by now is not asked for', async () => {
    const peer = await aPeer();
    peer.replies = { ...peer.replies, ...GOOD };
    const backend = backendOf(await remotesOf([peer, 'well']));
    const payment = await inspected(backend, peer);
    expect(await backend.settle(payment, stepOf({ isHeld: false }))).toMatchObject({
      status: 'unsent',
      reason: 'settlement_in_progress',
      payer: payment.payer,
    });
    expect(peer.count('/settle')).toBe(0);
  });

  test('one that was turned away is an outage, and the note is taken back', async () => {
    const peer = await aPeer();
    peer.replies = { ...peer.replies, ...GOOD, '/settle': { status: 429, body: { code: 'rate_limited' } } };
    const backend = backendOf(await remotesOf([peer, 'well']));
    const step = stepOf();
    const error = await rejectionOf(backend.settle(await inspected(backend, peer), step));
    expect(error).toEqual(outage(AWAY));
    expect(error).toMatchObject({ context: { cause: { message: `/settle at ${peer.host}: answered HTTP 429` } } });
    expect(step.noted).toEqual([{}, 'withdrawn']);
  });

  test.each([
    [1, 65_000, 6_000],
    [60, 65_000, 65_000],
    [60, 64_999, 64_999],
    [60, 65_001, 65_000],
  ])('terms of %i s, at most %i ms: the answer is waited for %i ms', async (seconds, most, waited) => {
    const peer = await aPeer();
    peer.replies = { ...peer.replies, ...GOOD, '/settle': { body: { success: false, ...pending } } };
    const backend = backendOf(await remotesOf([peer, 'well']), most);
    const payment = await inspected(backend, peer, seconds);
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await backend.settle(payment, stepOf());
    expect(timers.mock.calls.map(([, ms]) => ms)).toContain(waited);
  });

  test('only a commitment that cannot be asked for is warned of, once', async () => {
    const told: unknown[] = [];
    const { backend, payment } = await scene(pending);
    jest.spyOn(process, 'emitWarning').mockImplementation((...args) => void told.push(args));
    for (const commitment of ['processed', 'confirmed'] as const) await backend.settle(payment, stepOf({ commitment }));
    expect(told).toEqual([]);
    for (let index = 0; index < 2; index += 1) await backend.settle(payment, stepOf({ commitment: 'finalized' }));
    expect(told).toEqual([
      [
        'a route asks for the commitment "finalized", which cannot be asked of another facilitator; use createFacilitator for it',
        { code: 'TOLLHOUSE_REMOTE_COMMITMENT' },
      ],
    ]);
  });
});
