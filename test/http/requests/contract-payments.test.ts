import type { Keypair } from '@solana/web3.js';
import { USDC } from '../../helpers/crash/crash-fixture.js';
import { useContractFixture } from '../../helpers/fixtures/contract-fixture.js';
import { emptyWallet } from '../../helpers/transactions/empty-wallet.js';
import { until } from '../../helpers/until.js';

const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/;
const BASE64 = /^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/;
const NETWORK = 'solana-devnet';
const SYSTEM = '11111111111111111111111111111111';

const fixture = useContractFixture();
const post = (path: string, body: unknown) => fixture().ask('POST', path, body);
const payerWith = (funds: object) => fixture().sandbox.createWallet(funds);

async function problemOf(answer: ReturnType<typeof post>) {
  const { status, body, headers } = await answer;
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(body['detail']).toMatch(/\w/);
  return [status, body['code']];
}

const instruction = {
  programId: expect.stringMatching(ADDRESS),
  keys: expect.any(Array),
  data: expect.stringMatching(BASE64),
};

describe.each([
  ['SOL', 0.5, 500_000_000],
  ['USDC', 1.25, 1_250_000],
  ['USDT', 2, 2_000_000],
])('%s', (token, amount, atomic) => {
  test('is asked for with three fields, the payer comes later', async () => {
    const { status, body } = await post('/create-payment', { amount, token, recipient: fixture().seller });
    expect(status).toBe(200);
    const { payment_id, transaction, expires_at } = body as Record<string, never>;
    expect(transaction).toEqual({
      from: SYSTEM,
      to: fixture().seller,
      amount: atomic,
      instructions: expect.arrayContaining([instruction]),
    });
    expect(Number.isInteger(expires_at)).toBe(true);
    expect(expires_at).toBeGreaterThan(Date.now() / 1000);
    expect(body['network']).toBe(NETWORK);

    const payer = await payerWith({ sol: '1', usdc: '10', usdt: '10' });
    const finished = await post(`/payments/${payment_id}/transaction`, { payer: payer.publicKey.toBase58() });
    expect(finished.body).toMatchObject({ payment_id, transaction: { from: payer.publicKey.toBase58() } });
    const settled = await fixture().settle(payer, finished.body as object as Parameters<typeof pay>[1]);
    expect(settled.status).toBe(200);
  });

  test('is created, paid, settled and verified', async () => {
    const payer = await payerWith({ sol: '1', usdc: '10', usdt: '10' });
    const created = await fixture().create(payer, { token, amount });
    const { status, body } = await pay(payer, created);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      tx_signature: expect.stringMatching(SIGNATURE),
      block_number: expect.any(Number),
      gas_used: expect.any(Number),
      explorer_url: `${fixture().server.url}/explorer/tx/${body['tx_signature']}`,
    });
    expect(Number.isInteger(body['block_number']) && Number.isInteger(body['gas_used'])).toBe(true);

    const verified = await post('/verify', { tx_signature: body['tx_signature'] });
    expect(verified.status).toBe(200);
    expect(verified.body).toMatchObject({
      verified: true,
      status: expect.stringMatching(/^(confirmed|finalized)$/),
      block_number: body['block_number'],
      confirmations: expect.any(Number),
      amount,
      token,
      from: payer.publicKey.toBase58(),
      to: fixture().seller,
    });

    const told = await fixture().ask('GET', `/payments/${created.payment_id}`);
    expect(told.body).toMatchObject({ status: 'settled', tx_signature: body['tx_signature'] });
  });
});

const pay = (payer: Keypair, created: { payment_id: string; transaction: { serialized: string } }) =>
  fixture().settle(payer, created);

describe('POST /create-payment is 400', () => {
  test.each([
    [{ amount: 0 }, 'invalid_amount'],
    [{ amount: 'much' }, 'invalid_amount'],
    [{ amount: undefined }, 'invalid_amount'],
    [{ token: 'DOGE' }, 'invalid_token'],
    [{ token: 7 }, 'invalid_token'],
    [{ recipient: 'nobody' }, 'invalid_recipient'],
    [{ payer: 'nobody' }, 'invalid_payer'],
    [{ split: [] }, 'invalid_split'],
    [{ network: 'ethereum' }, 'invalid_request'],
    [{ expires_in: 1 }, 'invalid_request'],
  ])('for %j: %s', async (change, code) => {
    const asked = { amount: 1, token: 'USDC', recipient: fixture().seller, ...change };
    expect(await problemOf(post('/create-payment', asked))).toEqual([400, code]);
  });
});

