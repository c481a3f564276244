import { VersionedTransaction } from '@solana/web3.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { encodeHeader, type PaymentHeaders, signPayment } from '../../helpers/transactions/payments.js';

interface Prepared {
  readonly code: string;
  readonly prepared?: {
    readonly payment: {
      readonly accepted: { readonly asset: string };
      readonly payload: { readonly transaction: string };
    };
    readonly missing?: string;
  };
}

describe.each(DAILY_EXPRESSES)('a payment that a page has prepared, %s', (_name, express) => {
  let fixture: TollFixture;
  let url: string;
  let usdt: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator, payTo } = fixture;
    usdt = facilitator.tokens.find(({ symbol }) => symbol === 'USDT')?.mint ?? '';
    const pay = requirePayment({ facilitator, payTo, price: ['$0.01', '0.01 USDT'] });
    const identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
    const holders = requireTokenBalance({ facilitator, identity, mint: usdt, minBalance: 5_000 });
    url = await fixture.serve((app) => {
      app.get('/essay', pay, (_req, res) => res.send('goods'));
      app.get('/either', anyOf(holders, pay), (_req, res) => res.send('goods'));
    }, express);
  });
  afterAll(() => fixture.close());

  const get = (headers: PaymentHeaders, path = '/essay') => fetch(url + path, { headers });
  const preparing = (more: object = {}): PaymentHeaders => ({
    'prepare-payment': encodeHeader({ payer: fixture.payer.publicKey.toBase58(), ...more }),
  });
  /** What a wallet makes of it. */
  function signed({ prepared }: Prepared): PaymentHeaders {
    if (prepared === undefined) throw new Error('nothing is prepared');
    const { payment } = prepared;
    const transaction = VersionedTransaction.deserialize(Buffer.from(payment.payload.transaction, 'base64'));
    transaction.sign([fixture.payer]);
    const payload = { ...payment.payload, transaction: Buffer.from(transaction.serialize()).toString('base64') };
    return { 'payment-signature': encodeHeader({ ...payment, payload }) };
  }

  test('is the first offer, and opens the route once its wallet has signed it', async () => {
    const answer = await get({ ...preparing(), accept: 'text/html' });
    const said = (await answer.json()) as Prepared;
    expect([answer.status, said.code, said.prepared?.missing]).toEqual([402, 'payment_required', undefined]);
    const paid = await get(signed(said));
    expect([paid.status, await paid.text()]).toEqual([200, 'goods']);
  });

  test('is the offer that was chosen', async () => {
    const said = (await (await get(preparing({ asset: usdt, amount: '10000' }))).json()) as Prepared;
    expect(said.prepared?.payment.accepted.asset).toBe(usdt);
    expect((await get(signed(said))).status).toBe(200);
  });

  test('is asked for with a header that can be read', async () => {
    const answer = await get({ 'prepare-payment': encodeHeader({ payer: 'nobody' }) });
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_request' }]);
  });

  test('is not made beside another payment, which is served whatever the header says', async () => {
    const { v2 } = await signPayment(fixture, `${url}/essay`);
    expect((await get({ ...v2, 'prepare-payment': 'nonsense' })).status).toBe(200);
    const cheap = await signPayment(fixture, `${url}/essay`, { change: { amount: '1' } });
    const refused = (await (await get({ ...cheap.v2, ...preparing() })).json()) as Prepared;
    expect([refused.code, refused.prepared]).toEqual(['no_matching_requirements', undefined]);
  });

  test('is told in anyOf, though what the wallet has shown is no good', async () => {
    const wrong = { authorization: 'Bearer nonsense' };
    expect((await get(wrong, '/either')).status).toBe(401);
    const answer = await get({ ...wrong, ...preparing() }, '/either');
    const said = (await answer.json()) as Prepared;
    expect([answer.status, said.prepared]).toEqual([402, expect.anything()]);
  });
});
