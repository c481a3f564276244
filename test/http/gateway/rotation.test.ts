import { Keypair } from '@solana/web3.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { type CreatedBody, signCreated } from '../../helpers/native-stand.js';
import { askTerms, type PaymentHeaders, signPayment } from '../../helpers/payments.js';
import { openTollStand, type TollStand } from '../../helpers/toll-stand.js';

const ledger = createMemoryLedger();
let stand: TollStand;
let [older, newer] = [Keypair.generate(), Keypair.generate()];

beforeAll(async () => {
  stand = await openTollStand({ maxBlockhashAgeBlocks: 5_000 });
  [older, newer] = [await stand.sandbox.createWallet({ sol: '1' }), await stand.sandbox.createWallet({ sol: '1' })];
});
afterAll(() => stand.close());

/** The service after a start with these fee payers; every start knows the payments of those before. */
async function start(...keypair: readonly Keypair[]): Promise<string> {
  const facilitator = stand.facilitatorWith({ keypair, ledger });
  const { payTo } = stand;
  return stand.serve((app) => {
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
  const before = [older, newer].map(({ publicKey }) => stand.sandbox.balance(publicKey.toBase58()));
  const { status } = await fetch(`${url}/paid`, { headers });
  const after = [older, newer].map(({ publicKey }) => stand.sandbox.balance(publicKey.toBase58()));
  return { status, paid: ['older', 'newer'].filter((_, at) => after[at]! < before[at]!) };
};

test('a key in the second place settles what was offered with it, while the first is offered', async () => {
  const early = await start(older);
  const [one, other] = [
    await signPayment(stand, `${early}/paid`),
    await signPayment(stand, `${early}/paid`, { choice: 1 }),
  ];
  const payer = stand.payer.publicKey.toBase58();
  const wanted = { amount: 0.5, token: 'USDC', recipient: stand.payTo, payer };
  const created = (await (await post(`${early}/create-payment`, wanted)).json()) as CreatedBody;
  const serverSide = await signPayment(stand, `${early}/paid`);

  const late = await start(newer, older);
  const { accepts } = await askTerms(`${late}/paid`);
  expect(accepts.map(({ extra }) => extra?.['feePayer'])).toEqual(Array(2).fill(newer.publicKey.toBase58()));
  expect(await paidBy(late, one.v2)).toEqual({ status: 200, paid: ['older'] });
  // Version 1 does not say what it was offered.
  expect(await paidBy(late, other.v1)).toEqual({ status: 200, paid: ['older'] });
  const signed_transaction = Buffer.from(signCreated(created, stand.payer)).toString('base64');
  expect((await post(`${late}/settle`, { payment_id: created.payment_id, signed_transaction })).status).toBe(200);
  const { accepted, transaction } = serverSide;
  const paymentPayload = {
    x402Version: 2,
    accepted,
    payload: { transaction: Buffer.from(transaction).toString('base64') },
  };
  const settled = await post(`${late}/settle`, { x402Version: 2, paymentPayload, paymentRequirements: accepted });
  expect(await settled.json()).toMatchObject({ success: true });

  const fresh = await signPayment(stand, `${late}/paid`);
  expect(await paidBy(late, fresh.v1)).toEqual({ status: 200, paid: ['newer'] });
});

test('a key that is there no more settles nothing, and the answer offers the one that is', async () => {
  const early = await start(older);
  const [one, other] = [await signPayment(stand, `${early}/paid`), await signPayment(stand, `${early}/paid`)];
  const late = await start(newer);
  expect(await paidBy(late, one.v2)).toEqual({ status: 402, paid: [] });
  expect(await paidBy(late, other.v1)).toEqual({ status: 402, paid: [] });
});
