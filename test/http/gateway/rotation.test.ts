import { Keypair } from '@solana/web3.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { type CreatedBody, signCreated } from '../../helpers/fixtures/native-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { askTerms, type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

const ledger = createMemoryLedger();
let fixture: TollFixture;
let [older, newer] = [Keypair.generate(), Keypair.generate()];

beforeAll(async () => {
  fixture = await openTollFixture({ maxBlockhashAgeBlocks: 5_000 });
  [older, newer] = [await fixture.sandbox.createWallet({ sol: '1' }), await fixture.sandbox.createWallet({ sol: '1' })];
});
afterAll(() => fixture.close());

/** The service after a start with these fee payers; every start knows the payments of those before. */
async function start(...keypair: readonly Keypair[]): Promise<string> {
  const facilitator = fixture.facilitatorWith({ keypair, ledger });
  const { payTo } = fixture;
  return fixture.serve((app) => {
    const price = ['$0.01', '0.01 USDT'];
    app.get('/paid', requirePayment({ facilitator, payTo, price }), (_req, res) => void res.send('delivered'));
    app.use(createRouter({ facilitator, limits: false }));
  });
}

async function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const paidBy = async (url: string, headers: PaymentHeaders) => {
  const before = [older, newer].map(({ publicKey }) => fixture.sandbox.balance(publicKey.toBase58()));
  const { status } = await fetch(`${url}/paid`, { headers });
  const after = [older, newer].map(({ publicKey }) => fixture.sandbox.balance(publicKey.toBase58()));
  return { status, paid: ['older', 'newer'].filter((_, at) => after[at]! < before[at]!) };
};

test('a key in the second place settles what was offered with it, while the first is offered', async () => {
  const early = await start(older);
  const [one, other] = [
    await signPayment(fixture, `${early}/paid`),
    await signPayment(fixture, `${early}/paid`, { choice: 1 }),
  ];
  const payer = fixture.payer.publicKey.toBase58();
  const wanted = { amount: 0.5, token: 'USDC', recipient: fixture.payTo, payer };
  const created = (await (await post(`${early}/create-payment`, wanted)).json()) as CreatedBody;
  const serverSide = await signPayment(fixture, `${early}/paid`);

  const late = await start(newer, older);
  const { accepts } = await askTerms(`${late}/paid`);
  expect(accepts.map(({ extra }) => extra?.['feePayer'])).toEqual(Array(2).fill(newer.publicKey.toBase58()));
  expect(await paidBy(late, one.v2)).toEqual({ status: 200, paid: ['older'] });
  // Version 1 does not say what it was offered.
  expect(await paidBy(late, other.v1)).toEqual({ status: 200, paid: ['older'] });
  const signed_transaction = Buffer.from(signCreated(created, fixture.payer)).toString('base64');
  expect((await post(`${late}/settle`, { payment_id: created.payment_id, signed_transaction })).status).toBe(200);
  const { accepted, transaction } = serverSide;
  const paymentPayload = {
    x402Version: 2,
    accepted,
    payload: { transaction: Buffer.from(transaction).toString('base64') },
  };
  const settled = await post(`${late}/settle`, { x402Version: 2, paymentPayload, paymentRequirements: accepted });
  expect(await settled.json()).toMatchObject({ success: true });

  const fresh = await signPayment(fixture, `${late}/paid`);
  expect(await paidBy(late, fresh.v1)).toEqual({ status: 200, paid: ['newer'] });
});

test('a key that is there no more settles nothing, and the answer offers the one that is', async () => {
  const early = await start(older);
  const [one, other] = [await signPayment(fixture, `${early}/paid`), await signPayment(fixture, `${early}/paid`)];
  const late = await start(newer);
  expect(await paidBy(late, one.v2)).toEqual({ status: 402, paid: [] });
  expect(await paidBy(late, other.v1)).toEqual({ status: 402, paid: [] });
});
