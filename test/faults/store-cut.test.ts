import { randomUUID } from 'node:crypto';
import type { Express, RequestHandler } from 'express';
import { idempotency } from '../../src/middleware/idempotency/idempotency.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { openTcpRelay, type TcpRelay } from '../helpers/nodes/tcp-relay.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { signPayment } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

/** Leases do not end here: the clock of the store stands still. */
const STANDS_STILL = { now: () => 1_800_000_000_000 };

describe('when the connections to Postgres are cut in the middle of a request', () => {
  let toll: TollFixture;
  let postgres: PostgresServer;
  let relay: TcpRelay;
  const storages: Storage[] = [];
  /** What the handler does before it answers. */
  let meanwhile: () => void = () => {};
  let runs = 0;
  let here: string;
  let there: string;

  beforeAll(async () => {
    [toll, postgres] = await Promise.all([openTollFixture(), startPostgres()]);
    const database = await postgres.newDatabase();
    relay = await openTcpRelay(database);
    here = await serve(relay.url);
    there = await serve(database);
  });
  afterAll(async () => {
    await toll?.close();
    for (const storage of storages) await storage.close();
    await relay?.close();
    await postgres?.stop();
  });
  beforeEach(() => {
    runs = 0;
    mend();
  });

  async function serve(url: string): Promise<string> {
    const storage = await openStorage(url, STANDS_STILL);
    storages.push(storage);
    const { ledger } = storage;
    const facilitator = toll.facilitatorWith({ ledger, idempotency: storage.idempotency });
    const options = { facilitator, payTo: toll.payTo, price: '0.01 USDC' } as const;
    const kept = { store: storage.idempotency };
    return toll.serve((app: Express) => {
      app.get('/after', requirePayment(options), answer);
      app.get('/before', requirePayment({ ...options, settle: 'before' }), answer);
      app.post('/named', idempotency(kept), answer);
    });
  }

  const answer: RequestHandler = (_req, res) => {
    runs += 1;
    meanwhile();
    res.end(`run ${runs}`);
  };

  function mend(): void {
    meanwhile = () => {};
    Object.assign(relay, { refuses: false, losesAnswers: false });
  }

  function breakOff(): void {
    relay.refuses = true;
    relay.cut();
  }

  async function newPayment(path: string) {
    const wallet = await toll.sandbox.createWallet({ usdc: '1' });
    const { v2 } = await signPayment({ payer: wallet, sandbox: toll.sandbox }, `${here}${path}`);
    return {
      spent: () => 1_000_000n - toll.sandbox.tokenBalance(wallet.publicKey.toBase58(), toll.sandbox.tokens[0]!.mint),
      send: async (at = here) => {
        const response = await fetch(`${at}${path}`, { headers: v2 });
        return [response.status, await response.text()] as const;
      },
    };
  }

  test('a payment whose claim was not confirmed is its payer’s when the database answers again', async () => {
    const { send, spent } = await newPayment('/after');
    relay.losesAnswers = true;
    expect((await send())[0]).toBe(503);
    mend();
    expect(await send()).toEqual([200, 'run 1']);
    expect(spent()).toBe(10_000n);
  });

  test('a payment whose request ended without the database is free when that answers again', async () => {
    const { send, spent } = await newPayment('/after');
    meanwhile = breakOff;
    expect((await send())[0]).toBe(503);
    mend();
    expect(await send()).toEqual([200, 'run 2']);
    expect(spent()).toBe(10_000n);
  });

  test('a payment whose response left without the database has that one kept when it answers again', async () => {
    const { send, spent } = await newPayment('/before');
    meanwhile = breakOff;
    expect(await send()).toEqual([200, 'run 1']);
    // Nothing is written down any more by the time that this has failed as well.
    await expect(storages[0]?.ledger.find('any')).rejects.toMatchObject({ code: 'store_unavailable' });
    mend();
    // Until it is kept, its payment is said to be under way.
    let again = await send();
    await until(async () => {
      if (again[0] === 409) again = await send();
      return again[0] !== 409;
    });
    expect([again, spent(), runs]).toEqual([[200, 'run 1'], 10_000n, 1]);
  });

  test('a payment that was given up is free for another instance, too', async () => {
    const { send, spent } = await newPayment('/after');
    meanwhile = breakOff;
    expect((await send())[0]).toBe(503);
    meanwhile = () => {};
    expect((await send(there))[0]).toBe(409);
    mend();
    await until(async () => (await send(there))[0] === 200);
    expect(spent()).toBe(10_000n);
  });

  test('a request under an Idempotency-Key does not count as running that has ended without the database', async () => {
    const send = (name: string) => fetch(`${here}/named`, { method: 'POST', headers: { 'idempotency-key': name } });
    const [one, other] = [randomUUID(), randomUUID()];
    meanwhile = breakOff;
    expect((await send(one)).status).toBe(200);
    mend();
    expect((await send(one)).status).toBe(200);
    relay.losesAnswers = true;
    expect((await send(other)).status).toBe(503);
    mend();
    expect((await send(other)).status).toBe(200);
  });
});
