import { readFileSync } from 'node:fs';
import type { Keypair } from '@solana/web3.js';
import { Webhook } from 'standardwebhooks';
import { exportPayments } from '../../../src/cli/books/export-payments.js';
import { verifyGateway } from '../../../src/gateway/proxy/verify-gateway.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import { createPaymentReader } from '../../../src/storage/books/payment-reader.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import {
  CALL_PRICE,
  connectGateway,
  type GatewayClient,
  type MadeKey,
  type MadePayment,
  type MadeProject,
} from '../../helpers/fixtures/gateway-client.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { type Receiver, startReceiver, status } from '../../helpers/http/webhook-receiver.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { startPostgres } from '../../helpers/storage/postgres.js';
import { askTerms } from '../../helpers/transactions/payments.js';
import { until } from '../../helpers/until.js';

type Json = Readonly<Record<string, unknown>>;

const folder = testFolder();

/** 90 and 10 hundredths of the price, rounded down, and the one atomic unit that is left over to the first. */
const [OWNERS_SHARE, PARTNERS_SHARE] = [11_113n, 1_234n];

const DATABASES = [
  ['SQLite', async () => ({ url: `sqlite:${folder.newPath('db')}`, stop: async () => {} })],
  [
    'PostgreSQL',
    async () => {
      const postgres = await startPostgres();
      return { url: await postgres.newDatabase(), stop: postgres.stop };
    },
  ],
] as const;

