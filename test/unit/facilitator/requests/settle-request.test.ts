import { settleRequest } from '../../../../src/facilitator/requests/settle-request.js';
import { REASONS } from '../../../../src/protocol/reasons.js';
import {
  LANDED,
  landedAs,
  newRequest,
  OUTAGE,
  paying,
  secondProcess,
  signatureOf,
} from '../../../helpers/fixtures/payment-service-fixture.js';
import { openRequest, racing, settled } from '../../../helpers/fixtures/request-fixture.js';

const FAILED = { status: 'landed', slot: 7, err: { InstructionError: [2, { Custom: 1 }] } } as const;

describe('a request', () => {
  test('is settled once, and answers the same for ever', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    at.chain.landed = landedAs(paid.decoded);
    for (let times = 0; times < 2; times += 1) expect(await at.settle(paid)).toEqual(settled(at, paid));
    expect(await at.stateOf(paid)).toBe('served');
    expect(await at.settle(paying(at.request))).toEqual({ status: 'already_settled' });
  });

  test('of a project stays good for the call that it is shown with', async () => {
    const at = await openRequest({}, { projectId: 'prj_1', owner: 'owner', memo: 'order 7' });
    const paid = paying(at.request);
    at.chain.landed = landedAs(paid.decoded);
    expect(await at.settle(paid)).toEqual(settled(at, paid));
    expect(await at.ledger.find(paid.decoded.messageHash)).toMatchObject({
      state: 'confirmed',
      projectId: 'prj_1',
      owner: 'owner',
      terms: { memo: 'order 7' },
    });
  });

  test('is on its way while the chain does not tell what its transaction did', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    const pending = { status: 'pending', signature: signatureOf(paid.bytes) };
    for (let times = 0; times < 2; times += 1) expect(await at.settle(paid)).toEqual(pending);
    expect(await at.stateOf(paid)).toBe('broadcast');
    at.chain.landed = landedAs(paid.decoded);
    expect(await at.settle(paid)).toEqual(settled(at, paid));
  });

  test('that was paid before we were asked counts as well, where the transaction names it', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    at.chain.sent = { status: 'rejected', err: 'AlreadyProcessed', logs: [] };
    at.chain.landed = landedAs(paid.decoded);
    expect(await at.settle(paid)).toEqual(settled(at, paid));
    const { blockhash } = paid.decoded;
    const asked = { signature: signatureOf(paid.bytes), blockhash, commitment: 'confirmed', timeoutMs: 1_000 };
    expect(at.watched).toEqual([asked]);
  });

  test('whose transaction did not reach the recipients is not paid', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    const { payTo } = at.request;
    at.chain.landed = landedAs(paid.decoded, { lamports: new Map([[payTo, { before: 5n, after: 1_004n }]]) });
    const reason = 'invalid_transfer_not_received';
    const signature = signatureOf(paid.bytes);
    const failed = { status: 'failed', reason, message: REASONS[reason], signature };
    for (let times = 0; times < 2; times += 1) expect(await at.settle(paid)).toEqual(failed);
    expect(await at.stateOf(paid)).toBe('failed');
  });
});

