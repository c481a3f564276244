import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import type { Response as ExpressResponse } from 'express';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { decodeTransaction } from '../../../src/solana/transaction/transaction.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { openTollFixture, QUICK, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type Passage, type RpcProxy, startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { type SignedPayment, signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

/** A wallet may use two of them. */
const PLACES = 10;
const NETWORK = '{network="solana-devnet"}';
/** Something that is waited for until it is opened. */
function newGate() {
  let resolve = (): void => {};
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve: () => resolve() };
}

const TOO_MANY = { status: 503, code: 'too_many_payments' };

describe.each(['memory', 'SQLite'])('more payments than there are places, with %s', (kind) => {
  let fixture: TollFixture;
  let proxy: RpcProxy;
  let storage: Storage;
  let facilitator: EmbeddedFacilitator;
  /** Waits half a second for its node, on the same books. */
  let hurried: EmbeddedFacilitator;
  let url: string;
  let wallets: readonly Keypair[];
  let runs = 0;
  /** What a handler of `/fails` and `/slow` waits for. */
  let opened = newGate();
  let fails = true;
  const folder = mkdtempSync(join(tmpdir(), 'tollhouse-'));

  beforeAll(async () => {
    fixture = await openTollFixture();
    proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
    storage = await openStorage(kind === 'memory' ? 'memory:' : `sqlite:${join(folder, 'books.db')}`);
    const common = { rpcUrl: proxy.url, storage, maxPaymentsInFlight: PLACES, maxAddressShare: 1 };
    facilitator = fixture.facilitatorWith({ ...common, rpcTimeoutMs: 30_000, settleTimeoutMs: 5_000 }, QUICK);
    hurried = fixture.facilitatorWith({ ...common, rpcTimeoutMs: 500 }, QUICK);
    wallets = await Promise.all(Array.from({ length: 6 }, () => fixture.sandbox.createWallet({ usdc: '10' })));
    const sold = { facilitator, payTo: fixture.payTo, price: '$0.01' };
    url = await fixture.serve((app) => {
      app.use(createRouter({ facilitator }));
      for (const settle of ['after', 'before'] as const) {
        app.get(`/${settle}`, requirePayment({ ...sold, settle }), (_req, res) => {
          runs += 1;
          res.send('delivered');
        });
        app.get(`/${settle}/hurried`, requirePayment({ ...sold, settle, facilitator: hurried }), (_req, res) => {
          runs += 1;
          res.send('delivered');
        });
        app.get(`/${settle}/fails`, requirePayment({ ...sold, settle }), (_req, res) => {
          runs += 1;
          if (fails) throw new Error('a handler that fails');
          res.send('delivered');
        });
        app.get(`/${settle}/slow`, requirePayment({ ...sold, settle }), async (_req, res) => {
          runs += 1;
          await opened.promise;
          res.send('delivered');
        });
      }
      app.use((_error: unknown, _req: unknown, res: ExpressResponse, _next: unknown) => {
        res.status(500).json({ code: 'handler' });
      });
    });
  });
  afterAll(async () => {
    await proxy.close();
    await fixture.close();
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    runs = 0;
    fails = true;
    opened = newGate();
  });
  afterEach(async () => {
    proxy.decide = () => 'pass';
    opened.resolve();
    await until(() => taken() === 0);
  });

  const taken = (who = facilitator) => who.load().paymentsInFlight;
  const sign = (payer: Keypair, path = '/after') => signPayment({ sandbox: fixture.sandbox, payer }, url + path);
  /** As many as there are places, of five wallets. */
  const signAll = (path?: string) =>
    Promise.all(Array.from({ length: PLACES }, (_, at) => sign(wallets[at % 5]!, path)));

  async function bring({ v2 }: SignedPayment, path = '/after', init: RequestInit = {}) {
    const answer = await fetch(url + path, { ...init, headers: v2 });
    const text = await answer.text();
    const code = text.startsWith('{') ? JSON.parse(text).code : text;
    return { status: answer.status, code, retryAfter: answer.headers.get('retry-after') };
  }

  /** Calls of a method wait until this is opened. */
  function holdUp(method: string, then: Passage = 'pass'): () => void {
    const gate = newGate();
    proxy.decide = async (call) => {
      if (call.method !== method) return 'pass';
      await gate.promise;
      return then;
    };
    return () => {
      proxy.decide = () => 'pass';
      gate.resolve();
    };
  }

  function idOf({ transaction }: SignedPayment): string {
    const decoded = decodeTransaction(transaction);
    return decoded.ok ? decoded.transaction.messageHash : '';
  }

  test('one more is turned away at once, with nothing claimed or sent, and is served when it comes again', async () => {
    const payments = await signAll();
    const late = await sign(wallets[5]!);
    const letGo = holdUp('simulateTransaction');
    const answers = payments.map((it) => bring(it));
    await until(() => taken() === PLACES);

    expect(await bring(late)).toEqual({ ...TOO_MANY, retryAfter: '2' });
    expect([await storage.ledger.find(idOf(late)), runs]).toEqual([undefined, 0]);
    letGo();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    expect(await bring(late)).toMatchObject({ status: 200, code: 'delivered' });
    expect([runs, taken()]).toEqual([PLACES + 1, 0]);
  });

  test('what is settled for servers elsewhere, or only verified, needs a place as well', async () => {
    const payments = await signAll();
    const { accepted, transaction } = await sign(wallets[5]!);
    const payload = { transaction: Buffer.from(transaction).toString('base64') };
    const body = {
      x402Version: 2,
      paymentPayload: { x402Version: 2, accepted, payload },
      paymentRequirements: accepted,
    };
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const ask = async (path: string) => {
      const answer = await fetch(url + path, init);
      return { status: answer.status, body: await answer.json() };
    };
    const letGo = holdUp('simulateTransaction');
    const answers = payments.map((it) => bring(it));
    await until(() => taken() === PLACES);

    for (const path of ['/verify', '/settle']) {
      expect(await ask(path)).toMatchObject({ status: 503, body: { code: 'too_many_payments' } });
    }
    letGo();
    await Promise.all(answers);
    expect(await ask('/verify')).toMatchObject({ status: 200, body: { isValid: true } });
    expect(await ask('/settle')).toMatchObject({ status: 200, body: { success: true } });
  });

  test("one wallet's flood takes its share, and another wallet is served beside it", async () => {
    const flood = await Promise.all(Array.from({ length: 6 }, () => sign(wallets[0]!)));
    const other = await sign(wallets[1]!);
    const letGo = holdUp('simulateTransaction');
    const answers = flood.map((it) => bring(it));
    await until(() => facilitator.load().turnedAway >= 4 && taken() === 2);
    const honest = bring(other);
    await until(() => taken() === 3);
    letGo();

    expect(await honest).toMatchObject({ status: 200 });
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 503, 503, 503, 503]);
  });

  test('who has paid and is owed the response is served while all places are taken', async () => {
    const owed = await sign(wallets[5]!, '/before/fails');
    expect(await bring(owed, '/before/fails')).toMatchObject({ status: 500 });
    fails = false;
    const letGo = holdUp('simulateTransaction');
    const answers = (await signAll()).map((it) => bring(it));
    await until(() => taken() === PLACES);
    expect(await bring(await sign(wallets[5]!))).toMatchObject(TOO_MANY);
    expect(await bring(owed, '/before/fails')).toMatchObject({ status: 200, code: 'delivered' });
    letGo();
    await Promise.all(answers);
  });

  test('a payment whose outcome is not known is resolved while all places are taken', async () => {
    const sent = await sign(wallets[5]!);
    fixture.sandbox.faults.add({ kind: 'drop' });
    expect(await bring(sent)).toMatchObject({ status: 503, code: 'settlement_pending' });
    fixture.sandbox.faults.clear();
    const letGo = holdUp('simulateTransaction');
    const answers = (await signAll()).map((it) => bring(it));
    await until(() => taken() === PLACES);
    await until(async () => (await bring(sent)).status === 200);
    letGo();
    await Promise.all(answers);
  });

  test('a node that hangs frees the places by its time-out, and everything is served when it is back', async () => {
    const payments = await signAll('/after/hurried');
    proxy.decide = ({ method }) => (method === 'simulateTransaction' ? 'hold' : 'pass');
    const answers = await Promise.all(payments.map((it) => bring(it, '/after/hurried')));
    for (const answer of answers) expect(answer).toMatchObject({ code: 'payment_backend_unavailable' });
    expect([taken(hurried), runs]).toEqual([0, 0]);
    proxy.decide = () => 'pass';
    // An endpoint that failed rests for a moment.
    for (const it of payments) await until(async () => (await bring(it, '/after/hurried')).status === 200);
    expect([taken(hurried), runs]).toEqual([0, PLACES]);
  });

  test('a handler that waits holds a place before the money, and none after it', async () => {
    const early = bring(await sign(wallets[0]!, '/before/slow'), '/before/slow');
    await until(() => runs === 1);
    expect(taken()).toBe(0);
    const late = bring(await sign(wallets[1]!, '/after/slow'), '/after/slow');
    await until(() => runs === 2);
    expect(taken()).toBe(1);
    opened.resolve();
    expect([await early, await late]).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(taken()).toBe(0);
  });

  test.each(['simulateTransaction', 'sendTransaction'])(
    'clients that are killed while %s is waited for leave no place behind',
    async (method) => {
      for (const path of ['/after', '/before', '/after/fails', '/before/fails']) {
        const payments = await Promise.all(wallets.slice(0, 3).map((it) => sign(it, path)));
        const letGo = holdUp(method);
        const kill = new AbortController();
        const answers = payments.map((it) => bring(it, path, { signal: kill.signal }).catch(() => 'killed'));
        // What is settled first is not simulated, and a handler that fails leaves nothing to send.
        const waits = method === 'simulateTransaction' ? path.startsWith('/after') : path !== '/after/fails';
        if (waits) await until(() => taken() === 3);
        kill.abort();
        letGo();
        await Promise.all(answers);
        await until(() => taken() === 0);
      }
    },
  );

  test('a client that is killed while its handler works leaves no place behind', async () => {
    const kill = new AbortController();
    const answer = bring(await sign(wallets[0]!, '/after/slow'), '/after/slow', { signal: kill.signal });
    await until(() => taken() === 1 && runs === 1);
    kill.abort();
    await expect(answer).rejects.toThrow();
    opened.resolve();
    await until(() => taken() === 0);
  });

  test('what is cut, refused or answered with a fault on its way to the node leaves no place behind', async () => {
    const passages: readonly Passage[] = ['cut', 'unanswered', { status: 429, body: '{}' }, { status: 200, body: 'x' }];
    for (const method of ['simulateTransaction', 'sendTransaction']) {
      for (const passage of passages) {
        const paths = ['/after/hurried', '/before/hurried'];
        proxy.decide = () => 'pass';
        // An endpoint that failed rests for a moment, and on a busy machine half a second is short.
        for (const path of paths) await until(async () => (await fetch(url + path)).status === 402);
        const payments = await Promise.all(paths.map((path, at) => sign(wallets[at]!, path)));
        proxy.decide = (call) => (call.method === method ? passage : 'pass');
        await Promise.all(payments.map((it, at) => bring(it, paths[at])));
        expect(taken(hurried)).toBe(0);
      }
    }
    proxy.decide = () => 'pass';
  });

  test('the figures tell how many there are, and how many were turned away', async () => {
    const { turnedAway } = facilitator.load();
    expect(turnedAway).toBeGreaterThan(0);
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toContain(`tollhouse_payments_in_flight${NETWORK} 0\n`);
    expect(text).toContain(`tollhouse_payments_in_flight_limit${NETWORK} ${PLACES}\n`);
    expect(text).toContain(`tollhouse_payments_turned_away_total${NETWORK} ${turnedAway}\n`);
  });
});