describe.each(DATABASES)('from a project to its payout, on %s', (_name, openDatabase) => {
  let stopDatabase: () => Promise<void>;
  let databaseUrl: string;
  let server: RunningServer;
  let sandbox: Sandbox;
  let client: GatewayClient;
  let upstream: Receiver;
  let hook: Receiver;
  let owner: Keypair;
  let partner: Keypair;
  let caller: Keypair;
  let asOwner: ProofHeaders;
  let project: MadeProject;
  let key: MadeKey;
  let payment: MadePayment;
  let webhookSecret: string;

  beforeAll(async () => {
    const database = await openDatabase();
    stopDatabase = database.stop;
    databaseUrl = database.url;
    const scale = { RATE_LIMIT_SCALE: '1000', LOG_LEVEL: 'silent' };
    server = await startServer(readConfiguration({ PORT: '0', DATABASE_URL: database.url, ...scale }));
    sandbox = server.chain.sandbox!;
    client = await connectGateway(server.url);
    owner = await sandbox.createWallet({ usdc: '0' });
    partner = await sandbox.createWallet({ usdc: '0' });
    caller = await sandbox.createWallet({ usdc: '10' });
    hook = await startReceiver(status(204));
    // What the seller's own API does: it believes nobody but the gateway.
    upstream = await startReceiver((res, { method, path, headers, body }) => {
      const call = verifyGateway({ method, url: path, headers }, project.gateway_secret, { body });
      res.writeHead(call.ok ? 200 : 403, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ ...call, path, body }));
    });
  });
  afterAll(async () => {
    await server.close();
    await Promise.all([upstream.close(), hook.close()]);
    await stopDatabase();
  });

  const address = ({ publicKey }: Keypair) => publicKey.toBase58();
  const held = (wallet: string) => sandbox.tokenBalance(wallet, sandbox.tokens[0]!.mint);
  const shares = () => [held(address(owner)), held(address(partner))];

  /** What the webhook was told of a type; every message is signed. */
  function told(type: string): readonly Json[] {
    const messages = hook.received.map(({ body, headers }) =>
      new Webhook(webhookSecret).verify(body, headers as Record<string, string>),
    ) as readonly { readonly type: string; readonly data: Json }[];
    return messages.filter((it) => it.type === type).map(({ data }) => data);
  }

  test('the owner signs in, registers a project with a split, and a webhook', async () => {
    asOwner = await client.signIn(owner);
    const split = [
      { recipient: address(owner), bps: 9_000 },
      { recipient: address(partner), bps: 1_000 },
    ];
    project = await client.project(asOwner, { slug: 'echo', split, upstream: { url: `${upstream.origin}/api` } });
    expect(project).toMatchObject({ slug: 'echo', gateway_secret: expect.stringMatching(/^gws_/), split });
    const wanted = { url: hook.url, events: ['*'] };
    const webhook = await client.ask('POST', '/api/v1/webhooks', wanted, asOwner);
    expect(webhook.status).toBe(201);
    webhookSecret = String(webhook.body['secret']);
  });

  test('a caller gets a key and is asked to pay', async () => {
    key = await client.key(await client.signIn(caller));
    const asked = await client.call('echo/say', { method: 'POST', body: 'hello', headers: key.headers });
    expect(asked).toMatchObject({ status: 402, body: { code: 'payment_required', x402Version: 1 } });
    const { accepts } = await askTerms(`${client.url}/v1/echo/say`, { headers: key.headers });
    expect(accepts).toMatchObject([{ amount: String(CALL_PRICE), payTo: server.facilitator.payouts?.wallet }]);
    expect(upstream.received).toEqual([]);
  });

  test('pays through /create-payment: one transaction gives both recipients their shares', async () => {
    payment = await client.pay({ project, payer: caller, key });
    expect(shares()).toEqual([OWNERS_SHARE, PARTNERS_SHARE]);
    const seen = await client.ask('POST', '/verify', { tx_signature: payment.signature });
    expect(seen.body).toMatchObject({
      verified: true,
      transfers: [
        { to: address(owner), amount_atomic: String(OWNERS_SHARE) },
        { to: address(partner), amount_atomic: String(PARTNERS_SHARE) },
      ],
    });
  });

  test('calls with the signature, and gets what the upstream says to the gateway alone', async () => {
    const init = { method: 'POST', body: 'hello', headers: { ...key.headers, ...payment.header } };
    const answer = await client.call('echo/say?loud=1', init);
    expect([answer.status, answer.headers.get('x-service-error')]).toEqual([200, null]);
    expect(answer.body).toMatchObject({
      ok: true,
      bodyVerified: true,
      payer: address(caller),
      amount: '0.012347',
      token: 'USDC',
      path: '/api/say?loud=1',
      body: 'hello',
    });
    const again = await client.call('echo/say?loud=1', init);
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, answer.text, 'true']);
    expect((await client.call('echo/say?loud=2', init)).body).toMatchObject({ code: 'payment_already_used' });
    expect((await fetch(`${upstream.origin}/api/say`)).status).toBe(403);
  });

  test('pays again with the official x402 client, into the split wallet', async () => {
    const fetchAndPay = await payingFetch({ wallet: caller, rpcUrl: sandbox.rpcUrl });
    const answer = await fetchAndPay(`${client.url}/v1/echo/again`, { headers: key.headers });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ ok: true, payer: address(caller), path: '/api/again' }),
    ]);
    expect(shares()).toEqual([OWNERS_SHARE, PARTNERS_SHARE]);
    expect(held(server.facilitator.payouts!.wallet)).toBe(CALL_PRICE);
  });

  test('sees what it has spent', async () => {
    const spending = async () => (await client.ask('GET', '/api/v1/spending', undefined, key.headers)).body;
    // A call is booked when its whole response has left.
    await until(async () => JSON.stringify(await spending()).includes('"calls":2'));
    const body = await spending();
    const both = { amount_atomic: String(2n * CALL_PRICE), token: 'USDC', calls: 2 };
    expect(body).toMatchObject({ totals: [both], spending: [{ key_id: key.id, project_id: project.id, ...both }] });
  });

  test('the owner sees the figures', async () => {
    const path = `/api/v1/projects/${project.id}/analytics`;
    const totals = async () => (await client.ask('GET', path, undefined, asOwner)).body['totals'] as Json;
    // What does not reach the upstream is written in bundles, and the last 402 came after the refusal.
    await until(async () => {
      const { challenged, refused } = await totals();
      return Number(challenged) >= 3 && Number(refused) >= 1;
    });
    expect(await totals()).toMatchObject({
      calls: 2,
      paid: 2,
      payers: 1,
      upstream_errors: 0,
      revenue_atomic: { USDC: String(2n * CALL_PRICE) },
      challenged: 3,
      refused: 1,
      refusals: { payment_already_used: 1 },
    });
  });

  test('and is told by signed messages', async () => {
    await until(() => told('call.succeeded').length === 2);
    expect(told('call.succeeded')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ tx_signature: payment.signature, amount_atomic: String(CALL_PRICE), status: 200 }),
      ]),
    );
    expect(told('payment.settled')).toHaveLength(2);
  });

  test('a payout gives the recipients what is owed, once, however often it is asked for', async () => {
    const path = `/api/v1/projects/${project.id}/payouts`;
    const owed = await client.ask('GET', `${path}/owed`, undefined, asOwner);
    expect(owed.body['data']).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ recipient: address(owner), amount_atomic: String(OWNERS_SHARE) }),
        expect.objectContaining({ recipient: address(partner), amount_atomic: String(PARTNERS_SHARE) }),
      ]),
    );
    const tooLittle = await client.ask('POST', path, undefined, asOwner);
    const waits = { held_back: 'below_minimum', minimum: '0.1', minimum_atomic: '100000' };
    expect(tooLittle).toMatchObject({ status: 200, body: { payouts: [], owed: [waits, waits] } });

    // A call for 99 cents makes it enough for both.
    const pricing = { amount: '0.99', token: 'USDC', network: 'solana-devnet' };
    expect((await client.ask('PATCH', `/api/v1/projects/${project.id}`, { pricing }, asOwner)).status).toBe(200);
    const fetchAndPay = await payingFetch({ wallet: caller, rpcUrl: sandbox.rpcUrl });
    expect((await fetchAndPay(`${client.url}/v1/echo/dear`, { headers: key.headers })).status).toBe(200);
    const asked = await Promise.all([1, 2, 3].map(() => client.ask('POST', path, undefined, asOwner)));
    expect(asked.map((it) => it.status)).toContain(202);
    await until(() => told('payout.paid').length === 1);
    expect((await client.ask('POST', path, undefined, asOwner)).body).toEqual({ payouts: [], owed: [] });
    expect(shares()).toEqual([2n * OWNERS_SHARE + 891_000n, 2n * PARTNERS_SHARE + 99_000n]);
    expect(held(server.facilitator.payouts!.wallet)).toBe(0n);
    const { body } = await client.ask('GET', path, undefined, asOwner);
    expect(body['data']).toMatchObject([{ state: 'paid', amount_atomic: String(CALL_PRICE + 990_000n) }]);
  });

  test('the export names everybody who got something, and adds up to what every wallet holds', async () => {
    const file = folder.newPath('jsonl');
    const storage = await openStorage(databaseUrl);
    const options = { format: 'jsonl', range: {}, out: file, tokens: [] } as const;
    const progress = { show: () => undefined, end: () => undefined };
    const count = await exportPayments(createPaymentReader(storage.database), options, progress);
    await storage.close();
    const rows: readonly Record<string, string>[] = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const split = server.facilitator.payouts!.wallet;
    const movements = rows.map(({ type, state, payer, pay_to, moved_atomic }) => [
      type,
      state,
      payer,
      pay_to,
      moved_atomic,
    ]);
    const [me, ours, theirs] = [caller, owner, partner].map(address) as [string, string, string];
    const dear = 990_000n;

    expect(count).toEqual({ payments: 3, payouts: 1 });
    expect(movements).toEqual([
      ['payment', 'served', me, ours, String(OWNERS_SHARE)],
      ['payment', 'served', me, theirs, String(PARTNERS_SHARE)],
      ['payment', 'served', me, split, String(CALL_PRICE)],
      ['owed', 'served', split, ours, '0'],
      ['owed', 'served', split, theirs, '0'],
      ['payment', 'served', me, split, String(dear)],
      ['owed', 'served', split, ours, '0'],
      ['owed', 'served', split, theirs, '0'],
      ...[ours, theirs]
        .sort()
        .map((it) => [
          'payout',
          'paid',
          split,
          it,
          String(it === ours ? OWNERS_SHARE + 891_000n : PARTNERS_SHARE + 99_000n),
        ]),
    ]);
    const owed = rows.filter(({ type }) => type === 'owed').map(({ amount_atomic }) => BigInt(amount_atomic ?? ''));
    expect(owed.reduce((sum, it) => sum + it, 0n)).toBe(CALL_PRICE + dear);

    const changes = new Map<string, bigint>();
    for (const { payer = '', pay_to = '', moved_atomic = '' } of rows) {
      changes.set(payer, (changes.get(payer) ?? 0n) - BigInt(moved_atomic));
      changes.set(pay_to, (changes.get(pay_to) ?? 0n) + BigInt(moved_atomic));
    }
    const began = new Map([[me, 10_000_000n]]);
    expect(new Set(changes.keys())).toEqual(new Set([me, ours, theirs, split]));
    for (const [wallet, change] of changes) expect((began.get(wallet) ?? 0n) + change).toBe(held(wallet));
  });

  test('when the project is deleted, its owner still sees what was paid and what is owed, and nobody else does', async () => {
    const path = `/api/v1/projects/${project.id}/payouts`;
    expect((await client.ask('DELETE', `/api/v1/projects/${project.id}`, undefined, asOwner)).status).toBe(204);
    expect((await client.ask('GET', `/api/v1/projects/${project.id}`, undefined, asOwner)).status).toBe(404);

    const paid = await client.ask('GET', path, undefined, asOwner);
    expect(paid).toMatchObject({ status: 200, body: { data: [{ state: 'paid' }] } });
    expect(await client.ask('GET', `${path}/owed`, undefined, asOwner)).toMatchObject({
      status: 200,
      body: { data: [] },
    });
    expect((await client.ask('GET', path, undefined, await client.signIn(partner))).status).toBe(404);
  });
});
