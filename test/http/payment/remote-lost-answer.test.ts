import express, { type Express } from 'express';
import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import type { RemoteFacilitatorOptions } from '../../../src/facilitator/remote/remote-options.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { toCaip2 } from '../../../src/protocol/networks/networks.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { referenceFacilitator } from '../../helpers/http/official-servers.js';
import { receiptOf, type SignedPayment, signPayment } from '../../helpers/transactions/payments.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;
const HIGHEST_FEE = 10_100n;
const FOUR_MINUTES = 240_000;

/** What becomes of the responses to settlements. `swallow`: the facilitator does not even hear of them. */
type Line = 'well' | 'lose' | 'swallow';

const REMOTES: readonly (readonly [string, (fixture: TollFixture) => Promise<string>])[] = [
  [
    'our own router',
    (fixture) => {
      const facilitator = fixture.facilitatorWith({ ledger: createMemoryLedger() });
      return fixture.serve((app) => app.use(createRouter({ facilitator, limits: false })));
    },
  ],
  [
    'the reference facilitator',
    async (fixture) => {
      const { feePayer, sandbox } = fixture;
      const reference = await referenceFacilitator(feePayer, sandbox.rpcUrl, toCaip2('solana-devnet'));
      return fixture.serve((app) => app.use(reference));
    },
  ],
];

