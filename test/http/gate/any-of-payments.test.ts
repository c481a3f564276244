import { Keypair } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import type { RequestHandler } from 'express';
import { createHoldings } from '../../../src/access/holdings.js';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import type { FacilitatorOptions } from '../../../src/facilitator/facilitator-options.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import type { Gateway } from '../../../src/gateway/gateway.js';
import { createIdentity, type WalletIdentity } from '../../../src/identity/create-identity.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import type { Gate } from '../../../src/middleware/gate/gate.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { serviceKeyAuth } from '../../../src/middleware/service-key/service-key-auth.js';
import type { RequirePaymentOptions } from '../../../src/middleware/terms/payment-options.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { keyHeaders } from '../../helpers/fixtures/keys-fixture.js';
import { type NetworkSide, useNetworksFixture } from '../../helpers/fixtures/networks-fixture.js';
import { DAILY_EXPRESSES, QUICK } from '../../helpers/fixtures/toll-fixture.js';
import { accessTokenFor } from '../../helpers/http/sign-in.js';
import {
  askTerms,
  createGate,
  type PaymentHeaders,
  type SignedPayment,
  signTerms,
} from '../../helpers/transactions/payments.js';
import { walletKey, walletKeyOf } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

const OPERATOR = Keypair.generate().publicKey.toBase58();
const PRICE = 10_000n;
/** Two gates that differ in one thing. */
const PAIRS = ['recipient', 'token', 'network', 'memo'] as const;
const ORDERS = ['ab', 'ba'] as const;
const VERSIONS = ['v1', 'v2'] as const;
const CASES = PAIRS.flatMap((pair) => ORDERS.flatMap((order) => VERSIONS.map((version) => ({ pair, order, version }))));
type Case = (typeof CASES)[number];
const NO_MATCH = [402, 'no_matching_requirements'];

