import { randomUUID } from 'node:crypto';
import type { Keypair } from '@solana/web3.js';
import type { Express } from 'express';
import { createRouter } from '../../../src/http/create-router.js';
import { idempotency } from '../../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { PAYMENT_IDENTIFIER } from '../../../src/protocol/payment-identifier.js';
import { encodeFacilitatorRequest } from '../../../src/protocol/wire/remote.js';
import { createMemoryIdempotencyStore } from '../../../src/storage/idempotency/memory-idempotency-store.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { offeredTerms, payTerms } from '../../helpers/transactions/core-payments.js';
import { named as identified, signPayment } from '../../helpers/transactions/payments.js';

const MAX_BYTES = 100_000;
const WALLETS = 60;
const LONG = 'x'.repeat(10_000);

describe('where many wallets fill the room for kept responses with what nobody has paid for', () => {
  let fixture: TollFixture;
  let url: string;
  let runs = 0;

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 10_000 });
    const store = createMemoryIdempotencyStore({ maxBytes: MAX_BYTES });
    const facilitator = fixture.facilitatorWith({ idempotency: store });
    url = await fixture.serve((app) => routes(app, { facilitator, payTo: fixture.payTo, price: '$0.01' }));

    function routes(app: Express, gated: Parameters<typeof requirePayment>[0]): void {
      const named = idempotency({ store, scopeOf: (req) => req.get('x-wallet') });
      app.post('/free', named, (_req, res) => void res.send(LONG));
      app.post(['/paid', '/named'], named, requirePayment(gated), (_req, res) => {
        runs += 1;
        res.send(`run ${runs} ${LONG}`);
      });
    }
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    runs = 0;
  });

  const post = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(url + path, { method: 'POST', headers });

  async function fill(): Promise<void> {
    for (let n = 0; n < WALLETS; n += 1) {
      const named = { 'x-wallet': `wallet ${n}`, 'idempotency-key': `of-its-own-${n}` };
      expect((await post('/free', named)).status).toBe(200);
    }
  }

  test('what was paid for is had again by its payment', async () => {
    const { v2 } = await signPayment(fixture, `${url}/paid`, { init: { method: 'POST' } });
    expect(await (await post('/paid', v2)).text()).toMatch(/^run 1 /);
    await fill();
    expect(await (await post('/paid', v2)).text()).toMatch(/^run 1 /);
  });

  test('what was paid for under an Idempotency-Key is had again by that, and not paid twice', async () => {
    const { v2 } = await signPayment(fixture, `${url}/named`, { init: { method: 'POST' } });
    const named = { 'x-wallet': 'payer', 'idempotency-key': 'bought-once' };
    expect(await (await post('/named', { ...v2, ...named })).text()).toMatch(/^run 1 /);
    await fill();
    expect(await (await post('/named', named)).text()).toMatch(/^run 1 /);
    const unpaid = { 'x-wallet': 'wallet 0', 'idempotency-key': 'of-its-own-0' };
    expect((await post('/free', unpaid)).headers.get('idempotency-replayed')).toBeNull();
  });
});

describe('where a stranger fills the room for kept responses with identifiers of payments', () => {
  /** Fifteen payments in an hour, three of them for each payer. */
  const LIMIT = 150_100n;
  const SMALL_ROOM = 20_000;
  let fixture: TollFixture;
  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 10_000 });
  });
  afterAll(() => fixture.close());

  const newId = () => `pay_${randomUUID()}`;
  const newWallet = () => fixture.sandbox.createWallet({ usdc: '1' });

  async function openSettle() {
    const { sandbox, payTo } = fixture;
    const facilitator = fixture.facilitatorWith({
      keypair: await sandbox.createWallet({ sol: '1' }),
      idempotency: createMemoryIdempotencyStore({ maxBytes: SMALL_ROOM }),
      maxFeeLamportsPerHour: LIMIT,
    });
    const url = await fixture.serve((app) => {
      app.set('trust proxy', 1);
      app.use(createRouter({ facilitator, limits: false }));
    });
    return async (payer: Keypair, id: string, address: string) => {
      const terms = await offeredTerms(facilitator, payTo);
      const payment = await payTerms({ sandbox, payer }, terms);
      const extensions = { [PAYMENT_IDENTIFIER]: { info: { required: false, id } } };
      const body = JSON.stringify(encodeFacilitatorRequest({ ...payment, extensions }, terms));
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
      const answer = await fetch(`${url}/settle`, { method: 'POST', headers, body });
      const { success, code } = (await answer.json()) as { success?: boolean; code?: string };
      return code ?? success;
    };
  }

  test('at /settle, those of others are still taken, and nobody pays twice under one', async () => {
    const settle = await openSettle();
    const [payer, stranger, id] = [await newWallet(), await newWallet(), newId()];
    expect(await settle(payer, id, '192.0.2.1')).toBe(true);
    const outcomes = new Set<unknown>();
    for (let n = 0; n < 60; n += 1) outcomes.add(await settle(stranger, newId(), '198.51.100.1'));
    expect([...outcomes]).toEqual([true, 'fee_limit_reached']);
    expect(await settle(payer, id, '192.0.2.1')).toBe('payment_identifier_conflict');
  });

  test('at /settle, one under which nothing was sent is free at once', async () => {
    const settle = await openSettle();
    const [payer, other, id] = [await newWallet(), await newWallet(), newId()];
    for (const one of [payer, other, payer]) expect(await settle(one, newId(), '192.0.2.1')).toBe(true);
    for (const one of [payer, other]) expect(await settle(one, id, '192.0.2.1')).toBe('fee_limit_reached');
  });

  test('at a gate, those of other payers are still taken, and nobody pays twice under one', async () => {
    const { sandbox, payTo } = fixture;
    const store = createMemoryIdempotencyStore({ maxBytes: SMALL_ROOM });
    const facilitator = fixture.facilitatorWith({ idempotency: store });
    const url = await fixture.serve((app) => {
      app.get('/', requirePayment({ facilitator, payTo, price: '$0.0001' }), (_req, res) => void res.send('sold'));
    });
    const pay = async (payer: Keypair, id: string) =>
      (await fetch(url, { headers: identified(await signPayment({ sandbox, payer }, url), id) })).status;
    const [payer, stranger, id] = [await newWallet(), await newWallet(), newId()];
    expect(await pay(payer, id)).toBe(200);
    const statuses = new Set<number>();
    for (let n = 0; n < 40; n += 1) statuses.add(await pay(stranger, newId()));
    expect([...statuses]).toEqual([200]);
    expect(await pay(payer, id)).toBe(409);
  });
});
