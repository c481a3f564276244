import { Keypair } from '@solana/web3.js';
import { type GatewayFixture, openGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { OpenApi } from '../../helpers/http/documented.js';
import { type PostgresServer, startPostgres } from '../../helpers/storage/postgres.js';

/** What is no name of anything, as it stands in an address: Postgres takes none with the first, no text holds the third, SQLite takes all. */
const ODD = {
  zero: '%00',
  'zero within': 'a%00b',
  surrogate: '%ED%A0%80',
  long: 'x'.repeat(10_000),
  strange: '%EF%BF%BF',
};
/** The same within JSON. */
const ODD_TEXTS = {
  zero: '\0',
  'zero within': 'a\0b',
  surrogate: '\ud800',
  long: 'x'.repeat(10_000),
  strange: '\uffff',
};
const SIGNATURE = '1'.repeat(64);
const wallet = '1'.repeat(32);

let postgres: PostgresServer;
let fixtures: readonly GatewayFixture[];
const operator = Keypair.generate();

beforeAll(async () => {
  postgres = await startPostgres();
  const urls = ['memory:', await postgres.newDatabase()];
  const operators = [operator.publicKey.toBase58()];
  fixtures = await Promise.all(urls.map((url) => openGatewayFixture(url, {}, { operators })));
});
afterAll(async () => {
  for (const fixture of fixtures) await fixture.close();
  await postgres.stop();
});

/** Statuses by what was asked. */
type Outcomes = Readonly<Record<string, string>>;

/** Both databases are asked, and what they answer is the same, and never that something is out of order. */
async function expectAlike(askAll: (fixture: GatewayFixture) => Promise<Outcomes>): Promise<void> {
  const [onSqlite = {}, onPostgres = {}] = await Promise.all(fixtures.map(askAll));
  expect(onPostgres).toEqual(onSqlite);
  expect(Object.entries(onSqlite).filter(([, status]) => Number(status) >= 500)).toEqual([]);
  expect(Object.keys(onSqlite).length).toBeGreaterThan(20);
}

/** Asks as whoever may. */
async function asker({ client, asOwner }: GatewayFixture) {
  const asOperator = await client.signIn(operator);
  return async (method: string, path: string, body?: unknown): Promise<string> => {
    const by = path.startsWith('/api/v1/operator') ? asOperator : asOwner;
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { accept: 'application/json', 'content-type': 'application/json', ...by };
    const answer = await fetch(client.url + path, { method, headers, redirect: 'manual', ...sent });
    await answer.body?.cancel();
    return String(answer.status);
  };
}

/** Values that there are, for the parameters beside an odd one. */
async function valuesOf({ client, asOwner, project, upstream }: GatewayFixture) {
  const wanted = { url: upstream.origin, events: ['*'] };
  const webhook = await client.ask('POST', '/api/v1/webhooks', wanted, asOwner);
  expect(webhook.status).toBe(201);
  const known = {
    project_id: project.id,
    slug: project.slug,
    signature: SIGNATURE,
    delivery: 'dlv_1',
    payout_id: 'pyo_1',
  };
  return (path: string): Readonly<Record<string, string>> => ({
    ...known,
    id: path.includes('/webhooks/') ? String(webhook.body['id']) : project.id,
    payment: SIGNATURE,
    wallet,
  });
}

const BODIES = [
  ['/transaction', { payer: wallet }],
  ['/recover', { since: '2030-01-02T03:04:05Z' }],
] as const;

function bodyOf(method: string, path: string): unknown {
  if (method === 'GET') return undefined;
  return BODIES.find(([end]) => path.endsWith(end))?.[1] ?? {};
}

function parametersOf(document: OpenApi) {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [] }]) =>
      parameters.map((it) => ({ path, method: method.toUpperCase(), ...it })),
    ),
  );
}

test('what no name can be is answered alike on both databases, wherever a path or a query takes a name', async () => {
  await expectAlike(async (fixture) => {
    const document = (await (await fetch(`${fixture.client.url}/openapi.json`)).json()) as OpenApi;
    const ask = await asker(fixture);
    const values = await valuesOf(fixture);
    const outcomes: Record<string, string> = {};
    for (const { path, method, name, in: where } of parametersOf(document)) {
      if (where === 'header') continue;
      for (const [kind, odd] of Object.entries(ODD)) {
        const filled = path.replace(/\{(\w+)\}/g, (_, it: string) =>
          where === 'path' && it === name ? odd : (values(path)[it] ?? 'x'),
        );
        const asked = where === 'query' ? `${filled}?${name}=${odd}` : filled;
        outcomes[`${method} ${path} ${name}: ${kind}`] = await ask(method, asked, bodyOf(method, path));
      }
    }
    return outcomes;
  });
});

test('nor is it told apart in bodies and cursors that name something', async () => {
  await expectAlike(async (fixture) => {
    const ask = await asker(fixture);
    const outcomes: Record<string, string> = {};
    const lists = [
      'keys',
      'projects',
      'webhooks',
      'events',
      'calls',
      'marketplace',
      `projects/${fixture.project.id}/payouts`,
    ];
    for (const [kind, odd] of Object.entries(ODD_TEXTS)) {
      for (const [at, body] of [
        ['/settle', { payment_id: odd, signed_transaction: 'AAAA' }],
        ['/create-payment', { project: odd }],
        ['/api/v1/webhooks', { url: fixture.upstream.origin, events: ['*'], project_id: odd }],
        ['/api/v1/keys/generate', { name: 'a', project_id: odd }],
        ['/api/v1/keys/generate', { name: 'b', projects: [odd] }],
        ['/api/v1/operator/suspend', { kind: 'project', target: odd }],
        ['/api/v1/operator/resume', { kind: 'wallet', target: odd }],
        ['/token-gate/check-access', { wallet: odd, token: odd, required_amount: 1 }],
        ['/api/v1/auth/challenge', { wallet: odd }],
        ['/api/v1/auth/refresh', { refresh_token: odd }],
        ['/api/v1/auth/token', { wallet, nonce: odd, signature: odd }],
      ] as const) {
        outcomes[`${at} ${Object.keys(body).at(-1)} ${kind}`] = await ask('POST', at, body);
      }
      for (const list of lists) {
        const cursor = Buffer.from(JSON.stringify([0, odd])).toString('base64url');
        const asked = await ask('GET', `/api/v1/${list}?cursor=${cursor}`);
        outcomes[`cursor of ${list.replace(/prj_\w+/, '')} ${kind}`] = asked;
      }
    }
    return outcomes;
  });
});