describe.each(DAILY_EXPRESSES)('two payment gates in anyOf, %s', (_name, express) => {
  const fixture = useNetworksFixture();
  const usdc = (side: NetworkSide) => side.facilitator.tokens.find(({ symbol }) => symbol === 'USDC')?.mint ?? '';
  let live: NetworkSide;
  let gateway: Gateway;
  let identity: WalletIdentity;
  let url: string;
  let runs = 0;
  /** What the handler waits for. */
  let inHandler: () => Promise<unknown>;

  beforeAll(async () => {
    const { test, storage } = fixture();
    live = fixture().live;
    const other = await live.sandbox.createWallet({ usdc: '0' });
    const pairsWith = (options: Partial<FacilitatorOptions>) => {
      const [facilitator, onTest] = [live, test].map((it) => it.facilitatorWith({ storage, ...options }, QUICK));
      const a: RequirePaymentOptions = { facilitator: facilitator!, payTo: live.payTo, price: '$0.01' };
      const seconds: Readonly<Record<(typeof PAIRS)[number], RequirePaymentOptions>> = {
        recipient: { ...a, payTo: other.publicKey.toBase58() },
        token: { ...a, price: '0.01 USDT' },
        network: { ...a, facilitator: onTest!, payTo: test.payTo },
        memo: { ...a, memo: 'the second' },
      };
      return { facilitator: facilitator!, a, seconds };
    };
    const { facilitator, a, seconds } = pairsWith({});
    const hurried = pairsWith({ settleTimeoutMs: 150 });
    gateway = createGateway({ facilitator, storage, operators: [OPERATOR] });
    identity = createIdentity({ facilitator, jwtSecret: SECRET });
    const handler: RequestHandler = (_req, res, next) => {
      runs += 1;
      inHandler().then(() => res.send('goods'), next);
    };
    url = await live.serve((app) => {
      const add = (name: string, first: Gate, second: Gate, before: readonly Gate[] = []) => {
        app.get(`/${name}/a`, first, handler);
        app.get(`/${name}/b`, second, handler);
        app.get(`/${name}/ab`, anyOf(...before, first, second), handler);
        app.get(`/${name}/ba`, anyOf(second, ...before, first), handler);
      };
      for (const pair of PAIRS) {
        add(pair, requirePayment(first(pair, a)), requirePayment(seconds[pair]));
        add(`hurried/${pair}`, requirePayment(first(pair, hurried.a)), requirePayment(hurried.seconds[pair]));
      }
      const { recipient } = seconds;
      add('named', requirePayment({ ...a, paymentIdentifier: 'required' }), requirePayment(recipient));
      add('held', requirePayment(a), requirePayment(recipient), [holders(facilitator)]);
      add('keyed', requirePayment(a), requirePayment(recipient), [serviceKeyAuth({ gateway })]);
      const pass = { uses: 2 };
      add('passes', requirePayment({ ...a, pass: { ...pass, group: 'a' } }), requirePayment({ ...a, pass }));
      add('sites', requirePayment({ ...a, pass }), requirePayment({ ...recipient, pass }));
    }, express);
  });
  beforeEach(() => {
    runs = 0;
    inHandler = async () => undefined;
  });
  afterEach(() => {
    live.sandbox.faults.clear();
    live.sandbox.resumeSlots();
  });

  /** A payment without a memo is for the first of the gates that ask for one. */
  function first(pair: (typeof PAIRS)[number], a: RequirePaymentOptions): RequirePaymentOptions {
    return pair === 'memo' ? { ...a, memo: 'the first' } : a;
  }
  function holders(facilitator: EmbeddedFacilitator): Gate {
    const holdings = createHoldings({ facilitator, staleMs: 0, strangerLooksPerSecond: 1_000 });
    return requireTokenBalance({ facilitator, identity, holdings, mint: usdc(live), minBalance: 100 });
  }

  async function termsOf(path: string): Promise<PaymentRequirements> {
    const { accepts } = await askTerms(url + path);
    if (accepts[0] === undefined) throw new Error('no terms');
    return accepts[0];
  }
  async function signFor(path: string, payer = live.payer, side = live): Promise<SignedPayment> {
    return signTerms({ sandbox: side.sandbox, payer }, await termsOf(path));
  }
  const sideOf = ({ pair }: Case) => (pair === 'network' ? fixture().test : live);
  /** What a response says: status, code, reason, and whose terms it offers. */
  async function told(path: string, headers: PaymentHeaders = {}) {
    const answer = await fetch(url + path, { headers });
    if (answer.ok) return { said: [answer.status, await answer.text()] };
    const { code, error, accepts } = (await answer.json()) as {
      readonly code?: string;
      readonly error?: string;
      readonly accepts?: readonly Pick<PaymentRequirements, 'payTo' | 'asset' | 'network' | 'extra'>[];
    };
    const terms = accepts?.map(({ payTo, asset, network, extra }) => [payTo, asset, network, extra?.['memo']]);
    return { said: [answer.status, code], reason: error, terms };
  }
  /** The same of the terms that a gate offers when it is alone. */
  async function termsTold(path: string) {
    return (await told(path)).terms;
  }

  describe.each(CASES)('that differ in the $pair, asked in the order $order, by $version', (where) => {
    const { pair, order, version } = where;
    const both = `/${pair}/${order}`;
    const pays = (path: string, payment: SignedPayment) => told(path, payment[version]);

    test('serve a payment for either of them', async () => {
      const [forA, forB] = [
        await signFor(`/${pair}/a`),
        await signFor(`/${pair}/b`, sideOf(where).payer, sideOf(where)),
      ];
      const answers = [await pays(both, forA), await pays(both, forB)];
      expect(answers.map(({ said }) => said)).toEqual([
        [200, 'goods'],
        [200, 'goods'],
      ]);
    });

    test('ask with the terms of the last for a payment, where none came', async () => {
      const last = await termsTold(`/${pair}/${order.slice(1)}`);
      expect(await told(both)).toMatchObject({ said: [402, 'payment_required'], terms: last });
    });

    test('tell plainly that a payment is for neither', async () => {
      const amount = String(PRICE + 1n);
      const payment = await signTerms(live, { ...(await termsOf(`/${pair}/a`)), amount });
      const { said, reason } = await pays(both, payment);
      // Version 1 names no terms: what is wrong is told of those on its network.
      const isOnNetwork = version === 'v1' && !(pair === 'network' && order === 'ab');
      if (isOnNetwork) expect([said, reason]).toEqual([[402, 'payment_invalid'], expect.stringMatching(/_mismatch$/)]);
      else expect(said).toEqual(NO_MATCH);
    });

    test('tell a payer of the first who has too little what is wrong with his payment, and its terms', async () => {
      const poor = await live.sandbox.createWallet({ usdc: '0' });
      const payment = await signFor(`/${pair}/a`, poor);
      expect(await pays(both, payment)).toEqual({
        said: [402, 'payment_invalid'],
        reason: 'insufficient_funds',
        terms: await termsTold(`/${pair}/a`),
      });
    });

    test('tell a suspended payer of the first that he is suspended', async () => {
      const payer = await live.sandbox.createWallet({ usdc: '1' });
      const what = { kind: 'wallet', target: payer.publicKey.toBase58() } as const;
      const payment = await signFor(`/${pair}/a`, payer);
      await gateway.operator.suspend({ wallet: OPERATOR }, what);
      const answer = await pays(both, payment);
      await gateway.operator.resume({ wallet: OPERATOR }, what);

      expect(answer).toMatchObject({ said: [403, 'wallet_suspended'], terms: await termsTold(`/${pair}/a`) });
      expect(await pays(both, payment)).toEqual({ said: [200, 'goods'] });
    });

    test('tell whoever brings a payment of the first again, for another request, that it was used, and its terms', async () => {
      const payment = await signFor(`/${pair}/a`);
      expect((await pays(both, payment)).said).toEqual([200, 'goods']);
      expect(await pays(`${both}?page=2`, payment)).toMatchObject({
        said: [402, 'payment_already_used'],
        terms: await termsTold(`/${pair}/a`),
      });
      expect(runs).toBe(1);
    });

    test('tell whoever sends a payment of the first while it is being served that it is', async () => {
      const payment = await signFor(`/${pair}/a`);
      const gate = createGate();
      inHandler = () => gate.opened;
      const serving = pays(both, payment);
      await until(() => runs === 1);
      expect((await pays(both, payment)).said).toEqual([409, 'payment_in_progress']);

      gate.open();
      expect((await serving).said).toEqual([200, 'goods']);
    });

    test('tell a payer of the first whose payment is on its way to wait, and take it once', async () => {
      const payer = await live.sandbox.createWallet({ usdc: '1' });
      const held = () => live.sandbox.tokenBalance(payer.publicKey.toBase58(), usdc(live));
      const before = held();
      const hurried = `/hurried/${pair}/${order}`;
      const payment = await signFor(`/hurried/${pair}/a`, payer);
      live.sandbox.pauseSlots();
      const pending = [503, 'settlement_pending'];
      expect([(await pays(hurried, payment)).said, (await pays(hurried, payment)).said]).toEqual([pending, pending]);

      live.sandbox.resumeSlots();
      let answer = await pays(hurried, payment);
      // A busy machine may not see in time that it has landed; clients come again.
      while (answer.said[0] === 503) answer = await pays(hurried, payment);
      expect(answer.said).toEqual([200, 'goods']);
      expect(before - held()).toBe(PRICE);
    });
  });

  describe.each(VERSIONS)('of which one cannot reach its chain, by %s', (version) => {
    test.each(ORDERS)('tell its payer, asked in the order %s, to come again and not to pay anew', async (order) => {
      const both = `/network/${order}`;
      const payment = await signFor('/network/a');
      live.sandbox.faults.add({ kind: 'error' });
      expect((await told(both, payment[version])).said).toEqual([503, 'payment_backend_unavailable']);

      live.sandbox.faults.clear();
      expect((await told(both, payment[version])).said).toEqual([200, 'goods']);
    });

    test.each(ORDERS)('serve the payer of the other, asked in the order %s', async (order) => {
      const { test: side } = fixture();
      const payment = await signFor('/network/b', side.payer, side);
      live.sandbox.faults.add({ kind: 'error' });
      expect((await told(`/network/${order}`, payment[version])).said).toEqual([200, 'goods']);
    });

    test.each(ORDERS)('tell the payer of the other what is wrong, asked in the order %s', async (order) => {
      const { test: side } = fixture();
      const poor = await side.sandbox.createWallet({ usdc: '0' });
      const payment = await signFor('/network/b', poor, side);
      live.sandbox.faults.add({ kind: 'error' });
      expect(await told(`/network/${order}`, payment[version])).toMatchObject({ reason: 'insufficient_funds' });
    });
  });

  describe.each(ORDERS)('of which one wants payments to be named, asked in the order %s', (order) => {
    test.each(VERSIONS)('say nothing of names to a payer of the other, by %s', async (version) => {
      const poor = await live.sandbox.createWallet({ usdc: '0' });
      const answer = await told(`/named/${order}`, (await signFor('/named/b', poor))[version]);
      expect(answer).toMatchObject({ reason: 'insufficient_funds', terms: await termsTold('/named/b') });
    });

    test('tell its own payer that the name is missing', async () => {
      const answer = await told(`/named/${order}`, (await signFor('/named/a')).v2);
      expect(answer.said).toEqual([400, 'invalid_payment_identifier']);
    });
  });

  describe.each(['held', 'keyed'])('beside a gate that takes no payments (%s)', (name) => {
    async function proofOf(): Promise<PaymentHeaders> {
      if (name === 'held') return accessTokenFor(walletKey('holds nothing'), identity, url);
      const owner = walletKeyOf(live.payer.secretKey.subarray(0, 32)).address;
      const key = await gateway.keys.generate(owner, { name: 'a key' });
      return { ...keyHeaders(key), 'x-service-secret': 'wrong' };
    }

    describe.each(ORDERS)('asked in the order %s', (order) => {
      test.each(VERSIONS)('say what is wrong with a payment of the first, by %s', async (version) => {
        const poor = await live.sandbox.createWallet({ usdc: '0' });
        const payment = await signFor(`/${name}/a`, poor);
        const answer = await told(`/${name}/${order}`, { ...payment[version], ...(await proofOf()) });
        expect(answer).toMatchObject({ reason: 'insufficient_funds', terms: await termsTold(`/${name}/a`) });
      });

      test('serve a payment for either, and tell plainly of one for neither', async () => {
        const proof = await proofOf();
        const neither = await signTerms(live, { ...(await termsOf(`/${name}/a`)), amount: '1' });
        const payments = [await signFor(`/${name}/a`), await signFor(`/${name}/b`), neither];
        const said: unknown[] = [];
        for (const { v2 } of payments) said.push((await told(`/${name}/${order}`, { ...v2, ...proof })).said);
        expect(said).toEqual([[200, 'goods'], [200, 'goods'], NO_MATCH]);
      });
    });
  });

  test('beside a gate that cannot read balances tell whose payment is for neither to come again', async () => {
    const proof = await accessTokenFor(walletKey('may hold enough'), identity, url);
    const neither = await signTerms(live, { ...(await termsOf('/held/a')), amount: '1' });
    const poor = await signFor('/held/a', await live.sandbox.createWallet({ usdc: '0' }));
    live.sandbox.faults.add({ kind: 'error', method: 'getMultipleAccounts' });
    const ask = (payment: SignedPayment) => told('/held/ab', { ...payment.v2, ...proof });
    expect((await ask(neither)).said).toEqual([503, 'chain_unavailable']);
    live.sandbox.faults.clear();
    expect([(await ask(neither)).said, (await ask(poor)).reason]).toEqual([NO_MATCH, 'insufficient_funds']);
  });

  test.each(['passes', 'sites'].flatMap((name) => ORDERS.map((order) => [name, order])))(
    'say of a pass of the first (%s, asked in the order %s) that it is used up, and what it cost there',
    async (name, order) => {
      const both = `/${name}/${order}`;
      const paid = await fetch(url + both, { headers: (await signFor(`/${name}/a`)).v2 });
      const token = { 'access-pass': paid.headers.get('access-pass') ?? '' };
      expect((await told(both, token)).said).toEqual([200, 'goods']);
      expect(await told(both, token)).toMatchObject({
        said: [402, 'pass_used_up'],
        terms: await termsTold(`/${name}/a`),
      });
    },
  );
});
