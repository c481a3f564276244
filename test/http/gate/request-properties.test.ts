import { PublicKey } from '@solana/web3.js';
import type { Express, RequestHandler } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import type { PaymentEvents } from '../../../src/facilitator/events/events.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import type { ServiceKey } from '../../../src/identity/service-keys/service-key-types.js';
import { paymentOf, serviceKeyOf, tierOf, walletOf } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTier } from '../../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import { askTerms, signPayment } from '../../helpers/transactions/payments.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const OWN = { payment: 'an order', wallet: 'a purse', tier: 'a floor', serviceKey: 'a room' };
const NAMES = ['payment', 'wallet', 'tier', 'serviceKey', 'x402', 'holder', 'membership'];
const KEY: ServiceKey = {
  ...{ id: 'key_1', publicKey: 'toll_pk', owner: USDC, name: 'mine', mode: 'test', createdAt: 0 },
  ...{ scopes: ['call'], allowedIps: [], metadata: {} },
};

/** Middleware of the app, with properties of its own that happen to be called as ours. */
const addOwn: RequestHandler = (req, _res, next) => {
  Object.assign(req, OWN);
  next();
};

/** What is on the properties, and what was learned. */
const tell: RequestHandler = (req, res) => {
  const on = Object.fromEntries(NAMES.map((name) => [name, Reflect.get(req, name) ?? null]));
  const learned = [paymentOf(req)?.payer, walletOf(req)?.address, tierOf(req)?.id, serviceKeyOf(req)?.id];
  res.json({ on, learned: learned.map((it) => it ?? null) });
};

interface Told {
  readonly on: Readonly<Record<string, unknown>>;
  readonly learned: readonly unknown[];
}

const told = async (response: Response): Promise<Told> => JSON.parse(await response.text());

