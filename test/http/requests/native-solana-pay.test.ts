import { type Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js';
import { createRouter } from '../../../src/http/create-router.js';
import { type CreatedBody, useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { memo, unitPrice } from '../../helpers/transactions/raw-instructions.js';
import { until } from '../../helpers/until.js';

let now = Date.now;
const fixture = useNativeFixture({ now: () => now() });
const statusOf = async ({ payment_id }: CreatedBody) => (await fixture().get(`/payments/${payment_id}`)).body;

/** What a wallet does with a QR code, by the rules of Solana Pay's transaction requests. */
async function scan(code: string, wallet: Keypair) {
  expect(code).toMatch(/^solana:http/);
  const encoded = code.slice('solana:'.length);
  const link = new URL(/^https?%3A/i.test(encoded) ? decodeURIComponent(encoded) : encoded);
  const shown = await (await fetch(link)).json();
  const answer = await fetch(link, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ account: wallet.publicKey.toBase58() }),
  });
  const body = (await answer.json()) as { transaction: string; message?: string };
  return { link, shown: shown as { label: string; icon: string }, status: answer.status, body };
}

function signScanned(transaction: string, wallet: Keypair): Uint8Array {
  const unsigned = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  unsigned.sign([wallet]);
  return unsigned.serialize();
}

const received = (): bigint => fixture().sandbox.tokenBalance(fixture().payTo, fixture().facilitator.tokens[0]!.mint);
const newWallet = () => fixture().sandbox.createWallet({ sol: '1', usdc: '10' });

afterEach(() => {
  now = Date.now;
  fixture().sandbox.faults.clear();
});

describe('a wallet that scans the code', () => {
  test('is shown a label and an icon that exists, and gets a transaction whose fee it pays itself', async () => {
    const wallet = await newWallet();
    const created = await fixture().create({ payer: undefined, memo: 'Coffee' });
    const { link, shown, body } = await scan(created.solana_pay_url, wallet);
    const icon = await fetch(shown.icon);
    const { message } = VersionedTransaction.deserialize(Buffer.from(body.transaction, 'base64'));

    expect(link.search + link.hash).toBe('');
    expect(shown.label).toBe('Tollhouse');
    expect(icon.headers.get('content-type')).toContain('image/svg+xml');
    expect(body.message).toBe('Coffee');
    expect(message.header.numRequiredSignatures).toBe(1);
    expect(message.staticAccountKeys[0]).toEqual(wallet.publicKey);
    expect(message.staticAccountKeys).toContainEqual(new PublicKey(created.reference));
  });

  test('wherever the router is mounted, and under the address that the operator names', async () => {
    const wallet = await newWallet();
    const { facilitator } = fixture();
    const origin = await fixture().serve((app) => {
      app.use('/shop/pay', createRouter({ facilitator, label: 'Corner shop' }));
      app.use('/named', createRouter({ facilitator, baseUrl: 'https://pay.example/' }));
    });
    const create = async (at: string) => {
      const body = JSON.stringify({ amount: 1, token: 'USDC', recipient: fixture().payTo });
      const headers = { 'content-type': 'application/json' };
      return (await (await fetch(`${at}/create-payment`, { method: 'POST', headers, body })).json()) as CreatedBody;
    };
    const { shown, status } = await scan((await create(`${origin}/shop/pay`)).solana_pay_url, wallet);
    const named = await create(`${origin}/named`);

    expect([status, shown.label]).toEqual([200, 'Corner shop']);
    expect((await fetch(shown.icon)).status).toBe(200);
    expect(named.solana_pay_url).toBe(`solana:https://pay.example/named/payments/${named.payment_id}/transaction`);
  });

  test.each(['USDC', 'SOL'])(
    'and sends the transaction itself has paid: %s is noticed once, by the reference',
    async (token) => {
      const wallet = await newWallet();
      const created = await fixture().create({ payer: undefined, token });
      const settled: unknown[] = [];
      const stop = fixture().facilitator.on('payment.settled', (event) => settled.push(event));
      const { body } = await scan(created.solana_pay_url, wallet);
      const tx_signature = await fixture().sendPast(signScanned(body.transaction, wallet));
      const polls = await pollUntilSettled(created);
      const verified = await fixture().post('/verify', { tx_signature });
      stop();

      const told = { status: 'settled', tx_signature, payer: wallet.publicKey.toBase58() };
      expect(polls).toMatchObject({ ...told, block_number: verified.body['block_number'] });
      expect(await statusOf(created)).toEqual(polls);
      expect(settled).toHaveLength(1);
    },
  );

  test('may add what it likes: guards, memos, a priority fee', async () => {
    const wallet = await newWallet();
    const created = await fixture().create({ payer: undefined });
    const asked = await fixture().post(`/payments/${created.payment_id}/transaction`, {
      payer: wallet.publicKey.toBase58(),
    });
    const draft = await fixture().draft(asked.body as object as CreatedBody, wallet, wallet);
    const [limit, _price, ...rest] = draft.instructions;
    const instructions = [limit!, unitPrice(5_000n), ...rest, memo('from my wallet')];
    await fixture().sendPast(buildDraft({ ...draft, instructions }));

    expect(await pollUntilSettled(created)).toMatchObject({ status: 'settled' });
  });

  test('and brings it to /settle instead: it settles, at its own cost', async () => {
    const wallet = await newWallet();
    const created = await fixture().create({ payer: undefined });
    const { body } = await scan(created.solana_pay_url, wallet);
    const ours = fixture().sandbox.balance(fixture().feePayer.publicKey.toBase58());
    const before = received();
    const settled = await fixture().settle(created.payment_id, signScanned(body.transaction, wallet));

    expect(settled).toMatchObject({ status: 200, body: { success: true } });
    expect(received() - before).toBe(500_000n);
    expect(fixture().sandbox.balance(fixture().feePayer.publicKey.toBase58())).toBe(ours);
    expect(await statusOf(created)).toMatchObject({ status: 'settled', tx_signature: settled.body['tx_signature'] });
  });

  test.each(['before it was noticed', 'after it was noticed'])(
    'and does both: /settle answers that it has settled, %s',
    async (when) => {
      const wallet = await newWallet();
      const created = await fixture().create({ payer: undefined });
      const { body } = await scan(created.solana_pay_url, wallet);
      const transaction = signScanned(body.transaction, wallet);
      const before = received();
      const tx_signature = await fixture().sendPast(transaction);
      if (when === 'after it was noticed') await pollUntilSettled(created);
      const answers = [
        await fixture().settle(created.payment_id, transaction),
        await fixture().settle(created.payment_id, transaction),
      ];

      for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { tx_signature } });
      expect(received() - before).toBe(500_000n);
    },
  );

  test('and does both at once: /settle answers for the transaction that has landed', async () => {
    const wallet = await newWallet();
    const created = await fixture().create({ payer: undefined });
    const { body } = await scan(created.solana_pay_url, wallet);
    const transaction = signScanned(body.transaction, wallet);
    const before = received();
    // It is in a block, and not confirmed: no look by the reference can find it, and the node will not take it again.
    fixture().sandbox.pauseSlots();
    fixture().sandbox.resetCalls();
    const signature = await fixture().connection.sendRawTransaction(transaction);
    const settling = fixture().settle(created.payment_id, transaction);
    await until(() => fixture().sandbox.calls.sendTransaction === 2);
    fixture().sandbox.resumeSlots();

    expect(await settling).toMatchObject({ status: 200, body: { tx_signature: signature } });
    expect(received() - before).toBe(500_000n);
  });
});

