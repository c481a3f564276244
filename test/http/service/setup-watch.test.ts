import { Keypair } from '@solana/web3.js';
import type { EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import type { FacilitatorOptions } from '../../../src/facilitator/facilitator-options.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { FailedPayment, RequirePaymentOptions } from '../../../src/middleware/terms/payment-options.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { endOf, runFile, stopFiles } from '../../helpers/processes/run-file.js';
import { startPostgres } from '../../helpers/storage/postgres.js';
import { signPayment } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

let fixture: TollFixture;
let warned: { readonly code: string; readonly text: string }[];

beforeAll(async () => {
  fixture = await openTollFixture({ maxBlockhashAgeBlocks: 2_000 });
});
beforeEach(() => {
  warned = [];
  jest.spyOn(process, 'emitWarning').mockImplementation((...[text, options]) => {
    warned.push({ code: String(Reflect.get(Object(options), 'code')), text: String(text) });
  });
});
afterEach(() => {
  fixture.sandbox.faults.clear();
  jest.restoreAllMocks();
});
afterAll(async () => {
  stopFiles();
  await fixture.close();
});

const newAddress = () => Keypair.generate().publicKey.toBase58();
const codes = () => warned.map(({ code }) => code);

/** A paid route and the service on one facilitator that looks after itself. */
async function serve(options: Partial<FacilitatorOptions>, route: Partial<RequirePaymentOptions> = {}) {
  const facilitator = fixture.facilitatorWith({ check: true, blockhashHints: false, ...options });
  const url = await fixture.serve((app) => {
    const gate = requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01', ...route });
    app.get('/paid', gate, (_req, res) => res.send('delivered'));
    app.use(createRouter({ facilitator, limits: false }));
  });
  return { facilitator, url };
}

const known = ({ setup }: EmbeddedFacilitator) => until(() => setup.known() !== undefined);

async function read(url: string) {
  const answer = await fetch(url);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('a fee payer without SOL is told to the operator at the first 402, which does not wait for it', async () => {
  const { facilitator, url } = await serve({ keypair: Keypair.generate() });
  expect((await fetch(`${url}/paid`)).status).toBe(402);
  await known(facilitator);
  expect(codes()).toEqual(['TOLLHOUSE_FEE_PAYER_EMPTY']);
  expect(warned[0]?.text).toContain('To mend it: solana airdrop 1 ');
});

test('a recipient without a token account is told, and shows in /health, /readyz and onFailed', async () => {
  const payTo = newAddress();
  const failed: FailedPayment[] = [];
  const { facilitator, url } = await serve({}, { payTo, onFailed: (event) => void failed.push(event) });
  const before = (await read(`${url}/readyz`)).body;
  expect(before).not.toHaveProperty('setup');
  const { v2 } = await signPayment(fixture, `${url}/paid`);
  await known(facilitator);
  expect(codes()).toEqual(['TOLLHOUSE_RECIPIENT_ACCOUNT_MISSING']);
  expect(warned[0]?.text).toContain(`npx tollhouse accounts create ${payTo} --token USDC`);

  const ready = await read(`${url}/readyz`);
  expect(ready).toMatchObject({ status: 200, body: { status: 'ready', checks: { recipients: 'unpayable' } } });
  expect(ready.body.setup).toEqual({
    checked_at: expect.stringMatching(/^\d{4}-.*Z$/),
    findings: [{ code: 'recipient_account_missing', severity: 'error' }],
  });
  expect((await read(`${url}/health`)).body).toMatchObject({
    status: 'degraded',
    networks: { 'solana-devnet': 'degraded' },
    facilitation: { status: 'enabled' },
  });
  expect((await read(`${url}/wallet-status`)).body).toMatchObject({ operational: true });

  const answer = await fetch(`${url}/paid`, { headers: v2 });
  const text = await answer.text();
  expect(answer.status).toBe(402);
  expect(text).not.toContain('tollhouse accounts');
  expect(failed).toMatchObject([
    {
      refusal: { reason: 'invalid_exact_svm_recipient_token_account_missing' },
      findings: [{ code: 'recipient_account_missing', fix: expect.stringContaining(payTo) }],
    },
  ]);
});

test('where all is well nothing is told, and /readyz says when it was looked at', async () => {
  const { facilitator, url } = await serve({});
  await fetch(`${url}/paid`);
  await known(facilitator);
  expect(warned).toEqual([]);
  expect((await read(`${url}/readyz`)).body).toMatchObject({ setup: { findings: [] } });
  expect((await read(`${url}/health`)).body).toMatchObject({ status: 'healthy' });
});

test('it costs a few calls to the chain once, and none with the requests that follow', async () => {
  const { facilitator, url } = await serve({});
  fixture.sandbox.resetCalls();
  await fetch(`${url}/paid`);
  await known(facilitator);
  expect(fixture.sandbox.calls.total).toBeLessThanOrEqual(5);
  fixture.sandbox.resetCalls();
  await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/paid`)));
  const { v2 } = await signPayment(fixture, `${url}/paid`);
  fixture.sandbox.resetCalls();
  expect((await fetch(`${url}/paid`, { headers: v2 })).status).toBe(200);
  expect(fixture.sandbox.calls).toMatchObject({ simulateTransaction: 1, sendTransaction: 1, total: 2 });
});

test('with an RPC that cannot be reached it is tried again until it can', async () => {
  fixture.sandbox.faults.add({ kind: 'disconnect' });
  const { facilitator, url } = await serve({ rpcTimeoutMs: 300 });
  await fetch(`${url}/paid`);
  await known(facilitator);
  expect(codes()).toContain('TOLLHOUSE_RPC_UNREACHABLE');
  fixture.sandbox.faults.clear();
  await until(() => facilitator.setup.known()?.ok === true);
  expect(codes().filter((code) => code === 'TOLLHOUSE_RPC_UNREACHABLE')).toHaveLength(1);
});

test('a fee payer that runs dry later is told with the payment that fails of it', async () => {
  const keypair = await fixture.sandbox.createWallet({ sol: '1' });
  const wallet = keypair.publicKey.toBase58();
  let time = Date.now();
  const { facilitator, url } = await serve({ keypair, now: () => time });
  await fetch(`${url}/paid`);
  await known(facilitator);
  expect(warned).toEqual([]);
  const account = fixture.sandbox.account(wallet);
  if (account === null) throw new Error('the fee payer is gone');
  fixture.sandbox.setAccount(wallet, { ...account, lamports: 0n });
  time += 120_000;
  const { v2 } = await signPayment(fixture, `${url}/paid`);
  expect((await fetch(`${url}/paid`, { headers: v2 })).status).toBe(503);
  await until(() => codes().includes('TOLLHOUSE_FEE_PAYER_EMPTY'));
});

test('a store that takes no writes any more is told with the payment that fails of it, and nothing is offered', async () => {
  const postgres = await startPostgres();
  const database = await postgres.newDatabase();
  const storage = await openStorage(database);
  let time = Date.now();
  const { facilitator, url } = await serve({ storage, now: () => time });
  await fetch(`${url}/paid`);
  await known(facilitator);
  expect(codes()).not.toContain('TOLLHOUSE_STORE_UNWRITABLE');
  const name = new URL(database).pathname.slice(1);
  await postgres.query(database, `alter database ${name} set default_transaction_read_only = on`);
  // Those that are open took no notice of it.
  const others = `datname = '${name}' and pid <> pg_backend_pid()`;
  await postgres.query(database, `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
  time += 120_000;
  const { v2 } = await signPayment(fixture, `${url}/paid`);
  expect((await fetch(`${url}/paid`, { headers: v2 })).status).toBe(503);
  await until(() => codes().includes('TOLLHOUSE_STORE_UNWRITABLE'));
  await until(async () => (await fetch(`${url}/paid`)).status === 503);
  await facilitator.close();
  await storage.close();
  await postgres.stop();
});

test('what callers choose is not looked at', async () => {
  const { facilitator, url } = await serve({}, { payTo: () => newAddress() });
  await fetch(`${url}/paid`);
  await known(facilitator);
  expect(warned).toEqual([]);
});

test('with check: false nobody looks', async () => {
  const { facilitator, url } = await serve({ check: false, keypair: Keypair.generate() });
  fixture.sandbox.resetCalls();
  await fetch(`${url}/paid`);
  const other = await serve({ keypair: Keypair.generate() });
  await fetch(`${other.url}/paid`);
  await known(other.facilitator);
  expect(facilitator.setup.known()).toBeUndefined();
  expect(codes()).toEqual(['TOLLHOUSE_FEE_PAYER_EMPTY']);
});

test('one that is closed before it was looked at looks no more', async () => {
  const { facilitator, url } = await serve({ keypair: Keypair.generate() });
  await fetch(`${url}/paid`);
  await facilitator.close();
  const other = await serve({ keypair: Keypair.generate() });
  await fetch(`${other.url}/paid`);
  await known(other.facilitator);
  expect(facilitator.setup.known()).toBeUndefined();
});

test('it keeps no process alive, though it will look again, and warns there with code, reason and fix', async () => {
  const { code, text } = await endOf(runFile('test/helpers/processes/idle-gate.ts', []));
  expect(text).toContain('402 rpc_unreachable websocket_unreachable');
  expect(text).toMatch(
    /\[TOLLHOUSE_RPC_UNREACHABLE\] Warning: the Solana RPC cannot be asked: .*To mend it: set rpcUrl/,
  );
  expect(code).toBe(0);
});