describe.each(EXPRESSES)('what gates put on a request, %s', (_name, express) => {
  const wallet = walletKey('properties');
  let fixture: TollFixture;
  let identity: WalletIdentity;
  let url: string;
  let events: unknown[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    fixture.sandbox.fundToken(wallet.address, USDC, 200_000_000n);
    const { facilitator } = fixture;
    const payTo = new PublicKey(fixture.payTo);
    identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
    const pay = { facilitator, payTo, price: { amount: 10_000n, asset: new PublicKey(USDC) } };
    const hold = { facilitator, identity, holdings: createHoldings({ facilitator, staleMs: 0 }) };
    const gateway = { keys: { authenticate: () => ({ ok: true as const, key: KEY, rate: undefined }) } };
    facilitator.on('payment.settled', (event: PaymentEvents['payment.settled']) => events.push(event));
    url = await fixture.serve((app: Express) => {
      app.use(addOwn);
      const onSettled = (event: { readonly receipt: unknown }) => events.push(event.receipt);
      app.get('/default', requirePayment(pay), tell);
      app.get('/renamed', requirePayment({ ...pay, requestNames: { payment: 'x402' } }), tell);
      app.get('/none', requirePayment({ ...pay, onSettled, requestNames: { payment: false } }), tell);
      app.get('/before', requirePayment({ ...pay, settle: 'before', requestNames: { payment: 'x402' } }), tell);
      app.get('/to/:shop', requirePayment({ ...pay, payTo: async () => payTo }), tell);
      app.get('/whole', requirePayment({ ...pay, settle: 'before' }), (req, res) => {
        const { payment } = req;
        res.json([payment, { ...payment }, structuredClone(payment?.receipt)?.amount === 10_000n, payment?.receipt]);
      });
      const both = { wallet: 'holder', tier: 'membership' };
      app.get(
        '/holders',
        requireTokenBalance({ ...hold, mint: new PublicKey(USDC), minBalance: 1, requestNames: { wallet: false } }),
        tell,
      );
      app.get('/nfts', requireTokenBalance({ ...hold, collection: [new PublicKey(USDC)] }), tell);
      app.get('/tiers', requireTier({ ...hold, tiers: { mint: new PublicKey(USDC) }, requestNames: both }), tell);
      app.get('/read', readTier({ ...hold, requestNames: { wallet: false, tier: false } }), tell);
      app.get('/keys', serviceKeyAuth({ gateway, requestNames: { serviceKey: false } }), tell);
    }, express);
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    events = [];
  });

  async function paid(path: string) {
    const { v2 } = await signPayment(fixture, `${url}${path}`);
    const response = await fetch(`${url}${path}`, { headers: v2 });
    return told(response);
  }
  const signedIn = async (path: string) => {
    const response = await fetch(`${url}${path}`, { headers: await accessTokenFor(wallet, identity, url) });
    return told(response);
  };
  const payer = () => fixture.payer.publicKey.toBase58();

  test('a payment is on req.payment, unless the gate was told otherwise', async () => {
    const body = await paid('/default');
    expect(body.on).toMatchObject({ ...OWN, payment: { payer: payer() }, x402: null });
    expect(body.learned).toEqual([payer(), null, null, null]);
  });

  test.each(['/renamed', '/before'])(
    'at %s it is on req.x402, and the property of the app is left alone',
    async (path) => {
      const body = await paid(path);
      expect(body.on).toMatchObject({ ...OWN, x402: { payer: payer(), terms: { amount: '10000' } } });
      expect(body.learned).toEqual([payer(), null, null, null]);
    },
  );

  test('it can be on no property at all, and paymentOf tells of it', async () => {
    const body = await paid('/none');
    expect(body.on).toEqual({ ...OWN, x402: null, holder: null, membership: null });
    expect(body.learned).toEqual([payer(), null, null, null]);
  });

  test('wallets, tiers and keys are put where the gate was told', async () => {
    const [holders, tiers, read, keys] = [
      await signedIn('/holders'),
      await signedIn('/tiers'),
      await signedIn('/read'),
      await told(await fetch(`${url}/keys`, { headers: { 'x-service-key': 'k', 'x-service-secret': 's' } })),
    ];
    const none = { ...OWN, x402: null, holder: null, membership: null };

    expect(holders).toEqual({ on: none, learned: [null, wallet.address, null, null] });
    expect(tiers.on).toMatchObject({ ...OWN, holder: { address: wallet.address }, membership: { id: 'bronze' } });
    expect(tiers.learned).toEqual([null, wallet.address, 'bronze', null]);
    expect(read).toEqual({ on: none, learned: [null, wallet.address, 'bronze', null] });
    expect(keys).toEqual({ on: none, learned: [null, null, null, 'key_1'] });
  });

  test('req.payment goes into JSON, amounts as digits, and so do copies of it', async () => {
    const { v2 } = await signPayment(fixture, `${url}/whole`);
    const response = await fetch(`${url}/whole`, { headers: v2 });
    const [payment, copy, isCloned, receipt] = JSON.parse(await response.text());

    expect(response.status).toBe(200);
    expect(payment).toMatchObject({ payer: payer(), terms: { amount: '10000', payTo: fixture.payTo, asset: USDC } });
    expect(payment.receipt).toEqual(receipt);
    expect(receipt).toMatchObject({ amount: '10000', payer: payer(), payTo: fixture.payTo });
    expect(copy).toEqual(payment);
    expect(isCloned).toBe(true);
  });

  test('what listeners are told goes into JSON', async () => {
    await paid('/none');
    expect(JSON.parse(JSON.stringify(events))).toMatchObject([{ receipt: { amount: '10000' } }, { amount: '10000' }]);
    expect(JSON.stringify(await fixture.facilitator.health())).toMatch(/"lamports":"\d+"/);
  });

  test('a PublicKey is taken for a recipient, a token, a mint and a collection', async () => {
    const { accepts } = await askTerms(`${url}/default`);
    const tenant = await askTerms(`${url}/to/shop`);

    expect(accepts).toMatchObject([{ payTo: fixture.payTo, asset: USDC, amount: '10000' }]);
    expect(tenant.accepts).toEqual([expect.objectContaining({ payTo: fixture.payTo })]);
    expect((await signedIn('/nfts')).learned).toEqual([null, wallet.address, null, null]);
  });
});

describe('requestNames', () => {
  const facilitator = { openPayment() {} };
  const gate = (requestNames: object) => () =>
    Reflect.apply(requirePayment, undefined, [{ facilitator, price: '$1', payTo: USDC, requestNames }]);

  test.each([
    ['a property of Express', { payment: 'body' }],
    ['a property of the request of Node.js', { payment: 'headers' }],
    ['the prototype', { payment: '__proto__' }],
    ['no name', { payment: '' }],
    ['what the gate does not learn', { serviceKey: 'key' }],
    ['something else', { payment: true }],
  ])('refuses %s', (_what, names) => {
    expect(gate(names)).toThrow(/option "requestNames/);
  });

  test('are one each', () => {
    const names = { wallet: 'caller', tier: 'caller' };
    const reader = { readHolding() {}, tokens: [] };
    expect(() => Reflect.apply(requireTier, undefined, [{ facilitator: reader, requestNames: names }])).toThrow(
      /another name for each/,
    );
  });
});