describe('a transaction that failed', () => {
  test('on the chain has what the chain said, as long as the chain tells', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    at.chain.sent = FAILED;
    const reason = 'invalid_exact_svm_transaction_failed';
    const failed = { status: 'failed', reason, signature: signatureOf(paid.bytes) };
    const first = `${REASONS[reason]} The chain said: {"InstructionError":[2,{"Custom":1}]}.`;
    expect(await at.settle(paid)).toEqual({ ...failed, message: first });
    expect(await at.settle(paid)).toEqual({ ...failed, message: REASONS[reason] });
    at.chain.landed = landedAs(paid.decoded, { err: 'AccountInUse' });
    expect(await at.settle(paid)).toEqual({ ...failed, message: `${REASONS[reason]} The chain said: "AccountInUse".` });
  });

  test('because it is too late did not land: what it did is not asked', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    at.chain.sent = { status: 'expired' };
    at.chain.landed = landedAs(paid.decoded);
    const reason = 'invalid_exact_svm_transaction_expired';
    const failed = { status: 'failed', reason, message: REASONS[reason], signature: signatureOf(paid.bytes) };
    for (let times = 0; times < 2; times += 1) expect(await at.settle(paid)).toEqual(failed);
  });

  test('before it was sent is the caller’s to mend', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    at.chain.simulated = 'BlockhashNotFound';
    const reason = 'invalid_exact_svm_blockhash_expired';
    expect(await at.settle(paid)).toEqual({ status: 'invalid', reason, message: REASONS[reason] });
    expect(await at.stateOf(paid)).toBeUndefined();
    const self = paying(at.request, false);
    at.chain.sent = { status: 'rejected', err: 'BlockhashNotFound', logs: [] };
    expect(await at.settle(self)).toEqual({ status: 'invalid', reason, message: REASONS[reason] });
    expect(at.delivered).toHaveLength(1);
  });

  test('for want of an answer of the node may be brought again', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    at.chain.landed = landedAs(paid.decoded);
    at.chain.sent = OUTAGE;
    await expect(at.settle(paid)).rejects.toMatchObject({ code: 'payment_backend_unavailable' });
    at.chain.sent = LANDED;
    expect(await at.settle(paid, secondProcess(at.fixture).parts)).toEqual(settled(at, paid));
  });
});

describe('one transaction', () => {
  test('that is being settled elsewhere is left alone', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    let answer: object = {};
    const { parts: elsewhere } = secondProcess(at.fixture);
    const ledger = racing(at, async () => {
      answer = await at.settle(paid, elsewhere);
    });
    at.chain.landed = landedAs(paid.decoded);
    expect((await at.settle(paid, { ...at.parts, ledger })).status).toBe('settled');
    expect(answer).toEqual({ status: 'being_settled' });
  });

  test('does not pay two requests', async () => {
    const at = await openRequest();
    const { legs, reference, payTo } = at.request;
    const twin = newRequest(at.now(), { legs, reference, payTo });
    await at.ledger.savePaymentRequest(twin);
    const paid = paying(at.request);
    at.chain.landed = landedAs(paid.decoded);
    expect((await at.settle(paid)).status).toBe('settled');
    const parts = { ...at.parts, walletPayments: async () => ({ status: 'none' as const }) };
    const reason = 'duplicate_settlement';
    const invalid = { status: 'invalid', reason, message: REASONS[reason] };
    expect(await settleRequest(parts, twin, paid.bytes)).toEqual(invalid);
  });

  test('that was shown for a call since has settled its request all the same', async () => {
    const at = await openRequest({}, { projectId: 'prj_1', owner: 'owner' });
    const paid = paying(at.request);
    at.chain.landed = landedAs(paid.decoded);
    const first = await at.settle(paid);
    const record = (await at.ledger.find(paid.decoded.messageHash))!;
    const use = { fingerprint: 'request', retryHash: 'secret' };
    expect((await at.ledger.claim({ ...record, ...use, lease: 'call', leaseMs: 30_000 })).status).toBe('won');
    expect(await at.settle(paid)).toEqual(first);
    await at.ledger.served(record.id, 'call');
    expect(await at.settle(paid)).toEqual(first);
  });
});

describe('what a wallet has paid by itself', () => {
  test('is not paid again, and the same transaction brought here is answered for', async () => {
    const at = await openRequest();
    const paid = paying(at.request);
    at.chain.landed = landedAs(paid.decoded);
    at.wallet.paidBy = 'another';
    expect(await at.settle(paid)).toEqual({ status: 'already_settled' });
    at.wallet.paidBy = paid.decoded.messageHash;
    expect(await at.settle(paid)).toEqual(settled(at, paid));
  });
});

test('a request can be settled up to the very end of its time', async () => {
  for (const late of [0, 1]) {
    const at = await openRequest();
    const paid = paying(at.request);
    at.chain.landed = landedAs(paid.decoded);
    await at.advance(60_000 + late);
    expect((await at.settle(paid)).status).toBe(late === 0 ? 'settled' : 'expired');
  }
});
