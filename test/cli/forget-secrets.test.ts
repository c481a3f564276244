import bs58 from 'bs58';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { startServer } from '../../src/server/start-server.js';
import { connectGateway } from '../helpers/fixtures/gateway-client.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { endOf, runFile } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';

const [LOST, NEW] = ['a lost key of secrets that is long enough', 'a new key of secrets that is long enough'];

describe('tollhouse db forget-secrets', () => {
  const folder = testFolder();
  let toll: TollFixture;
  let databaseUrl: string;
  beforeAll(async () => {
    toll = await openTollFixture();
    databaseUrl = `sqlite:${folder.newPath('db')}`;
  });
  afterAll(() => toll?.close());

  const start = (secretsKey: string) =>
    startServer(
      readConfiguration({
        PORT: '0',
        BASE_URL: 'http://localhost',
        SOLANA_NETWORK: 'solana-devnet',
        SOLANA_RPC_URL: toll.sandbox.rpcUrl,
        FACILITATOR_KEYPAIR: bs58.encode(toll.feePayer.secretKey),
        DATABASE_URL: databaseUrl,
        JWT_SECRET: 'a secret for tokens that is long enough',
        GATEWAY_OWNERS: 'open',
        ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
        LOG_LEVEL: 'silent',
        SECRETS_KEY: secretsKey,
      }),
    );
  const forget = (...args: readonly string[]) =>
    endOf(
      runFile('src/cli/main.ts', ['db', 'forget-secrets', ...args], { DATABASE_URL: databaseUrl, SECRETS_KEY: NEW }),
    );

  test('takes away what no key opens, names whose it is, and the server starts again', async () => {
    const owner = await toll.sandbox.createWallet({ usdc: '0' });
    const before = await start(LOST);
    const client = await connectGateway(before.url);
    const upstream = {
      url: 'http://127.0.0.1:9999',
      headers: { 'X-Api-Key': 'of the upstream' },
      query: { key: 'as well' },
    };
    const { id } = await client.project(await client.signIn(owner), { slug: 'sealed', upstream });
    await client.project(await client.signIn(owner), { slug: 'open', upstream: { url: 'http://127.0.0.1:9999' } });
    await before.close();
    await expect(start(NEW)).rejects.toMatchObject({ code: 'bad_option' });

    const asked = await forget();
    expect([asked.code, asked.text]).toEqual([1, expect.stringContaining('--yes')]);
    await expect(start(NEW)).rejects.toMatchObject({ code: 'bad_option' });
    const done = await forget('--yes', '--json');
    const lost = { slug: 'sealed', owner: owner.publicKey.toBase58(), headers: ['x-api-key'], query: ['key'] };
    expect([done.code, JSON.parse(done.text)]).toEqual([0, expect.objectContaining({ projects: [lost], left: 0 })]);

    const after = await start(NEW);
    const by = await (await connectGateway(after.url)).signIn(owner);
    const { body } = await (await connectGateway(after.url)).ask('GET', `/api/v1/projects/${id}`, undefined, by);
    expect(JSON.stringify(body)).not.toContain('x-api-key');
    await after.close();
    expect((await forget()).code).toBe(0);
  });
});