describe('nobody pays twice', () => {
  test('what a wallet has paid by itself is not paid again through /settle', async () => {
    const wallet = await newWallet();
    const created = await fixture().create();
    const { body } = await scan(created.solana_pay_url, wallet);
    await fixture().sendPast(signScanned(body.transaction, wallet));
    const before = received();
    const second = await fixture().settle(created.payment_id, buildDraft(await fixture().draft(created)));

    expect([second.status, second.body['code']]).toEqual([400, 'payment_already_settled']);
    expect(received()).toBe(before);
  });

  test('a payment that is settled, on its way or over gives no transaction to sign', async () => {
    const wallet = await newWallet();
    const settled = await fixture().create();
    await fixture().settle(settled.payment_id, buildDraft(await fixture().draft(settled)));
    const over = await fixture().create({ expires_in: 30 });
    const underWay = await fixture().create();
    fixture().sandbox.pauseSlots();
    const settling = fixture().settle(underWay.payment_id, buildDraft(await fixture().draft(underWay)));
    await pollUntil(underWay, 'pending');
    const answers = new Map([
      [settled, 'payment_already_settled'],
      [underWay, 'payment_in_progress'],
      [over, 'payment_expired'],
    ]);
    now = () => Date.now() + 31_000;
    for (const [{ solana_pay_url }, code] of answers) {
      expect((await scan(solana_pay_url, wallet)).body).toMatchObject({ code });
    }
    fixture().sandbox.resumeSlots();
    await settling;
  });
});

describe('the time limit', () => {
  test('is 120 seconds unless another is asked for, and then the payment can be made no more', async () => {
    const usual = await fixture().create();
    const short = await fixture().create({ expires_in: 30 });
    const transaction = buildDraft(await fixture().draft(short));
    expect(usual.expires_at - short.expires_at).toBeGreaterThanOrEqual(89);
    expect(usual.expires_at - short.expires_at).toBeLessThanOrEqual(90);

    now = () => Date.now() + 31_000;
    fixture().sandbox.resetCalls();
    const refused = await fixture().settle(short.payment_id, transaction);
    expect([refused.status, refused.body['code']]).toEqual([400, 'payment_expired']);
    expect(fixture().sandbox.calls.sendTransaction).toBe(0);
    expect((await statusOf(short))['status']).toBe('expired');
    expect((await statusOf(usual))['status']).toBe('created');
  });

  test('does not touch what was settled in time: the same answer for ever', async () => {
    const created = await fixture().create({ expires_in: 30 });
    const transaction = buildDraft(await fixture().draft(created));
    const settled = await fixture().settle(created.payment_id, transaction);
    now = () => Date.now() + 901_000;

    expect((await fixture().settle(created.payment_id, transaction)).body).toEqual(settled.body);
    expect((await statusOf(created))['status']).toBe('settled');
  });

  test('does not hide a payment that a wallet sent in time and that is noticed too late', async () => {
    const wallet = await newWallet();
    const created = await fixture().create({ expires_in: 30 });
    const { body } = await scan(created.solana_pay_url, wallet);
    const transaction = signScanned(body.transaction, wallet);
    await fixture().sendPast(transaction);
    now = () => Date.now() + 31_000;

    expect((await fixture().settle(created.payment_id, transaction)).status).toBe(200);
    expect((await statusOf(created))['status']).toBe('settled');
  });
});

function pollUntilSettled(created: CreatedBody) {
  return pollUntil(created, 'settled');
}

async function pollUntil(created: CreatedBody, status: string) {
  await until(async () => (await statusOf(created))['status'] === status);
  return statusOf(created);
}