describe('POST /create-payment refuses a field without effect', () => {
  test.each([
    ['splits', [], 'did you mean "split"?'],
    ['projct', 'weather', 'did you mean "project"?'],
    ['expire_in', 600, 'did you mean "expires_in"?'],
    ['mem', 'invoice 7', 'did you mean "memo"?'],
    ['payr', 'me', 'did you mean "payer"?'],
    ['bps', 1, 'the fields are amount, token, recipient, payer'],
    ['xyz-unheard-of', 1, 'the fields are amount, token, recipient, payer'],
  ])('%s', async (field, value, hint) => {
    const asked = { amount: 1, token: 'USDC', recipient: fixture().seller, [field]: value };
    const { status, body } = await post('/create-payment', asked);
    expect([status, body['code'], body['param']]).toEqual([400, 'invalid_request', field]);
    expect(body['detail']).toContain(`/${field}: is no field of this request; ${hint}`);
  });

  test('of a share', async () => {
    const split = [{ recipient: fixture().seller, bps: 10_000, bsp: 1 }];
    const { status, body } = await post('/create-payment', {
      amount: 1,
      token: 'USDC',
      recipient: fixture().seller,
      split,
    });
    expect([status, body['code'], body['param']]).toEqual([400, 'invalid_request', 'split.0.bsp']);
    expect(body['detail']).toContain('did you mean "bps"?');
  });

  test('and a wallet that sends more than its account is answered', async () => {
    const payer = await payerWith({ sol: '1', usdc: '10' });
    const { body } = await post('/create-payment', { amount: 1, token: 'USDC', recipient: fixture().seller });
    const asked = { account: payer.publicKey.toBase58(), wallet: 'Some Wallet 1.0' };
    expect((await post(`/payments/${body['payment_id']}/transaction`, asked)).status).toBe(200);
  });
});

describe('POST /settle', () => {
  test('is 404 for a payment that does not exist', async () => {
    const asked = { payment_id: 'pay_nothing', signed_transaction: 'AAAA' };
    expect(await problemOf(post('/settle', asked))).toEqual([404, 'payment_not_found']);
  });

  test.each([
    ['that is no base64', '***'],
    ['that cannot be decoded', 'AAAA'],
    ['that is missing', undefined],
  ])('is 400 for a transaction %s', async (_name, signed_transaction) => {
    const { payment_id } = await fixture().create(await payerWith({ usdc: '2' }));
    expect(await problemOf(post('/settle', { payment_id, signed_transaction }))).toEqual([400, 'invalid_transaction']);
  });

  test('is 400 for a transaction that nobody has signed, and says why', async () => {
    const { payment_id, transaction } = await fixture().create(await payerWith({ usdc: '2' }));
    const { status, body } = await post('/settle', { payment_id, signed_transaction: transaction.serialized });
    expect([status, body['code'], body['reason']]).toEqual([
      400,
      'invalid_transaction',
      'invalid_exact_svm_payload_signature_invalid',
    ]);
  });

  test('is 400 for a payer without the money, and says so', async () => {
    const payer = await payerWith({ usdc: '0.5' });
    const { status, body } = await pay(payer, await fixture().create(payer));
    expect([status, body['code'], body['reason']]).toEqual([400, 'invalid_transaction', 'insufficient_funds']);
  });

  test('is 400 for a second transaction of a payment that is settled', async () => {
    const [first, second] = [await payerWith({ usdc: '2' }), await payerWith({ usdc: '2' })];
    const { payment_id } = (await post('/create-payment', { amount: 1, token: 'USDC', recipient: fixture().seller }))
      .body as { payment_id: string };
    const finish = async (payer: Keypair) => {
      const { body } = await post(`/payments/${payment_id}/transaction`, { payer: payer.publicKey.toBase58() });
      return body as object as Parameters<typeof pay>[1];
    };
    const [one, other] = [await finish(first), await finish(second)];
    const settled = await pay(first, one);
    expect(settled.status).toBe(200);
    expect(await problemOf(pay(second, other))).toEqual([400, 'payment_already_settled']);
    expect((await pay(first, one)).body).toEqual(settled.body);
  });

  test('is 500 for a transaction that failed on the chain, with its signature; /verify tells it, too', async () => {
    const { sandbox } = fixture();
    const payer = await payerWith({ usdc: '1' });
    const created = await fixture().create(payer);
    // The node lets it pass; when it lands, the money is gone.
    sandbox.faults.add({ kind: 'late', slots: 8, times: 1 });
    const { sendTransaction } = sandbox.calls;
    const failing = pay(payer, created);
    await until(() => sandbox.calls.sendTransaction > sendTransaction);
    emptyWallet(sandbox, payer, USDC);
    const { status, body } = await failing;
    sandbox.faults.clear();
    expect([status, body['code']]).toEqual([500, 'blockchain_error']);
    expect(body['tx_signature']).toMatch(SIGNATURE);
    const verified = await post('/verify', { tx_signature: body['tx_signature'] });
    expect(verified.body).toMatchObject({ verified: false, status: 'failed', amount: null, from: null, to: null });
  });
});

describe('POST /verify', () => {
  test('is 200 and not verified for a signature that is not on the chain', async () => {
    const { status, body } = await post('/verify', { tx_signature: '5'.repeat(87) });
    expect(status).toBe(200);
    expect(body).toEqual({
      verified: false,
      status: 'not_found',
      block_number: null,
      confirmations: null,
      amount: null,
      token: null,
      from: null,
      to: null,
      received: [],
      transfers: [],
      network: null,
    });
  });

  test.each([['short'], [7], ['0'.repeat(88)]])('is 400 for %p, which is no signature', async (tx_signature) => {
    expect(await problemOf(post('/verify', { tx_signature }))).toEqual([400, 'invalid_signature']);
  });
});

test.each(['/payments/pay_nothing', `/payments/${'x'.repeat(200)}`])('GET %s is 404', async (path) => {
  expect(await problemOf(fixture().ask('GET', path))).toEqual([404, 'payment_not_found']);
});
