import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { examine } from '../../../src/server/examine/examine.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import { connectGateway } from '../../helpers/fixtures/gateway-client.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { type PostgresServer, startPostgres } from '../../helpers/storage/postgres.js';
import { until } from '../../helpers/until.js';

const [OURS, NEXT, OTHER] = ['our', 'next', 'other'].map((it) => `${it} secret for responses that is long enough`) as [
  string,
  string,
  string,
];
const CLOSED = [503, 'store_unavailable'];

describe.each(['SQLite', 'Postgres'])('a SECRETS_KEY for kept responses, on %s', (kind) => {
  const folder = testFolder();
  const servers: RunningServer[] = [];
  const warnings: string[] = [];
  let toll: TollFixture;
  let postgres: PostgresServer | undefined;
  let databaseUrl: string;
  let upstream: Receiver;
  let owner: Keypair;

  beforeAll(async () => {
    toll = await openTollFixture();
    owner = await toll.sandbox.createWallet({ usdc: '0' });
    upstream = await startReceiver((res) => void res.end('paid for'));
    postgres = kind === 'Postgres' ? await startPostgres() : undefined;
  });
  beforeEach(async () => {
    databaseUrl = (await postgres?.newDatabase()) ?? `sqlite:${folder.newPath('db')}`;
    warnings.length = 0;
    jest.spyOn(process, 'emitWarning').mockImplementation((text, options) => {
      if (Reflect.get(Object(options), 'code') === 'TOLLHOUSE_SECRETS_KEY') warnings.push(String(text));
    });
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((it) => it.close()));
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await upstream?.close();
    await toll?.close();
    await postgres?.stop();
  });

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
    ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    LOG_LEVEL: 'silent',
    ...(secretsKey === undefined ? {} : { SECRETS_KEY: secretsKey }),
  });

  async function start(secretsKey: string | undefined): Promise<RunningServer> {
    const server = await startServer(readConfiguration(settingsWith(secretsKey)));
    servers.push(server);
    return server;
  }
  const stop = async (): Promise<void> => void (await servers.pop()?.close());
  const looked = async (secretsKey: string | undefined) =>
    (await examine(settingsWith(secretsKey))).find(({ what }) => what === 'SECRETS_KEY');

  /** Pays for a call; answers what sends it again to another server. */
  async function payAt(first: RunningServer): Promise<(at: RunningServer) => Promise<unknown>> {
    const { url } = first;
    const client = await connectGateway(url);
    await client.project(await client.signIn(owner), { slug: 'weather', upstream: { url: upstream.origin } });
    const wallet = await toll.sandbox.createWallet({ usdc: '1' });
    const { headers } = await client.key(await client.signIn(wallet));
    const unpaid = await fetch(`${url}/v1/weather`, { headers });
    const paying = { ...headers, ...toll.sandbox.paymentHeaders(wallet, unpaid) };
    const again = async (at: RunningServer): Promise<unknown> => {
      const answer = await fetch(`${at.url}/v1/weather`, { headers: paying });
      return answer.ok ? answer.text() : [answer.status, Reflect.get(Object(await answer.json()), 'code')];
    };
    const { length } = upstream.received;
    expect([await again(first), upstream.received.length]).toEqual(['paid for', length + 1]);
    return again;
  }

  test.each([
    ['another key', OTHER, /^is another key \(id \w{16}\), and the database keeps responses/],
    ['no key', undefined, /^is not set, and the database keeps responses/],
  ])('is missed by a start with %s, which goes on and is told of it, once', async (_what, secretsKey, detail) => {
    const again = await payAt(await start(OURS));
    await stop();
    expect(warnings).toEqual([]);

    expect(await looked(secretsKey)).toMatchObject({ status: 'warning', detail: expect.stringMatching(detail) });
    const server = await start(secretsKey);
    await until(() => warnings.length > 0);
    expect([await again(server), await again(server)]).toEqual([CLOSED, CLOSED]);
    await stop();
    expect(warnings).toEqual([expect.stringMatching(/under a SECRETS_KEY that is not given here \(id \w{16}\)/)]);
    expect(JSON.stringify([warnings, await looked(secretsKey)])).not.toContain('secret for responses');
  });

  test('that only another instance has is told of when a response cannot be opened, once', async () => {
    const [ours, other] = [await start(OURS), await start(OTHER)];
    const again = await payAt(other);
    expect(warnings).toEqual([]);
    expect([await again(ours), await again(ours), await again(other)]).toEqual([CLOSED, CLOSED, 'paid for']);
    await stop();
    await stop();
    expect(warnings).toEqual([expect.stringContaining('503 store_unavailable, though the database is well')]);
  });

  test('is missed by nobody who is new, or changes it with the old one in the list', async () => {
    expect(await looked(OURS)).toMatchObject({ status: 'ok' });
    const again = await payAt(await start(OURS));
    await stop();
    for (const keys of [`${OURS},${NEXT}`, `${NEXT},${OURS}`]) {
      expect(await looked(keys)).toMatchObject({ status: 'ok' });
      expect(await again(await start(keys))).toBe('paid for');
      await stop();
    }
    expect(warnings).toEqual([]);
  });
});
