import { type Keypair, PublicKey } from '@solana/web3.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import {
  type CreatedBody,
  type ServiceResponse,
  signCreated,
  useNativeFixture,
} from '../../helpers/fixtures/native-fixture.js';
import { QUICK } from '../../helpers/fixtures/toll-fixture.js';
import { testClock } from '../../helpers/test-clock.js';
import { buildDraft, type Draft } from '../../helpers/transactions/draft.js';
import { emptyWallet } from '../../helpers/transactions/empty-wallet.js';
import { headerV2 } from '../../helpers/transactions/hostile.js';
import { memo } from '../../helpers/transactions/raw-instructions.js';
import { until } from '../../helpers/until.js';

const HURRIED = { settleTimeoutMs: 150 };
const { now, advance } = testClock(Date.now());
const fixture = useNativeFixture({ now });
const hurried = useNativeFixture(HURRIED, { maxBlockhashAgeBlocks: 2_000 }, {}, QUICK);

const codeOf = ({ status, body }: ServiceResponse) => [status, body['code'] ?? 'settled'];
const received = (at = fixture()): bigint => at.sandbox.tokenBalance(at.payTo, at.facilitator.tokens[0]!.mint);

/** The same payment as so many different transactions: a memo each. */
async function variants(created: CreatedBody, count: number, at = fixture(), payer?: Keypair): Promise<Uint8Array[]> {
  const draft = await at.draft(created, payer);
  return Array.from({ length: count }, (_, index) => buildDraft(withMemo(draft, `variant ${index}`)));
}

function withMemo(draft: Draft, text: string): Draft {
  return { ...draft, instructions: [...draft.instructions, memo(text)] };
}

test('settling asks the chain for the history of a payment once, before it is sent, and its receipt not at all', async () => {
  const created = await fixture().create();
  fixture().sandbox.resetCalls();
  expect((await fixture().settle(created.payment_id, signCreated(created, fixture().payer))).status).toBe(200);
  expect((await fixture().get(`/receipts/${created.payment_id}`)).status).toBe(200);
  expect(fixture().sandbox.calls.getSignaturesForAddress).toBe(1);
});

