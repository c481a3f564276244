import { decodePaymentResponseHeader } from '@x402/core/http';
import type { Express } from 'express';
import { badOption } from '../../../src/errors/errors.js';
import { paymentOf } from '../../../src/middleware/gate/request-properties.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import type { RequirePaymentOptions } from '../../../src/middleware/terms/payment-options.js';
import { toCaip2 } from '../../../src/protocol/networks/networks.js';
import { KNOWN_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { useNetworksFixture } from '../../helpers/fixtures/networks-fixture.js';
import { DAILY_EXPRESSES, QUICK } from '../../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { askTerms, carry, createGate, signPayment, signTerms } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const LIVE = toCaip2('solana');
const TEST = toCaip2('solana-devnet');
/** Which network, the place of its terms, and how it is named in them. */
const SIDES = [
  ['the first', 0, LIVE],
  ['the second', 1, TEST],
] as const;
const usdcOf = (network: 'solana' | 'solana-devnet') =>
  KNOWN_TOKENS[network].find(({ symbol }) => symbol === 'USDC')!.mint;

describe.each(DAILY_EXPRESSES)('a gate that names two networks (%s)', (_name, express) => {
  const fixture = useNetworksFixture();
  let url: string;
  let asked: string[] = [];

  beforeAll(async () => {
    const { live, test, storage } = fixture();
    const [facilitator, payTo] = [[live.facilitator, test.facilitator], live.payTo] as const;
    const perNetwork = { solana: live.payTo, 'solana-devnet': test.payTo };
    url = await live.serve((app: Express) => {
      app.get('/both', requirePayment({ facilitator, price: '$0.01', payTo: perNetwork }), (req, res) => {
        res.json({ network: paymentOf(req)?.terms.network });
      });
      const asking = (network: string) => () => {
        asked.push(network);
        return '$0.01';
      };
      const noted = { solana: asking('solana'), 'solana-devnet': asking('solana-devnet') };
      app.get('/asked', requirePayment({ facilitator, price: noted, payTo: perNetwork }), (_req, res) =>
        res.send('it'),
      );
      const hurried = [live, test].map((it) => it.facilitatorWith({ storage, settleTimeoutMs: 300 }, QUICK));
      const impatient = requirePayment({ facilitator: hurried, price: '$0.01', payTo: perNetwork });
      app.get('/hurried', impatient, (_req, res) => res.send('it'));
      const price = { solana: '$0.02', 'solana-devnet': ['0.5 PYUSD', '$0.03'] };
      app.get('/priced', requirePayment({ facilitator, price, payTo }), (_req, res) => res.send('paid'));
      app.get(
        '/first',
        requirePayment({ facilitator, settle: 'before', price: '$0.01', payTo: perNetwork }),
        (_req, res) => res.send('paid'),
      );
      app.get('/live', requirePayment({ facilitator: live.facilitator, price: '$0.01', payTo }), (_req, res) =>
        res.send('live goods'),
      );
      const testOnly = { facilitator: test.facilitator, price: '$0.01', payTo: test.payTo };
      app.get('/test', requirePayment(testOnly), (_req, res) => res.send('test goods'));
      app.use(paywall({ 'GET /wall': { solana: '$0.02', 'solana-devnet': '$0.03' } }, { facilitator, payTo }));
    }, express);
  });
  afterEach(() => {
    const { live, test } = fixture();
    for (const { sandbox } of [live, test]) sandbox.faults.clear();
  });

  test('lists the terms of both, each with the token, the wallet, the fee payer and the blockhash of its network', async () => {
    const { live, test } = fixture();
    await Promise.all([live.facilitator.health(), test.facilitator.health()]);
    await askTerms(`${url}/both`);
    const { accepts } = await askTerms(`${url}/both`);

    expect(accepts.map(({ network, asset, payTo, extra }) => [network, asset, payTo, extra?.['feePayer']])).toEqual([
      [LIVE, usdcOf('solana'), live.payTo, live.feePayer.publicKey.toBase58()],
      [TEST, usdcOf('solana-devnet'), test.payTo, test.feePayer.publicKey.toBase58()],
    ]);
  });

  test('may ask another price on each', async () => {
    const asked = await Promise.all(['/priced', '/wall'].map((path) => askTerms(url + path)));
    expect(asked.map(({ accepts }) => accepts.map(({ network, amount }) => [network, amount]))).toEqual([
      [
        [LIVE, '20000'],
        [TEST, '500000'],
        [TEST, '30000'],
      ],
      [
        [LIVE, '20000'],
        [TEST, '30000'],
      ],
    ]);
  });

  test.each([
    ['the first', 0, 'solana'],
    ['the second', 1, 'solana-devnet'],
  ] as const)('is paid on %s network, whose chain has the money then', async (_which, choice, network) => {
    const { live, test } = fixture();
    const side = network === 'solana' ? live : test;
    const before = side.sandbox.tokenBalance(side.payTo, usdcOf(network));
    const { v2 } = await signPayment(side, `${url}/both`, { choice });
    const answer = await fetch(`${url}/both`, { headers: v2 });

    expect([answer.status, await answer.json()]).toEqual([200, { network }]);
    const told = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
    expect(told).toMatchObject({ success: true, network: toCaip2(network) });
    expect(side.sandbox.tokenBalance(side.payTo, usdcOf(network)) - before).toBe(10_000n);
  });

  test.each(SIDES)('says on which network a payment was refused on %s', async (_which, choice, network) => {
    const { live, test } = fixture();
    const side = [live, test][choice]!;
    const paid = await signPayment(side, `${url}/both`, { choice, change: { amount: '9999' } });
    const offered = (await askTerms(`${url}/both`)).accepts[choice]!;
    const answer = await fetch(`${url}/both`, { headers: carry(paid.transaction, offered).v2 });
    expect(answer.status).toBe(402);
    const told = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
    expect(told).toMatchObject({ success: false, network });
  });

  test.each(SIDES)('says on which network a payment may have been sent on %s', async (_which, choice, network) => {
    const { live, test } = fixture();
    const side = [live, test][choice]!;
    const { v2 } = await signPayment(side, `${url}/hurried`, { choice });
    side.sandbox.faults.add({ kind: 'disconnect', method: 'sendTransaction' });
    for (const _time of ['first', 'again']) {
      const answer = await fetch(`${url}/hurried`, { headers: v2 });
      expect([answer.status, await codeOf(answer)]).toEqual([503, 'settlement_pending']);
      const told = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
      expect(told).toMatchObject({ success: false, network });
    }
  });

  test('asks the app for the price once on each network, of whatever version the payment is', async () => {
    const { live, test } = fixture();
    for (const version of ['v1', 'v2'] as const) {
      const paid = await signPayment(test, `${url}/asked`, { choice: 1 });
      asked = [];
      expect((await fetch(`${url}/asked`, { headers: paid[version] })).status).toBe(200);
      expect(asked).toEqual(['solana', 'solana-devnet']);
    }
    const poor = await live.sandbox.createWallet({ usdc: '0' });
    const { v1 } = await signPayment({ ...live, payer: poor }, `${url}/asked`, { change: { amount: '9999' } });
    asked = [];
    expect((await fetch(`${url}/asked`, { headers: v1 })).status).toBe(402);
    expect(asked).toEqual(['solana', 'solana-devnet']);
  });

  test('shows a browser the first of its networks', async () => {
    const { live, test } = fixture();
    const page = await (await fetch(`${url}/both`, { headers: { accept: 'text/html' } })).text();
    expect([live.payTo, test.payTo, 'Solana devnet'].map((it) => page.includes(it))).toEqual([true, false, false]);
  });

  test.each([0, 1])('takes the money before the handler on network %s as well, and version 1', async (choice) => {
    const { live, test } = fixture();
    const signed = await signPayment([live, test][choice]!, `${url}/first`, { choice });
    expect((await fetch(`${url}/first`, { headers: signed.v1 })).status).toBe(200);
  });

  test('is paid by the official client, which takes the first that it can pay', async () => {
    const { live } = fixture();
    const pay = await payingFetch({ wallet: live.payer, rpcUrl: live.sandbox.rpcUrl });
    expect((await pay(`${url}/both`)).status).toBe(200);
  });

  test('serves one payment once: the same bytes again buy nothing, whichever network is said to be theirs', async () => {
    const { test } = fixture();
    const paid = await signPayment(test, `${url}/both`, { choice: 1 });
    expect((await fetch(`${url}/both`, { headers: paid.v2 })).status).toBe(200);
    const [asLive] = (await askTerms(`${url}/both`)).accepts;
    const answers = await Promise.all([
      fetch(`${url}/both?again`, { headers: paid.v2 }),
      fetch(`${url}/both?live`, { headers: carry(paid.transaction, asLive!).v2 }),
    ]);
    expect(await Promise.all(answers.map(async (it) => [it.status, await codeOf(it)]))).toEqual([
      [402, 'payment_already_used'],
      [402, 'payment_invalid'],
    ]);
  });

  describe.each([
    ['test money', 'test', '/test', '/live'],
    ['live money', 'live', '/live', '/test'],
  ] as const)('%s', (_money, side, from, to) => {
    test('buys nothing at a gate of the other network: its terms are none of the offered', async () => {
      const { v2, v1 } = await signPayment(fixture()[side], url + from);
      const answers = await Promise.all([v2, v1].map((headers) => fetch(url + to, { headers })));
      expect(await Promise.all(answers.map(async (it) => [it.status, await codeOf(it)]))).toEqual([
        [402, 'no_matching_requirements'],
        [402, 'no_matching_requirements'],
      ]);
    });

    test('buys nothing there either where the terms of that gate are echoed', async () => {
      const { accepts } = await askTerms(url + to);
      const own = (await askTerms(url + from)).accepts[0]!;
      const { transaction } = await signTerms(fixture()[side], own);
      const answer = await fetch(url + to, { headers: carry(transaction, accepts[0]!).v2 });
      expect([answer.status, await codeOf(answer)]).toEqual([402, 'payment_invalid']);
    });
  });
});

describe('when one of two chains is out of reach, a gate on both', () => {
  const fixture = useNetworksFixture();
  let url: string;
  let brought: Response;

  beforeAll(async () => {
    const { live, test } = fixture();
    const options = { facilitator: [live.facilitator, test.facilitator], price: '$0.01', payTo: live.payTo } as const;
    url = await live.serve((app) => {
      app.get('/both', requirePayment(options), (_req, res) => res.send('paid'));
    });
    const early = await signPayment(live, `${url}/both`);
    await live.sandbox.close();
    brought = await fetch(`${url}/both`, { headers: early.v2 });
  });

  test('tells the first who pays there, and offers the terms of the other one from then on, and is paid there', async () => {
    const { test, live } = fixture();
    expect([brought.status, await codeOf(brought)]).toEqual([503, 'payment_backend_unavailable']);
    test.sandbox.fundToken(live.payTo, usdcOf('solana-devnet'), 0n);
    const offered = async () => (await askTerms(`${url}/both`)).accepts;
    await until(async () => (await offered()).length === 1);
    const accepts = await offered();
    expect(accepts.map(({ network }) => network)).toEqual([TEST]);
    const page = await (await fetch(`${url}/both`, { headers: { accept: 'text/html' } })).text();
    expect(page).toContain('Solana devnet');
    const { v2 } = await signTerms(test, accepts[0]!);
    expect((await fetch(`${url}/both`, { headers: v2 })).status).toBe(200);
  });

  test('says of both that they are out of reach once both are', async () => {
    const { live, test } = fixture();
    await test.facilitator.close();
    const answer = await fetch(`${url}/both`);
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toMatchObject([
      503,
      '5',
      { detail: 'Payments on solana and solana-devnet cannot be taken at the moment.' },
    ]);
    expect(live.facilitator.network).toBe('solana');
  });
});

describe('when the prices of both networks fail', () => {
  const fixture = useNetworksFixture();

  test('that is one error of the app, and nothing that nobody hears of', async () => {
    const { live, test } = fixture();
    const refused = createGate();
    const price = async () => {
      await refused.opened;
      throw new Error('the prices are away');
    };
    // As of a token that was declared with other decimals than it has, which is found out while the service runs.
    const declaredFault = () => badOption('createFacilitator', 'it has 6 decimals on the chain, not 2', 'tokens');
    const facilitator = [live.facilitator, { ...test.facilitator, declaredFault }];
    const options = { facilitator, price: { solana: price, 'solana-devnet': '$0.01' }, payTo: live.payTo };
    const url = await live.serve((app) => {
      app.set('env', 'test');
      app.get('/both', requirePayment(options));
    });
    const asked = fetch(`${url}/both`);
    refused.open();
    expect((await asked).status).toBe(500);
  });
});

describe('a gate on several networks is refused at the start', () => {
  const fixture = useNetworksFixture();

  const refused = (more: (both: RequirePaymentOptions['facilitator']) => Partial<RequirePaymentOptions>): string => {
    const { live, test } = fixture();
    const facilitator = [live.facilitator, test.facilitator];
    try {
      requirePayment({ facilitator, price: '$0.01', payTo: live.payTo, ...more(facilitator) });
    } catch (error) {
      return String(error);
    }
    return 'it was made';
  };

  test.each<[string, Partial<RequirePaymentOptions>, RegExp]>([
    ['with a pass', { pass: { uses: 2 } }, /a pass is sold, and held, on one network/],
    ['with a pass in a list', { price: [{ price: '$1', pass: { uses: 2 } }] }, /a pass is sold, and held, on one/],
    ['with holders', { holders: [{ tier: 'gold', free: true }] }, /"holders" names is sold, and held, on one network/],
    ['without a price on one', { price: { solana: '$0.01' } }, /"price" says nothing for solana-devnet/],
    [
      'with a recipient on a network that it is not on',
      { payTo: { solana: 'A', 'solana-devnet': 'B', 'solana-testnet': 'C' } },
      /"payTo" names solana-testnet, which no facilitator of this gate is on/,
    ],
    ['in a token that one of them does not know', { price: '1 CASH' }, /CASH/],
    ['with no facilitator', { facilitator: [] }, /"facilitator" must be a facilitator/],
  ])('%s', (_what, more, said) => {
    expect(refused(() => more)).toMatch(said);
  });

  test('with two facilitators on one network, or with a storage each', () => {
    const { live, test } = fixture();
    expect(refused(() => ({ facilitator: [live.facilitator, live.facilitatorWith({})] }))).toMatch(
      /two facilitators are on solana: give one for each network/,
    );
    expect(refused(() => ({ facilitator: [live.facilitator, test.facilitatorWith({})] }))).toMatch(
      /on solana-devnet has another storage than the first/,
    );
  });
});

async function codeOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { readonly code?: unknown }).code;
}
