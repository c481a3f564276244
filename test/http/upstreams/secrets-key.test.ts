import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { examine } from '../../../src/server/examine/examine.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import { connectGateway, type GatewayClient, type MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { type Receiver, type Respond, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { type PostgresServer, startPostgres } from '../../helpers/storage/postgres.js';
import { until } from '../../helpers/until.js';

const VALUE = 'Bearer plainly-to-be-found-7d1f';
const TOKEN = 'plainly-to-be-found-in-the-query';
const [OLD, NEW, OTHER] = ['old', 'new', 'other'].map((it) => `${it} secret for upstreams that is long enough`) as [
  string,
  string,
  string,
];

/** What a promise rejects with. */
async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe.each(['SQLite', 'Postgres'])('the secrets of upstreams in a server on %s', (kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollhouse-secrets-'));
  let owner: Keypair;
  const lines: string[] = [];
  let toll: TollFixture;
  let postgres: PostgresServer | undefined;
  let databaseUrl: string;
  let upstream: Receiver;
  let server: RunningServer | undefined;
  let client: GatewayClient;

  const settingsWith = (secretsKey: string | undefined) => ({
    PORT: '0',
    BASE_URL: 'http://localhost',
    SOLANA_NETWORK: 'solana-devnet',
    SOLANA_RPC_URL: toll.sandbox.rpcUrl,
    SOLANA_WS_URL: toll.sandbox.wsUrl,
    FACILITATOR_KEYPAIR: bs58.encode(toll.feePayer.secretKey),
    DATABASE_URL: databaseUrl,
    JWT_SECRET: 'a secret for tokens that is long enough',
    GATEWAY_OWNERS: 'open',
    OPERATORS: owner.publicKey.toBase58(),
    ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_SCALE: '1000',
    LOG_LEVEL: 'trace',
    ...(secretsKey === undefined ? {} : { SECRETS_KEY: secretsKey }),
  });
  async function start(secretsKey: string | undefined): Promise<void> {
    server = await startServer(readConfiguration(settingsWith(secretsKey)), { write: (line) => lines.push(line) });
    client = await connectGateway(server.url);
  }
  async function stop(): Promise<void> {
    await server?.close();
    server = undefined;
  }

  beforeAll(async () => {
    toll = await openTollFixture();
    owner = await toll.sandbox.createWallet({ usdc: '0' });
    upstream = await startReceiver((res) => void res.end('paid for'));
    postgres = kind === 'Postgres' ? await startPostgres() : undefined;
    databaseUrl = (await postgres?.newDatabase()) ?? `sqlite:${join(folder, 'tollhouse.db')}`;
  });
  afterAll(async () => {
    await stop();
    await upstream?.close();
    await toll?.close();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const newProject = async (slug: string): Promise<MadeProject> =>
    client.project(await client.signIn(owner), {
      slug,
      upstream: { url: upstream.origin, headers: { Authorization: VALUE }, query: { key: TOKEN } },
    });

  /** Pays a call; what the upstream got of it. */
  async function received(slug: string): Promise<unknown> {
    const wallet = await toll.sandbox.createWallet({ usdc: '1' });
    const { headers } = await client.key(await client.signIn(wallet));
    const pay = await payingFetch({ wallet, rpcUrl: toll.sandbox.rpcUrl });
    const answer = await pay(`${client.url}/v1/${slug}`, { headers });
    expect([answer.status, await answer.text()]).toEqual([200, 'paid for']);
    return upstream.received.at(-1)?.headers.authorization;
  }

  /** Everything that the database holds, as its bytes or its rows. */
  async function contents(): Promise<string> {
    if (postgres === undefined) {
      return readdirSync(folder)
        .map((file) => readFileSync(join(folder, file), 'latin1'))
        .join('\n');
    }
    const named = `select table_name from information_schema.tables where table_schema = 'public'`;
    const tables = await postgres.query(databaseUrl, named);
    const rows = await Promise.all(
      tables.map((it) => postgres?.query(databaseUrl, `select * from ${Reflect.get(it, 'table_name')}`)),
    );
    return JSON.stringify(rows);
  }

  const clear = [VALUE, TOKEN, 'plainly-to-be-found'].flatMap((it) => [it, Buffer.from(it).toString('base64')]);
  const tells = (text: string) => clear.filter((it) => text.includes(it));

  test('stand in nothing that it answers, logs, tells, writes down or keeps', async () => {
    await start(OLD);
    const seen: string[] = [];
    const webhooks = await startReceiver();
    const by = await client.signIn(owner);
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await client.ask(method, path, body, by);
      seen.push(answer.text, JSON.stringify([...answer.headers]));
      return answer;
    };
    await ask('POST', '/api/v1/webhooks', { url: webhooks.origin, events: ['*'] });
    const project = await newProject('quiet');
    seen.push(JSON.stringify(project));
    const one = `/api/v1/projects/${project.id}`;
    await ask('GET', '/api/v1/projects');
    await ask('GET', one);
    await ask('PATCH', one, { upstream: { headers: { 'x-more': TOKEN } }, visibility: 'listed' });
    await ask('PATCH', one, { upstream: { headers: { authorization: VALUE, host: VALUE } } });
    await ask('PATCH', one, { upstream: { headers: { 'x-more': { deep: VALUE } } }, slug: VALUE });
    await ask('POST', '/api/v1/projects', { slug: 'quiet', upstream: { url: VALUE, headers: { a: VALUE } } });
    await received('quiet');
    const wallet = await toll.sandbox.createWallet({ usdc: '1' });
    const { headers } = await client.key(await client.signIn(wallet));
    const pay = await payingFetch({ wallet, rpcUrl: toll.sandbox.rpcUrl });
    const failing: readonly Respond[] = [
      (res) => void res.writeHead(500, { 'x-said': VALUE }).end(),
      (res) => void res.destroy(),
    ];
    for (const respond of failing) {
      upstream.respond(respond);
      const failed = await pay(`${client.url}/v1/quiet/x?key=mine`, { headers });
      seen.push(await failed.text(), JSON.stringify([...failed.headers]));
      expect(failed.status).toBeGreaterThanOrEqual(500);
    }
    upstream.respond((res) => void res.end('paid for'));
    for (const path of [
      '/api/v1/events',
      '/api/v1/spending',
      '/api/v1/marketplace',
      '/api/v1/marketplace/quiet',
      '/api/v1/operator/audit',
      '/api/v1/operator/projects',
      `${one}/analytics`,
      '/discovery/resources',
      '/openapi.json',
      '/health',
    ]) {
      const answer = await fetch(`${client.url}${path}`, { headers: { ...by } });
      expect([path, answer.status]).toEqual([path, 200]);
      seen.push(await answer.text());
    }
    await ask('POST', `${one}/pause`);
    await ask('POST', `${one}/resume`);
    await until(() => webhooks.received.some(({ body }) => body.includes('project.updated')));
    seen.push(JSON.stringify(webhooks.received));
    await webhooks.close();
    const kept = await contents();
    expect(kept).toContain('sealed1.');
    expect(kept).not.toContain(OLD);
    await stop();

    expect(lines.length).toBeGreaterThan(10);
    for (const text of [...seen, ...lines, kept, await contents()]) expect(tells(text)).toEqual([]);
  });

  test('are opened after a restart with the same key, and with it behind a new one, which takes its place', async () => {
    await start(OLD);
    expect(await received('quiet')).toBe(VALUE);
    await stop();
    await start(`${NEW}, ${OLD}`);
    expect(await received('quiet')).toBe(VALUE);
    await stop();
    await start(NEW);
    expect(await received('quiet')).toBe(VALUE);
    const by = await client.signIn(owner);
    const { body } = await client.ask('GET', '/api/v1/projects', undefined, by);
    expect(body['data']).toEqual([expect.objectContaining({ slug: 'quiet', version: expect.any(Number) })]);
    await stop();
  });

  test.each([
    ['without a key', undefined],
    ['with another key', OTHER],
    ['with the one before', OLD],
  ])('keep a server from starting %s, which says what to do', async (_, secretsKey) => {
    const fault = await rejection(start(secretsKey));
    expect(fault).toMatchObject({ code: 'bad_option' });
    expect(String(fault)).toMatch(/encrypted with a key that is not given.*set SECRETS_KEY/);
    expect(String(fault)).not.toContain('secret for upstreams');
  });

  test.each([
    ['without a key', undefined, 'error', /^is not set, and the database holds secrets/],
    ['another key', OTHER, 'error', /^is another key \(id \w{16}\), and the database holds secrets/],
    ['their key alone, a moment after it took its place', NEW, 'warning', /another key .* keeps responses of calls/],
    ['their key behind another', `${OTHER},${NEW},${OLD}`, 'ok', /^opens all secrets/],
    ['their key', `${NEW},${OLD}`, 'ok', /^opens all secrets/],
  ])('are looked at before a start, %s, and nothing of them is told', async (_, secretsKey, status, detail) => {
    const found = await examine(settingsWith(secretsKey));
    expect(found).toContainEqual(
      expect.objectContaining({ what: 'SECRETS_KEY', status, detail: expect.stringMatching(detail) }),
    );
    expect(JSON.stringify(found)).not.toContain('secret for upstreams that');
  });

  test('cannot be moved to another project or name in the database', async () => {
    await start(NEW);
    await newProject('moved');
    await stop();
    const { openStorage } = await import('../../../src/storage/open-storage.js');
    const storage = await openStorage(databaseUrl);
    const [from, to] = await Promise.all(['quiet', 'moved'].map((it) => storage.gateway.projects.findBySlug(it)));
    const stolen = {
      ...to!,
      version: to!.version + 1,
      upstream: { ...to!.upstream, headers: from!.upstream.headers! },
    };
    expect(await storage.gateway.projects.replace(stolen, 'keep', [])).toBe(true);
    await storage.close();

    await start(NEW);
    const { headers } = await client.key(await client.signIn(Keypair.generate()));
    const refused = await client.call('moved', { headers });
    expect([refused.status, refused.body['code']]).toEqual([503, 'secrets_key_unknown']);
  });
});

describe('a server on the sandbox', () => {
  test('makes a key beside its database, for its owner to read alone, and finds it again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-sandbox-'));
    const settings = { PORT: '0', LOG_LEVEL: 'silent', DATABASE_URL: `sqlite:${join(folder, 'data', 'tollhouse.db')}` };
    const upstream = await startReceiver();
    const first = await startServer(readConfiguration(settings));
    const client = await connectGateway(first.url);
    await client.project(await client.signIn(Keypair.generate()), {
      slug: 'weather',
      upstream: { url: upstream.origin, headers: { authorization: VALUE } },
    });
    await first.close();
    const path = join(folder, 'data', 'tollhouse.db.secrets-key');
    expect(statSync(path).mode & 0o777).toBe(0o600);

    await (await startServer(readConfiguration(settings))).close();
    const looked = async () => (await examine(settings)).find(({ what }) => what === 'SECRETS_KEY')?.status;
    expect(await looked()).toBe('ok');
    rmSync(path);
    expect([await looked(), existsSync(path)]).toEqual(['error', false]);
    expect(String(await rejection(startServer(readConfiguration(settings))))).toContain('set SECRETS_KEY');
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(['short', 'a secret for upstreams that is long enough,short'])(
    'refuses a key that is short: %s',
    (text) => {
      expect(() => readConfiguration({ SECRETS_KEY: text })).toThrow(
        /SECRETS_KEY must be secrets of at least 32 bytes/,
      );
    },
  );

  test('shows its key to nobody who prints its configuration', () => {
    const configuration = readConfiguration({ SECRETS_KEY: OLD });
    expect(inspect(configuration) + JSON.stringify(configuration)).not.toContain(OLD);
  });
});