describe.each(REMOTES)('%s, whose answer to a settlement is lost', (name, open) => {
  const isOurs = name === 'our own router';
  let fixture: TollFixture;
  let elsewhere: string;
  let url: string;
  let line: Line = 'well';
  let later = 0;
  let runs: string[] = [];
  let before: { readonly payer: bigint; readonly feePayer: bigint };
  const closers: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    elsewhere = await open(fixture);
    const relay = await fixture.serve(relayTo(elsewhere));
    const { network, tokens, sandbox } = { ...fixture.facilitator, ...fixture };
    const now = () => Date.now() + later;
    const make = (more: Partial<RemoteFacilitatorOptions>) => {
      const made = remoteFacilitator({ url: relay, network, tokens, now, ledger: createMemoryLedger(), ...more });
      closers.push(made.close);
      return made;
    };
    const facilitators = { chain: make({ rpcUrl: sandbox.rpcUrl }), blind: make({}) };
    url = await fixture.serve((app) => {
      for (const [path, facilitator] of Object.entries(facilitators)) {
        for (const settle of ['after', 'before'] as const) {
          const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', settle });
          app.get(`/${path}/${settle}`, gate, (req, res) => {
            runs.push(req.path);
            res.send('goods');
          });
        }
      }
    });
  });
  beforeEach(() => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    [line, later, runs, before] = ['well', 0, [], balances()];
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    for (const close of closers) await close();
    await fixture.close();
  });

  /** Passes everything on; the responses to settlements only while the line is well. */
  function relayTo(target: string): (app: Express) => void {
    return (app) =>
      app.use(express.text({ type: () => true }), async (req, res) => {
        const isLost = line !== 'well' && req.path === '/settle';
        if (isLost && line === 'swallow') return void res.socket?.destroy();
        const headers = { 'content-type': 'application/json' };
        const init = req.method === 'POST' ? { method: 'POST', headers, body: String(req.body) } : {};
        const answer = await fetch(`${target}${req.path}`, init);
        const text = await answer.text();
        if (isLost) return void res.socket?.destroy();
        res.status(answer.status).type('json').send(text);
      });
  }

  const balances = () => ({
    payer: fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC),
    feePayer: fixture.sandbox.account(fixture.feePayer.publicKey.toBase58())?.lamports ?? 0n,
  });
  const paid = (): bigint => before.payer - balances().payer;
  const lost = (): bigint => before.feePayer - balances().feePayer;
  const ask = (path: string, { v2 }: SignedPayment) => fetch(`${url}${path}`, { headers: v2 });

  async function untilTold(path: string, payment: SignedPayment, meanwhile: () => void = () => {}): Promise<Response> {
    for (let tries = 0; tries < 20; tries += 1) {
      const answer = await ask(path, payment);
      if (answer.status !== 503) return answer;
      meanwhile();
    }
    throw new Error('503 for ever');
  }

  /** The payer takes his transaction to the facilitator himself. */
  async function settleThere({ transaction, accepted }: SignedPayment): Promise<unknown> {
    const payload = { transaction: Buffer.from(transaction).toString('base64') };
    const paymentPayload = { x402Version: 2, accepted, payload };
    const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted });
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${elsewhere}/settle`, { method: 'POST', headers, body })).json();
  }

  describe.each(['/chain/after', '/chain/before'])('with rpcUrl, on %s', (path) => {
    test('the payer is served, once, and has paid once', async () => {
      const payment = await signPayment(fixture, `${url}${path}`);
      line = 'lose';
      const answer = await untilTold(path, payment);
      const again = await ask(path, payment);
      expect([answer.status, again.status, runs]).toEqual([200, 200, [path]]);
      expect(await again.text()).toBe(await answer.text());
      expect(receiptOf(answer)).toMatchObject({ success: true, transaction: expect.stringMatching(/^\w{64,88}$/) });
      expect(receiptOf(again)).toEqual(receiptOf(answer));
      expect(paid()).toBe(PRICE);
      expect(lost()).toBeLessThanOrEqual(HIGHEST_FEE);
    });

    test('a settlement that never arrived is pending, and asked for again once there is a way', async () => {
      const payment = await signPayment(fixture, `${url}${path}`);
      line = 'swallow';
      const pending = await ask(path, payment);
      expect(pending.status).toBe(503);
      expect(receiptOf(pending)).toMatchObject({ errorReason: 'settlement_pending' });
      line = 'well';
      expect([(await ask(path, payment)).status, runs, paid()]).toEqual([200, [path], PRICE]);
    });

    test('a settlement that never arrives is refused when its blockhash has expired: nothing was paid', async () => {
      const payment = await signPayment(fixture, `${url}${path}`);
      line = 'swallow';
      const answer = await untilTold(path, payment, () => fixture.sandbox.expireBlockhashes());
      expect(answer.status).toBe(402);
      expect(receiptOf(answer)).toMatchObject({ errorReason: 'invalid_exact_svm_transaction_expired' });
      expect([paid(), lost()]).toEqual([0n, 0n]);
    });
  });

  describe.each(['/blind/after', '/blind/before'])('without rpcUrl, on %s', (path) => {
    test(`the payer is ${isOurs ? 'served, once' : 'refused at last'}, and has paid once`, async () => {
      const payment = await signPayment(fixture, `${url}${path}`);
      line = 'lose';
      expect((await ask(path, payment)).status).toBe(503);
      line = 'well';
      if (!isOurs) expect((await ask(path, payment)).status).toBe(503);
      later = isOurs ? 0 : FOUR_MINUTES;
      const statuses = [(await ask(path, payment)).status, (await ask(path, payment)).status];
      expect(statuses).toEqual(isOurs ? [200, 200] : [402, 402]);
      expect(paid()).toBe(PRICE);
      expect(lost()).toBeLessThanOrEqual(HIGHEST_FEE);
    });
  });

  describe.each(['/chain/after', '/chain/before', '/blind/after', '/blind/before'])('on %s', (path) => {
    test.each<Line>(['well', 'lose'])(
      'a payer who had it settled there himself is refused at once, the line being %s',
      async (state) => {
        const payment = await signPayment(fixture, `${url}${path}`);
        expect(await settleThere(payment)).toMatchObject({ success: true });
        line = state;
        const answers = [await ask(path, payment), await ask(path, payment)];
        expect(answers.map(({ status }) => status)).toEqual([402, 402]);
        expect(runs).toEqual([]);
        expect(paid()).toBe(PRICE);
      },
    );

    test('what was given away once buys nothing else while its outcome is open', async () => {
      const payment = await signPayment(fixture, `${url}${path}`);
      line = 'swallow';
      expect((await ask(path, payment)).status).toBe(503);
      runs = [];
      const other = path.endsWith('after') ? path.replace('after', 'before') : path.replace('before', 'after');
      expect((await ask(other, payment)).status).toBe(402);
      expect([runs, paid()]).toEqual([[], 0n]);
    });
  });
});
