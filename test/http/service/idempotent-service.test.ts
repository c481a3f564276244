import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VersionedTransaction } from '@solana/web3.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { PAYMENT_IDENTIFIER } from '../../../src/protocol/payment-identifier.js';
import { encodeFacilitatorRequest } from '../../../src/protocol/wire/remote.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { type ContractResponse, useContractFixture } from '../../helpers/fixtures/contract-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../../helpers/storage/postgres.js';
import { offeredTerms, payTerms } from '../../helpers/transactions/core-payments.js';
import { createGate, signPayment } from '../../helpers/transactions/payments.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const contract = useContractFixture();
const folder = testFolder();
const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key });

function expectReplay(again: ContractResponse, first: ContractResponse): void {
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect([again.status, again.body]).toEqual([first.status, first.body]);
}

describe('on the started server', () => {
  const ask = (path: string, body: unknown, headers = {}) => contract().ask('POST', path, body, headers);

  test("every POST of the document takes the key, and says so; that of a paid call is the upstream's", () => {
    const { paths } = contract().document;
    const posts = Object.values(paths).flatMap(({ post }) => post ?? []);
    expect(posts.length).toBeGreaterThan(8);
    for (const { operationId, parameters = [], responses } of posts) {
      if (operationId === 'callProject') continue;
      const shown = [parameters.some(({ name }) => name === 'Idempotency-Key'), '409' in responses, '422' in responses];
      expect([operationId, ...shown]).toEqual([operationId, true, true, true]);
    }
  });

  test('/create-payment: the same request again names the same payment, another one is 422', async () => {
    const { seller } = contract();
    const asked = { amount: 1, token: 'USDC', recipient: seller };
    const key = keyed();
    const first = await ask('/create-payment', asked, key);
    expectReplay(await ask('/create-payment', asked, key), first);
    const reused = await ask('/create-payment', { ...asked, amount: 2 }, key);
    expect([reused.status, reused.body['code']]).toEqual([422, 'idempotency_key_reused']);
    const bad = await ask('/create-payment', asked, keyed('a b'));
    expect([bad.status, bad.body['code']]).toEqual([400, 'invalid_idempotency_key']);
    expect((await ask('/create-payment', asked, keyed())).body['payment_id']).not.toBe(first.body['payment_id']);
  });

  test('/create-payment: a refusal is the same again', async () => {
    const key = keyed();
    const first = await ask('/create-payment', { amount: -1 }, key);
    expect(first.status).toBe(400);
    expectReplay(await ask('/create-payment', { amount: -1 }, key), first);
  });

  async function x402Request(id?: string) {
    const { server, seller, sandbox } = contract();
    const payer = await sandbox.createWallet({ usdc: '1' });
    const terms = await offeredTerms(server.facilitator, seller);
    const extensions =
      id === undefined ? {} : { extensions: { [PAYMENT_IDENTIFIER]: { info: { required: false, id } } } };
    const payment = { ...(await payTerms({ sandbox, payer }, terms)), ...extensions };
    return { body: encodeFacilitatorRequest(payment, terms), payer };
  }

  test('/settle of x402: success again for the same key, for nobody else', async () => {
    const { body } = await x402Request();
    const key = keyed();
    const first = await ask('/settle', body, key);
    expect(first.body).toMatchObject({ success: true });
    expectReplay(await ask('/settle', body, key), first);
    for (const headers of [{}, keyed()]) {
      expect((await ask('/settle', body, headers)).body).toMatchObject({ errorReason: 'duplicate_settlement' });
    }
    expectReplay(await ask('/settle', body, key), first);
  });

  test('/settle of x402: a failure is not kept, the same request may succeed later', async () => {
    const { server, sandbox } = contract();
    const poor = await sandbox.createWallet({ usdc: '0' });
    const terms = await offeredTerms(server.facilitator, contract().seller);
    const body = encodeFacilitatorRequest(await payTerms({ sandbox, payer: poor }, terms), terms);
    const key = keyed();
    expect((await ask('/settle', body, key)).body).toMatchObject({ success: false, errorReason: 'insufficient_funds' });
    sandbox.fundToken(poor.publicKey.toBase58(), terms.asset, 1_000_000n);
    expect((await ask('/settle', body, key)).body).toMatchObject({ success: true });
  });

  test('/settle of x402: under one identifier of the payer one payment is settled, and success is answered once', async () => {
    const id = `pay_${randomUUID()}`;
    const [first, second] = [await x402Request(id), await x402Request(id)];
    expect((await ask('/settle', first.body)).body).toMatchObject({ success: true });
    const conflict = await ask('/settle', second.body);
    expect([conflict.status, conflict.body['code']]).toEqual([409, 'payment_identifier_conflict']);
    expect((await ask('/settle', first.body)).body).toMatchObject({ errorReason: 'duplicate_settlement' });
  });

  test('/settle of x402: a failed payment leaves the identifier to another one', async () => {
    const { server, sandbox, seller } = contract();
    const id = `pay_${randomUUID()}`;
    const poor = await sandbox.createWallet({ usdc: '0' });
    const terms = await offeredTerms(server.facilitator, seller);
    const payment = await payTerms({ sandbox, payer: poor }, terms);
    const extensions = { [PAYMENT_IDENTIFIER]: { info: { required: false, id } } };
    const failed = await ask('/settle', encodeFacilitatorRequest({ ...payment, extensions }, terms));
    expect(failed.body).toMatchObject({ success: false });
    expect((await ask('/settle', (await x402Request(id)).body)).body).toMatchObject({ success: true });
  });

  test('/settle of the contract is answered again; /verify, which reads, reads anew', async () => {
    const { sandbox, create } = contract();
    const payer = await sandbox.createWallet({ usdc: '5' });
    const created = await create(payer);
    const transaction = VersionedTransaction.deserialize(Buffer.from(created.transaction.serialized, 'base64'));
    transaction.sign([payer]);
    const signed_transaction = Buffer.from(transaction.serialize()).toString('base64');
    const [key, other] = [keyed(), keyed()];
    const settled = await ask('/settle', { payment_id: created.payment_id, signed_transaction }, key);
    expect(settled.status).toBe(200);
    expectReplay(await ask('/settle', { payment_id: created.payment_id, signed_transaction }, key), settled);

    const asked = { tx_signature: settled.body['tx_signature'] };
    await ask('/verify', asked, other);
    const again = await ask('/verify', asked, other);
    expect([again.body['verified'], again.headers.get('idempotency-replayed')]).toEqual([true, null]);
  });

  test('tokens are given again for the same key, and the database alone does not tell them', async () => {
    const wallet = walletKey('idempotent');
    const { body: challenge } = await ask('/api/v1/auth/challenge', { wallet: wallet.address });
    const { message, nonce } = challenge as { message: string; nonce: string };
    const asked = { wallet: wallet.address, nonce, signature: wallet.sign(message) };
    const key = randomUUID();
    const first = await ask('/api/v1/auth/token', asked, keyed(key));
    expect(first.status).toBe(200);
    expectReplay(await ask('/api/v1/auth/token', asked, keyed(key)), first);

    const replayed = await ask('/api/v1/auth/token', asked, keyed());
    expect([replayed.status, replayed.body['code']]).toEqual([401, 'sign_in_replayed']);
    const file = contract().databaseFile;
    const stored = readdirSync(join(file, '..')).map((name) => readFileSync(join(file, '..', name), 'latin1'));
    expect(stored.join('')).toContain('tollhouse_answer');
    for (const secret of [key, first.body['access_token'], first.body['refresh_token'], asked.signature]) {
      expect(stored.join('').includes(String(secret))).toBe(false);
    }
  });
});

