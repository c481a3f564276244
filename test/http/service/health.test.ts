import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createRouter, type RouterSettings } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { FaultKind } from '../../../src/sandbox/start-sandbox.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ledgerWith } from '../../helpers/storage/ledgers.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

/** What 100 settlements cost, and one, above what a wallet must hold. */
const RESERVE = 1_890_880n;
const SETTLEMENT = 900_880n;

describe('health tells the truth', () => {
  let fixture: TollFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 2_000 });
  });
  afterEach(() => fixture.sandbox.faults.clear());
  afterAll(() => fixture.close());

  /** The service and a gate on one facilitator, whose health nobody has asked for yet. */
  async function serve(facilitator: EmbeddedFacilitator, options: Partial<RouterSettings> = {}): Promise<void> {
    url = await fixture.serve((app) => {
      app.get('/paid', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' }), (_req, res) => {
        res.send('delivered');
      });
      app.use(createRouter({ facilitator, limits: false, ...options }));
    });
  }

  async function facilitatorHolding(lamports: bigint): Promise<EmbeddedFacilitator> {
    const keypair = await fixture.sandbox.createWallet({});
    if (lamports > 0n) fixture.sandbox.airdrop(keypair.publicKey.toBase58(), lamports);
    return fixture.facilitatorWith({ keypair });
  }

  async function read(path: string) {
    const answer = await fetch(url + path);
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
  }

  /** `/health` as its parts that can change. */
  async function health() {
    const { status, body } = await read('/health');
    const { networks, facilitation } = body as { networks: object; facilitation: { status: string } };
    return [status, body.status, Object.values(networks)[0], facilitation.status];
  }

  async function expectUnready(checks: object, sentence: RegExp): Promise<void> {
    const { status, headers, body } = await read('/readyz');
    expect(status).toBe(503);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body).toMatchObject({ code: 'not_ready', detail: expect.stringMatching(sentence), retryable: true });
    expect(body.checks).toEqual({ rpc: 'ok', fee_payer: 'ok', store: 'ok', counters: 'ok', limits: 'ok', ...checks });
  }

  async function expectNotOffered(): Promise<void> {
    const { status, headers, body } = await read('/paid');
    expect(status).toBe(503);
    expect(headers.get('payment-required')).toBeNull();
    expect(body).toMatchObject({ code: 'payment_backend_unavailable', retryable: true });
    expect((await read('/supported')).body).toMatchObject({ kinds: [] });
  }

  test('while all is well', async () => {
    await serve(fixture.facilitatorWith({}));
    expect(await health()).toEqual([200, 'healthy', 'active', 'enabled']);
    expect((await read('/readyz')).body).toEqual({
      status: 'ready',
      checks: { rpc: 'ok', fee_payer: 'ok', store: 'ok', counters: 'ok', limits: 'ok' },
      networks: { 'solana-devnet': 'active' },
      parts: expect.any(Array),
    });
    expect((await read('/wallet-status')).body).toMatchObject({ operational: true });
    expect((await read('/healthz')).body).toEqual({ status: 'ok' });
    expect((await read('/paid')).status).toBe(402);
  });

  test.each<FaultKind>(['disconnect', '429', 'hang', 'error'])('the RPC is gone: %s', async (kind) => {
    await serve(fixture.facilitatorWith({ rpcTimeoutMs: 60_000 }));
    fixture.sandbox.faults.add({ kind });
    expect(await health()).toEqual([200, 'degraded', 'down', 'disabled']);
    await expectUnready({ rpc: 'unreachable', fee_payer: 'unknown' }, /RPC does not answer/);
    expect((await read('/healthz')).status).toBe(200);
    await expectNotOffered();
  });

  test('with the RPC gone the wallet is not said to be operational', async () => {
    await serve(fixture.facilitatorWith({ rpcTimeoutMs: 300 }));
    fixture.sandbox.faults.add({ kind: 'disconnect' });
    const { status, body } = await read('/wallet-status');
    expect([200, 503]).toContain(status);
    expect(body.operational).not.toBe(true);
  });

  test('the fee payer cannot pay for one settlement', async () => {
    await serve(await facilitatorHolding(SETTLEMENT - 1n));
    expect(await health()).toEqual([200, 'degraded', 'down', 'disabled']);
    await expectUnready({ fee_payer: 'empty' }, /fee payer is empty/);
    expect((await read('/wallet-status')).body).toMatchObject({ operational: false, balances: { SOL: 0.000_900_879 } });
    await expectNotOffered();
  });

  test('the fee payer can pay for some settlements and not for a hundred: degraded, ready, offered', async () => {
    await serve(await facilitatorHolding(RESERVE - 1n));
    expect(await health()).toEqual([200, 'degraded', 'degraded', 'enabled']);
    const { status, body } = await read('/readyz');
    expect([status, body.checks]).toEqual([200, expect.objectContaining({ fee_payer: 'low' })]);
    expect((await read('/wallet-status')).body).toMatchObject({ operational: false });
    expect((await read('/paid')).status).toBe(402);
  });

  test('the fee payer can pay for a hundred', async () => {
    await serve(await facilitatorHolding(RESERVE));
    expect(await health()).toEqual([200, 'healthy', 'active', 'enabled']);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('gone'))],
    ['is silent', () => new Promise<never>(() => undefined)],
  ])('the store of payments %s', async (_how, find) => {
    await serve(fixture.facilitatorWith({ ledger: ledgerWith(createMemoryLedger(), { find }) }));
    expect(await health()).toEqual([200, 'degraded', 'down', 'disabled']);
    await expectUnready({ store: 'unreachable' }, /store of payments does not answer/);
    await expectNotOffered();
  });

  test('the store of counters is gone', async () => {
    const get = () => Promise.reject(new Error('gone'));
    await serve(fixture.facilitatorWith({}), { counters: { ...createMemoryCounters(), get } });
    await expectUnready({ counters: 'unreachable' }, /store of counters does not answer/);
  });

  test('several faults are told together', async () => {
    const find = () => Promise.reject(new Error('gone'));
    await serve(fixture.facilitatorWith({ ledger: ledgerWith(createMemoryLedger(), { find }) }));
    fixture.sandbox.faults.add({ kind: 'disconnect' });
    await expectUnready(
      { rpc: 'unreachable', fee_payer: 'unknown', store: 'unreachable' },
      /store of payments.*; .*RPC/,
    );
  });

  test('however often it is asked, the chain is asked once in five seconds, and a 402 asks it nothing', async () => {
    // On a chain of its own: other facilitators of this file still look after theirs.
    const own = await openTollFixture();
    await serve(own.facilitatorWith({ blockhashHints: false }));
    await health();
    own.sandbox.resetCalls();
    const since = performance.now();
    for (let n = 0; n < 20; n += 1) await Promise.all([health(), read('/readyz'), read('/paid')]);
    const { total } = own.sandbox.calls;
    await own.close();
    expect(total).toBeLessThanOrEqual(1 + (performance.now() - since) / 5_000);
  });

  test('it is offered again by itself once the fee payer is filled up', async () => {
    const keypair = await fixture.sandbox.createWallet({});
    await serve(fixture.facilitatorWith({ keypair }));
    await health();
    await expectNotOffered();
    fixture.sandbox.airdrop(keypair.publicKey.toBase58(), RESERVE);
    await until(async () => (await read('/paid')).status === 402);
    expect(await health()).toEqual([200, 'healthy', 'active', 'enabled']);
  });

  test('who has paid gets the answer although nothing is offered any more', async () => {
    const keypair = await fixture.sandbox.createWallet({});
    const wallet = keypair.publicKey.toBase58();
    fixture.sandbox.airdrop(wallet, RESERVE);
    const facilitator = fixture.facilitatorWith({ keypair, settleTimeoutMs: 1 });
    await serve(facilitator);
    const { v2 } = await signPayment(fixture, `${url}/paid`);
    fixture.sandbox.pauseSlots();
    const open = await fetch(`${url}/paid`, { headers: v2 });
    expect([open.status, await open.json()]).toEqual([503, expect.objectContaining({ code: 'settlement_pending' })]);
    // The response does not wait for the node.
    await until(() => fixture.sandbox.balance(wallet) < RESERVE);
    const account = fixture.sandbox.account(wallet);
    if (account === null) throw new Error('the fee payer is gone');
    fixture.sandbox.setAccount(wallet, { ...account, lamports: 0n });
    fixture.sandbox.resumeSlots();
    await health();
    await expectNotOffered();
    await until(async () => (await fetch(`${url}/paid`, { headers: v2 })).status === 200);
  });
});
