import { Connection, Keypair, VersionedTransaction } from '@solana/web3.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import type { Gateway } from '../../../src/gateway/gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { Storage } from '../../../src/storage/storage.js';
import { USDC } from '../../helpers/crash/crash-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../../helpers/storage/postgres.js';
import { until } from '../../helpers/until.js';

const LANDED = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
const SUSPENDED = { status: 403, body: { code: 'wallet_suspended' } };
const BY = { wallet: Keypair.generate().publicKey.toBase58() };

const folder = testFolder();
let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

describe.each([
  ['SQLite', async () => `sqlite:${folder.newPath('db')}`],
  ['Postgres', () => postgres.newDatabase()],
])('a wallet that the operator has suspended, on %s', (_name, newUrl) => {
  let fixture: TollFixture;
  let storage: Storage;
  let gateway: Gateway;
  let connection: Connection;
  let url: string;

  beforeAll(async () => {
    fixture = await openTollFixture({ maxBlockhashAgeBlocks: 10_000 });
    storage = await openStorage(await newUrl());
    const facilitator = fixture.facilitatorWith({ storage });
    gateway = createGateway({ facilitator, storage, operators: [BY.wallet] });
    connection = new Connection(fixture.sandbox.rpcUrl, 'confirmed');
    url = await fixture.serve((app) => app.use(createRouter({ facilitator, limits: false })));
  });
  afterAll(async () => {
    await gateway.close();
    await fixture.close();
    await storage.close();
  });

  async function ask(path: string, wanted?: object) {
    const headers = { 'content-type': 'application/json' };
    const init = wanted && { method: 'POST', headers, body: JSON.stringify(wanted) };
    const answer = await fetch(url + path, init);
    return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
  }
  const create = (more: object = {}) =>
    ask('/create-payment', { amount: '0.01', token: 'USDC', recipient: fixture.payTo, ...more });
  const statusOf = async (id: unknown) => (await ask(`/payments/${id}`)).body['status'];

  async function newPayer() {
    const wallet = await fixture.sandbox.createWallet({ usdc: '10', sol: '1' });
    const address = wallet.publicKey.toBase58();
    const target = { kind: 'wallet', target: address } as const;
    const prepared = async (id: unknown) => {
      const { body } = await ask(`/payments/${id}/transaction`, { account: address });
      const transaction = VersionedTransaction.deserialize(Buffer.from(String(body['transaction']), 'base64'));
      transaction.sign([wallet]);
      return transaction.serialize();
    };
    return { address, target, prepared };
  }
  /** As a wallet does it, past the service. */
  async function send(transaction: Uint8Array) {
    const signature = await connection.sendRawTransaction(transaction, { skipPreflight: true });
    await until(async () => (await connection.getTransaction(signature, LANDED)) !== null);
  }
  /** What a block says of its time has no parts of a second. */
  const nextSecond = (after = Date.now()) => until(() => Math.floor(Date.now() / 1000) > Math.floor(after / 1000) + 1);
  const received = () => fixture.sandbox.tokenBalance(fixture.payTo, USDC);

  test('is prepared no transaction, and is again when it is resumed', async () => {
    const { address, target } = await newPayer();
    const { body } = await create();
    const path = `/payments/${body['payment_id']}/transaction`;
    await gateway.operator.suspend(BY, target);
    expect(await ask(path, { payer: address })).toMatchObject(SUSPENDED);
    expect(await ask(path, { account: address })).toMatchObject(SUSPENDED);
    expect(await create({ payer: address })).toMatchObject(SUSPENDED);
    const { address: other } = await newPayer();
    expect((await ask(path, { payer: other })).status).toBe(200);
    await gateway.operator.resume(BY, target);
    expect((await ask(path, { payer: address })).status).toBe(200);
  });

  test('pays no request by money that it sends itself, and another wallet pays it', async () => {
    const { target, prepared } = await newPayer();
    const id = (await create()).body['payment_id'];
    const transaction = await prepared(id);
    await gateway.operator.suspend(BY, target);
    await nextSecond();
    const before = received();
    await send(transaction);
    expect(received()).toBe(before + 10_000n);
    const unmatched = [{ reason: 'wallet_suspended', received: [{ to: fixture.payTo, amount_atomic: '10000' }] }];
    // What was looked for when it was prepared is believed for some seconds.
    await until(async () => JSON.stringify((await ask(`/payments/${id}`)).body).includes(String(unmatched[0]?.reason)));
    expect((await ask(`/payments/${id}`)).body).toMatchObject({ status: 'created', unmatched });
    const settle = { payment_id: id, signed_transaction: Buffer.from(transaction).toString('base64') };
    expect(await ask('/settle', settle)).toMatchObject(SUSPENDED);
    const honest = await newPayer();
    await send(await honest.prepared(id));
    await until(async () => (await statusOf(id)) === 'settled');
    expect((await ask(`/payments/${id}`)).body).toMatchObject({ payer: honest.address });
  });

  test('has paid what landed before, whenever that is noticed', async () => {
    const { address, target, prepared } = await newPayer();
    const id = (await create()).body['payment_id'];
    await send(await prepared(id));
    await nextSecond();
    await gateway.operator.suspend(BY, target);
    await until(async () => (await statusOf(id)) === 'settled');
    expect((await ask(`/payments/${id}`)).body).toMatchObject({ payer: address });
  });
});