describe('five at once', () => {
  test('different signed transactions for one payment move the money once, and every answer is honest', async () => {
    const { sandbox, feePayer } = fixture();
    const created = await fixture().create();
    const transactions = await variants(created, 5);
    const before = { seller: received(), ours: sandbox.balance(feePayer.publicKey.toBase58()) };
    sandbox.resetCalls();
    const answers = await Promise.all(transactions.map((it) => fixture().settle(created.payment_id, it)));

    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const { tx_signature, fee_lamports } = won[0]!.body;
    for (const answer of answers.filter((it) => it !== won[0])) {
      expect(['payment_in_progress', 'settlement_pending', 'payment_already_settled']).toContain(answer.body['code']);
      expect(answer.body['detail']).toContain('this one was not sent');
    }
    expect(sandbox.calls.sendTransaction).toBe(1);
    expect(received() - before.seller).toBe(500_000n);
    expect(before.ours - sandbox.balance(feePayer.publicKey.toBase58())).toBe(BigInt(Number(fee_lamports)));

    const later = await Promise.all(transactions.map((it) => fixture().settle(created.payment_id, it)));
    expect(later.map(codeOf).sort()).toEqual([[200, 'settled'], ...Array(4).fill([400, 'payment_already_settled'])]);
    expect(later.find(({ status }) => status === 200)?.body).toEqual(won[0]!.body);
    const told = await fixture().get(`/payments/${created.payment_id}`);
    expect(told.body).toMatchObject({ status: 'settled', tx_signature });
    expect(received() - before.seller).toBe(500_000n);
  });

  test('the same with transactions whose fee the payers pay themselves', async () => {
    const { sandbox } = fixture();
    const created = await fixture().create({ payer: undefined });
    const payers = await Promise.all([0, 1, 2, 3, 4].map(() => sandbox.createWallet({ sol: '1', usdc: '1' })));
    const transactions = await Promise.all(
      payers.map(async (payer) => {
        const answer = await fixture().post(`/payments/${created.payment_id}/transaction`, {
          payer: payer.publicKey.toBase58(),
        });
        return buildDraft(await fixture().draft(answer.body as object as CreatedBody, payer, payer));
      }),
    );
    const before = received();
    const answers = await Promise.all(transactions.map((it) => fixture().settle(created.payment_id, it)));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(received() - before).toBe(500_000n);
  });

  test('times the same transaction: it is sent once, and nobody is told that it was not', async () => {
    const { sandbox } = fixture();
    const created = await fixture().create();
    const transaction = signCreated(created, fixture().payer);
    const before = received();
    sandbox.resetCalls();
    const settle = () => fixture().settle(created.payment_id, transaction);
    const answers = await Promise.all(Array.from({ length: 5 }, settle));

    const settled = answers.filter(({ status }) => status === 200);
    expect(settled.length).toBeGreaterThanOrEqual(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(codeOf(answer)).toEqual([409, 'payment_in_progress']);
      expect(answer.body['detail']).toContain('This transaction is being settled right now');
    }
    expect(sandbox.calls.sendTransaction).toBe(1);
    expect(received() - before).toBe(500_000n);
    expect((await settle()).body).toEqual(settled[0]?.body);
  });

  test('payments with five transactions move the money five times', async () => {
    const before = received();
    const settled = await Promise.all(
      [0, 1, 2, 3, 4].map(async () => {
        const created = await fixture().create();
        return fixture().settle(created.payment_id, signCreated(created, fixture().payer));
      }),
    );
    expect(settled.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(received() - before).toBe(2_500_000n);
  });
});

describe('a second transaction', () => {
  test('is not sent when the first has settled', async () => {
    const created = await fixture().create();
    const [first, second] = await variants(created, 2);
    await fixture().settle(created.payment_id, first!);
    fixture().sandbox.resetCalls();

    expect(codeOf(await fixture().settle(created.payment_id, second!))).toEqual([400, 'payment_already_settled']);
    expect(fixture().sandbox.calls.sendTransaction).toBe(0);
  });

  test('is good when the first was turned away', async () => {
    const { sandbox, facilitator } = fixture();
    const payer = await sandbox.createWallet({ usdc: '0.1' });
    const created = await fixture().create({ payer: payer.publicKey.toBase58() });
    const [first, second] = await variants(created, 2, fixture(), payer);
    const refused = await fixture().settle(created.payment_id, first!);
    sandbox.fundToken(payer.publicKey.toBase58(), facilitator.tokens[0]!.mint, 1_000_000n);

    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_transaction', reason: 'insufficient_funds' } });
    expect((await fixture().get(`/payments/${created.payment_id}`)).body['status']).toBe('created');
    expect((await fixture().settle(created.payment_id, second!)).status).toBe(200);
  });

  test('is good when the first failed on the chain; the first keeps its answer', async () => {
    const { sandbox, facilitator, payTo } = fixture();
    const { mint } = facilitator.tokens[0]!;
    const payer = await sandbox.createWallet({ usdc: '0.5' });
    const created = await fixture().create({ payer: payer.publicKey.toBase58() });
    const [first, second] = await variants(created, 2, fixture(), payer);
    // The node lets the first pass, and by the time it lands the money is gone.
    sandbox.faults.add({ kind: 'late', slots: 10, times: 1 });
    const { sendTransaction } = sandbox.calls;
    const failing = fixture().settle(created.payment_id, first!);
    await until(() => sandbox.calls.sendTransaction > sendTransaction);
    emptyWallet(sandbox, payer, mint);
    const failed = await failing;
    const again = await fixture().settle(created.payment_id, first!);

    expect(failed).toMatchObject({ status: 500, body: { code: 'blockchain_error', tx_signature: expect.any(String) } });
    expect(failed.body['detail']).toContain('The chain said: {"InstructionError"');
    expect([again.status, again.body]).toEqual([
      failed.status,
      { ...failed.body, request_id: again.body['request_id'] },
    ]);
    const told = await fixture().get(`/payments/${created.payment_id}`);
    expect(told.body).toMatchObject({ status: 'failed', tx_signature: failed.body['tx_signature'] });

    const before = sandbox.tokenBalance(payTo, mint);
    sandbox.fundToken(payer.publicKey.toBase58(), mint, 500_000n);
    const early = await fixture().settle(created.payment_id, second!);
    expect(early).toMatchObject({ status: 400, body: { reason: 'payer_must_wait' } });
    await advance(60_001);
    expect((await fixture().settle(created.payment_id, second!)).status).toBe(200);
    expect(sandbox.tokenBalance(payTo, mint) - before).toBe(500_000n);
    expect((await fixture().get(`/payments/${created.payment_id}`)).body['status']).toBe('settled');
  });

  test('waits while the outcome of the first is not known, and is good when it has expired', async () => {
    const at = hurried();
    const created = await at.create();
    const before = received(at);
    at.sandbox.faults.add({ kind: 'drop' });
    const [first] = await variants(created, 1, at);
    const unknown = await at.settle(created.payment_id, first!);
    const [second] = await variants(created, 1, at);
    const waiting = await at.settle(created.payment_id, second!);
    const told = await at.get(`/payments/${created.payment_id}`);
    at.sandbox.faults.clear();
    let later = waiting;
    while (later.status === 503) {
      at.sandbox.expireBlockhashes();
      const [fresh] = await variants(created, 1, at);
      later = await at.settle(created.payment_id, fresh!);
    }

    expect(codeOf(unknown)).toEqual([503, 'settlement_pending']);
    expect(codeOf(waiting)).toEqual([503, 'settlement_pending']);
    expect(waiting.body['tx_signature']).toBe(unknown.body['tx_signature']);
    expect(told.body).toMatchObject({ status: 'pending', tx_signature: unknown.body['tx_signature'] });
    expect(codeOf(later)).toEqual([200, 'settled']);
    expect(received(at) - before).toBe(500_000n);
    const { status, body } = await at.settle(created.payment_id, first!);
    expect([status, body['reason']]).toEqual([500, 'invalid_exact_svm_transaction_expired']);
  });
});

describe('one transaction pays one thing', () => {
  test('not two payments that ask for the same, whether one after the other or at once', async () => {
    for (const atOnce of [false, true]) {
      const one = await fixture().create();
      const other = await fixture().create();
      // It names both references; the last one counts.
      const draft = await fixture().draft(one);
      const both = buildDraft({
        ...draft,
        instructions: draft.instructions.map((it, index) => {
          const { keys } = other.transaction.instructions[index]!;
          const reference = keys.find(({ pubkey }) => pubkey === other.reference);
          if (reference !== undefined) it.keys.push({ ...it.keys.at(-1)!, pubkey: new PublicKey(other.reference) });
          return it;
        }),
      });
      const before = received();
      const settle = ({ payment_id }: CreatedBody) => fixture().settle(payment_id, both);
      const answers = atOnce
        ? await Promise.all([settle(one), settle(other)])
        : [await settle(one), await settle(other)];

      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const refused = answers.find(({ status }) => status === 400);
      expect(refused?.body).toMatchObject({
        code: 'invalid_transaction',
        reason: 'invalid_transfer_reference_misplaced',
      });
      expect(received() - before).toBe(500_000n);
      const states = await Promise.all([one, other].map((it) => fixture().get(`/payments/${it.payment_id}`)));
      expect(states.map(({ body }) => body['status']).sort()).toEqual(['created', 'settled']);
    }
  });

  test.each(['payment first', 'route first', 'at once'])('not a payment and an x402 route, %s', async (order) => {
    const { facilitator, payTo } = fixture();
    let runs = 0;
    const terms = {
      scheme: 'exact',
      network: facilitator.network,
      asset: facilitator.tokens[0]!.mint,
      amount: 500_000n,
      payTo,
      maxTimeoutSeconds: 60,
      feePayer: fixture().feePayer.publicKey.toBase58(),
    };
    const gate = requirePayment({ facilitator, payTo, price: '$0.5' });
    const shop = await fixture().serve((app) =>
      app.get('/report', gate, (_req, res) => {
        runs += 1;
        res.json({});
      }),
    );
    const created = await fixture().create();
    const transaction = signCreated(created, fixture().payer);
    const before = received();
    const settle = async () => (await fixture().settle(created.payment_id, transaction)).status;
    const buy = async () => (await fetch(`${shop}/report`, { headers: headerV2(transaction, terms) })).status;
    const outcome = { settle: 0, buy: 0 };
    if (order === 'at once') [outcome.settle, outcome.buy] = await Promise.all([settle(), buy()]);
    else if (order === 'payment first') Object.assign(outcome, { settle: await settle(), buy: await buy() });
    else Object.assign(outcome, { buy: await buy(), settle: await settle() });

    // Its transfer names the reference of the payment.
    expect(outcome).toEqual({ settle: 200, buy: 402 });
    expect(runs).toBe(0);
    expect(received() - before).toBe(500_000n);
    const told = await fixture().get(`/payments/${created.payment_id}`);
    expect(told.body['status']).toBe('settled');
  });
});
