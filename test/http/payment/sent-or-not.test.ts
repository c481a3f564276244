import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { deadUrl } from '../../helpers/nodes/rpc-endpoint.js';
import {
  type OtherResponse,
  type Passage,
  type PassingCall,
  type RpcProxy,
  startRpcProxy,
} from '../../helpers/nodes/rpc-proxy.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { receiptOf, type SignedPayment, signPayment, stolenFrom } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PRICE = 10_000n;
/** One base fee each for the fee payer's and the payer's signature, and a micro-lamport or so of priority. */
const HIGHEST_FEE = 10_100n;

const told =
  (status: number, body = '<html>no</html>') =>
  (): Passage => ({ status, body });
const errorOf =
  (change: object, status = 200) =>
  (call: PassingCall) => {
    const error = { code: -32_602, message: 'invalid params' };
    return { status, body: JSON.stringify({ jsonrpc: '2.0', id: call.id, error, ...change }) };
  };
/** The way in which a node tells that a transaction failed its simulation. */
const preflight = (err?: unknown) => {
  const message = 'Transaction simulation failed';
  return errorOf({ error: { code: -32_002, message, ...(err === undefined ? {} : { data: { err, logs: [] } }) } });
};

/** What a node says that lags behind one to which the transaction was passed on as well. */
const REFUSALS: readonly (readonly [string, (call: PassingCall) => Passage])[] = [
  ['that the blockhash is not found', preflight('BlockhashNotFound')],
  ['that the payer has too little', preflight({ InstructionError: [2, { Custom: 1 }] })],
  ['that the fee payer does not exist', preflight('AccountNotFound')],
  ['that a simulation failed, and not why', preflight()],
  ['that it is behind', errorOf({ error: { code: -32_005, message: 'Node is unhealthy' } })],
  ['that a signature is wrong', errorOf({ error: { code: -32_003, message: 'signature verification failure' } })],
  ['that it does not understand', errorOf({})],
];

/** What is said after the transaction was passed on. None of it proves that it was not. */
const WORDS: readonly (readonly [string, (call: PassingCall) => Passage])[] = [
  ...[400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504].map((status) => [`HTTP ${status}`, told(status)] as const),
  ['a web page with HTTP 200', told(200)],
  ['nothing with HTTP 200', told(200, '')],
  ['JSON that is no JSON-RPC', told(200, '{"error":{"code":-32602}}')],
  ["another call's error", errorOf({ id: 'another' })],
  ['an error that names no call', errorOf({ id: null })],
  ['an error of another protocol', errorOf({ jsonrpc: '1.0' })],
  ['an internal error', errorOf({ error: { code: -32_603, message: 'upstream timed out' } })],
  ['a limit of its own', errorOf({ error: { code: 429, message: 'slow down' } })],
  ["another call's error, with HTTP 400", errorOf({ id: 'another' }, 400)],
  ['nothing: it cuts the connection', () => 'cut'],
  ...REFUSALS,
];