describe('over restarts and on several instances', () => {
  let fixture: TollFixture;
  let postgres: PostgresServer;
  beforeAll(async () => {
    [fixture, postgres] = await Promise.all([openTollFixture(), startPostgres()]);
  });
  afterAll(async () => {
    await fixture.close();
    await postgres.stop();
  });

  /** An instance of a service on a database, and how often its handler has run. */
  async function instance(databaseUrl: string, gate = createGate(), entered = createGate()) {
    const storage = await openStorage(databaseUrl);
    const { ledger, idempotency } = storage;
    const facilitator = fixture.facilitatorWith({ ledger, idempotency });
    let runs = 0;
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, price: '$0.01', payTo: fixture.payTo }), async (_req, res) => {
        runs += 1;
        entered.open();
        await gate.opened;
        res.json({ report: randomUUID() });
      });
      app.use(createRouter({ facilitator, limits: false }));
    });
    return { url, runs: () => runs, gate, entered, close: () => storage.close() };
  }

  const createPayment = (url: string, key: string) => {
    const headers = { 'content-type': 'application/json', ...keyed(key) };
    const body = JSON.stringify({ amount: 1, token: 'USDC', recipient: fixture.payTo });
    return fetch(`${url}/create-payment`, { method: 'POST', headers, body });
  };

  async function namedPayment(url: string) {
    const { accepted, transaction } = await signPayment(fixture, url);
    const payload = { transaction: Buffer.from(transaction).toString('base64') };
    const extensions = { [PAYMENT_IDENTIFIER]: { info: { required: false, id: `pay_${randomUUID()}` } } };
    const json = JSON.stringify({ x402Version: 2, accepted, payload, extensions });
    return { headers: { 'payment-signature': Buffer.from(json).toString('base64') } };
  }

  /** Asks until the response is not "in progress". */
  async function outcome(ask: () => Promise<Response>): Promise<Response> {
    for (;;) {
      const answer = await ask();
      if (answer.status !== 409) return answer;
      await answer.arrayBuffer();
    }
  }

  test('after a restart on SQLite what was answered is answered again', async () => {
    const database = `sqlite:${folder.newPath('db')}`;
    const key = randomUUID();
    const before = await instance(database);
    before.gate.open();
    const payment = await namedPayment(`${before.url}/report`);
    const created = await (await createPayment(before.url, key)).text();
    const report = await (await fetch(`${before.url}/report`, payment)).text();
    await outcome(() => fetch(`${before.url}/report`, payment));
    await before.close();

    const after = await instance(database);
    const again = [await createPayment(after.url, key), await fetch(`${after.url}/report`, payment)];
    expect(await Promise.all(again.map((it) => it.text()))).toEqual([created, report]);
    expect(again.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual(['true', 'true']);
    expect(after.runs()).toBe(0);
    await after.close();
  });

  test('two instances on one Postgres run one request once, and both answer it again', async () => {
    const database = await postgres.newDatabase();
    const instances = await Promise.all([instance(database), instance(database)]);
    const [one, other] = instances;
    const key = randomUUID();
    const all = Array.from({ length: 10 }, (_, at) => createPayment(instances[at % 2]?.url ?? '', key));
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(statuses.includes(409) ? [200, 409] : [200]));
    const ids = await Promise.all(
      instances.map(async ({ url }) => {
        const { payment_id } = (await (await createPayment(url, key)).json()) as { payment_id: string };
        return payment_id;
      }),
    );
    expect(new Set(ids).size).toBe(1);

    const payment = await namedPayment(`${one?.url}/report`);
    const first = fetch(`${one?.url}/report`, payment);
    await one?.entered.opened;
    const during = await fetch(`${other?.url}/report`, payment);
    expect([during.status, ((await during.json()) as { code: string }).code]).toEqual([409, 'payment_in_progress']);
    one?.gate.open();
    const text = await (await first).text();
    const replayed = await outcome(() => fetch(`${other?.url}/report`, payment));
    expect([replayed.status, await replayed.text(), other?.runs()]).toEqual([200, text, 0]);
    await Promise.all(instances.map(({ close }) => close()));
  });
});