describe('a gateway before the node passes a transaction on, and says', () => {
  let fixture: TollFixture;
  const folder = testFolder();
  let storage: Storage;
  let proxy: RpcProxy;
  let url: string;
  let runs = 0;
  let before: { readonly payer: bigint; readonly feePayer: bigint };

  beforeAll(async () => {
    fixture = await openTollFixture();
    proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
    storage = await openStorage(`sqlite:${folder.newPath('db')}`);
    const behind = { rpcUrl: proxy.url, rpcTimeoutMs: 1_500 };
    const failingOver = { ...behind, rpcUrl: [proxy.url, await deadUrl()] };
    const facilitators: Readonly<Record<string, EmbeddedFacilitator>> = {
      hurried: fixture.facilitatorWith({ ...behind, settleTimeoutMs: 80 }, QUICK),
      patient: fixture.facilitatorWith(behind, QUICK),
      kept: fixture.facilitatorWith({ ...behind, ledger: storage.ledger }, QUICK),
      brief: fixture.facilitatorWith({ ...behind, settleTimeoutMs: 1_000 }, QUICK),
      'failing-over': fixture.facilitatorWith({ ...failingOver, settleTimeoutMs: 80 }, QUICK),
    };
    url = await fixture.serve((app) => {
      for (const [name, facilitator] of Object.entries(facilitators)) {
        for (const settle of ['after', 'before'] as const) {
          const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', settle });
          app.get(`/${name}/${settle}`, gate, (_req, res) => {
            runs += 1;
            res.send(`goods ${runs}`);
          });
        }
      }
    });
  });
  beforeEach(() => {
    runs = 0;
    before = balances();
  });
  afterEach(() => {
    proxy.decide = () => 'pass';
    fixture.sandbox.faults.clear();
    fixture.sandbox.resumeSlots();
  });
  afterAll(async () => {
    await fixture.close();
    await proxy.close();
    await storage.close();
  });

  const balances = () => ({
    payer: fixture.sandbox.tokenBalance(fixture.payer.publicKey.toBase58(), USDC),
    feePayer: fixture.sandbox.account(fixture.feePayer.publicKey.toBase58())?.lamports ?? 0n,
  });
  const paid = (): bigint => before.payer - balances().payer;
  const lost = (): bigint => before.feePayer - balances().feePayer;

  function sayOfSends(word: (call: PassingCall) => Passage): void {
    proxy.decide = (call) => (call.method === 'sendTransaction' ? word(call) : 'pass');
  }

  const ask = (path: string, { v2 }: SignedPayment) => fetch(`${url}${path}`, { headers: v2 });

  /** Asks until an endpoint is asked: those that failed for the payment before rest for a moment. */
  async function askInReach(path: string, payment: SignedPayment): Promise<Response> {
    let answer = await ask(path, payment);
    while (answer.status === 503 && answer.headers.get('payment-response') === null) answer = await ask(path, payment);
    return answer;
  }

  /** Tells the chain of a call. */
  async function passOn(call: PassingCall | undefined): Promise<void> {
    const body = JSON.stringify({ jsonrpc: '2.0', ...call });
    const headers = { 'content-type': 'application/json' };
    await (await fetch(fixture.sandbox.rpcUrl, { method: 'POST', headers, body })).arrayBuffer();
  }

  async function expectPending(answer: Response): Promise<void> {
    expect(answer.status).toBe(503);
    expect(receiptOf(answer)).toMatchObject({ success: false, errorReason: 'settlement_pending' });
    expect(await answer.json()).toMatchObject({ code: 'settlement_pending' });
  }

  describe.each(['/hurried/after', '/hurried/before', '/failing-over/before'])('on %s', (path) => {
    test.each(WORDS)('%s: the payer comes again, is served once and has paid once', async (_name, word) => {
      const payment = await signPayment(fixture, `${url}${path}`);
      fixture.sandbox.pauseSlots();
      sayOfSends(word);
      await expectPending(await askInReach(path, payment));
      fixture.sandbox.resumeSlots();
      let answer = await ask(path, payment);
      while (answer.status === 503) answer = await ask(path, payment);
      const again = await ask(path, payment);
      const thief = await ask(path, await stolenFrom(payment, `${url}${path}`));

      expect([answer.status, again.status, thief.status, runs]).toEqual([200, 200, 402, 1]);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect([await answer.text(), await again.text()]).toEqual(['goods 1', 'goods 1']);
      expect(receiptOf(again)).toEqual(receiptOf(answer));
      expect(await thief.json()).toMatchObject({ code: 'payment_already_used' });
      expect(paid()).toBe(PRICE);
      expect(lost()).toBeLessThanOrEqual(HIGHEST_FEE);
    });
  });

  test.each(WORDS)('%s: where there is time to see it land, the payer notices nothing', async (_name, word) => {
    const payment = await signPayment(fixture, `${url}/patient/after`);
    sayOfSends(word);
    const answer = await ask('/patient/after', payment);
    expect([answer.status, runs, paid()]).toEqual([200, 1, PRICE]);
  });

  describe.each(['/kept/after', '/kept/before', '/patient/before'])(
    'a node that refuses what has landed, on %s, says',
    (path) => {
      test.each(REFUSALS)('%s: it is looked for, and the payer is served at once, once', async (_name, word) => {
        const payment = await signPayment(fixture, `${url}${path}`);
        sayOfSends(word);
        const answer = await askInReach(path, payment);
        const again = await ask(path, payment);
        const thief = await ask(path, await stolenFrom(payment, `${url}${path}`));
        expect([answer.status, again.status, thief.status, runs]).toEqual([200, 200, 402, 1]);
        expect([paid(), lost() <= HIGHEST_FEE]).toEqual([PRICE, true]);
      });
    },
  );

  describe.each(['/kept/before', '/patient/before', '/patient/after'])(
    'a second send that meets a node behind, on %s,',
    (path) => {
      test.each([
        ['an unhealthy node', errorOf({ error: { code: -32_005, message: 'Node is unhealthy' } })],
        ['HTTP 500', told(500)],
        ['a cut', (): Passage => 'cut'],
      ])('proves nothing of the first, which ended with %s', async (_name, first) => {
        const payment = await signPayment(fixture, `${url}${path}`);
        let sends = 0;
        sayOfSends((call) => {
          sends += 1;
          return sends === 1
            ? first(call)
            : { ...(preflight('BlockhashNotFound')(call) as OtherResponse), isUnheard: true };
        });
        let answer = await askInReach(path, payment);
        while (answer.status === 503) answer = await ask(path, payment);
        expect([answer.status, runs, paid()]).toEqual([200, 1, PRICE]);
      });
    },
  );

  test.each([
    ['a blockhash is not found', preflight('BlockhashNotFound')],
    ['the payer has too little', preflight({ InstructionError: [2, { Custom: 1 }] })],
  ])('what a node finds wrong alone is sent again: %s', async (_name, word) => {
    const payment = await signPayment(fixture, `${url}/kept/before`);
    let sends = 0;
    sayOfSends((call) => {
      sends += 1;
      return sends === 1 ? { ...word(call), isUnheard: true } : 'pass';
    });
    const answer = await ask('/kept/before', payment);
    expect([answer.status, runs, paid(), sends]).toEqual([200, 1, PRICE, 2]);
  });

  test.each(['simulateTransaction', 'nothing else'])(
    'what nobody can tell yet is not called uncharged; it lands late, and is served to its payer (%s fails)',
    async (failing) => {
      const payment = await signPayment(fixture, `${url}/kept/before`);
      const word = failing === 'simulateTransaction' ? preflight('BlockhashNotFound') : errorOf({});
      let late: PassingCall | undefined;
      proxy.decide = (call) => {
        if (call.method === failing) return { status: 500, body: '', isUnheard: true };
        if (call.method !== 'sendTransaction') return 'pass';
        late = call;
        return { ...word(call), isUnheard: true };
      };
      const answer = await ask('/kept/before', payment);
      const { code, detail } = (await answer.json()) as { code: string; detail: string };
      expect([answer.status, code]).toEqual([503, 'payment_backend_unavailable']);
      expect(detail).toContain('send the same payment again');
      expect(detail).not.toContain('nothing was charged');

      proxy.decide = () => 'pass';
      await passOn(late);
      await until(() => paid() === PRICE);
      const thief = await ask('/kept/before', await stolenFrom(payment, `${url}/kept/before`));
      let later = await ask('/kept/before', payment);
      while (later.status === 503) later = await ask('/kept/before', payment);
      expect([thief.status, later.status, runs, paid()]).toEqual([402, 200, 1, PRICE]);
    },
  );

  describe.each(['/patient/after', '/patient/before'])('an honest node, on %s:', (path) => {
    test('its own error is told at once where nothing is seen to land; the payment stays good', async () => {
      const payment = await signPayment(fixture, `${url}${path}`);
      const fault = fixture.sandbox.faults.add({ kind: 'error', method: 'sendTransaction' });
      const answer = await ask(path, payment);
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code: 'payment_backend_unavailable' });
      expect([paid(), lost()]).toEqual([0n, 0n]);
      fault.remove();
      let later = await ask(path, payment);
      while (later.status === 503) later = await ask(path, payment);
      expect([later.status, paid()]).toEqual([200, PRICE]);
    });
  });

  test('what a node finds wrong, and finds wrong again, is refused: nothing was charged', async () => {
    const poor = { sandbox: fixture.sandbox, payer: await fixture.sandbox.createWallet({ usdc: '0' }) };
    const payment = await signPayment(poor, `${url}/patient/before`);
    const answer = await ask('/patient/before', payment);
    expect(answer.status).toBe(402);
    expect(receiptOf(answer)).toMatchObject({ errorReason: 'insufficient_funds', transaction: '' });
    expect([runs, lost()]).toEqual([0, 0n]);
  });

  test.each(['/patient/after', '/kept/before', '/hurried/after'])(
    'a gateway that sends a transaction twice and hands on the second answer takes nothing from the payer, on %s',
    async (path) => {
      const payment = await signPayment(fixture, `${url}${path}`);
      proxy.decide = async (call) => {
        if (call.method !== 'sendTransaction') return 'pass' as const;
        await passOn(call);
        return 'pass' as const;
      };
      let answer = await askInReach(path, payment);
      while (answer.status === 503) answer = await ask(path, payment);
      expect([answer.status, await answer.text(), runs]).toEqual([200, 'goods 1', 1]);
      expect(paid()).toBe(PRICE);
      expect(lost()).toBeLessThanOrEqual(HIGHEST_FEE);
    },
  );

  test('a limit that the payer can reach does not make us send unseen what cannot succeed', async () => {
    const poor = { sandbox: fixture.sandbox, payer: await fixture.sandbox.createWallet({ usdc: '0' }) };
    const payment = await signPayment(poor, `${url}/brief/before`);
    let calls = 0;
    sayOfSends(() => {
      calls += 1;
      return calls <= 2 ? { status: 429, body: '', isUnheard: true } : 'pass';
    });
    await expectPending(await ask('/brief/before', payment));
    expect(calls).toBeGreaterThan(2);
    expect([runs, lost()]).toEqual([0, 0n]);
  });
});
