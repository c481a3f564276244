import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import {
  CALL_PRICE,
  connectGateway,
  type GatewayClient,
  type MadeProject,
} from '../../helpers/fixtures/gateway-client.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { type PostgresServer, startPostgres } from '../../helpers/storage/postgres.js';
import { until } from '../../helpers/until.js';

/** A fifth of it is two payments of 10,001 lamports. */
const FEES = { MAX_FEE_LAMPORTS_PER_HOUR: '140000' };

describe('strangers at two servers on one Postgres', () => {
  const operator = Keypair.generate();
  const servers: RunningServer[] = [];
  let toll: TollFixture;
  let postgres: PostgresServer;
  let upstream: Receiver;
  let here: GatewayClient;
  let there: GatewayClient;

  async function start(databaseUrl: string, more: Readonly<Record<string, string>> = {}): Promise<GatewayClient> {
    const server = await startServer(
      readConfiguration({
        PORT: '0',
        BASE_URL: 'http://localhost',
        SOLANA_NETWORK: 'solana-devnet',
        SOLANA_RPC_URL: toll.sandbox.rpcUrl,
        SOLANA_WS_URL: toll.sandbox.wsUrl,
        FACILITATOR_KEYPAIR: bs58.encode(toll.feePayer.secretKey),
        DATABASE_URL: databaseUrl,
        JWT_SECRET: 'a secret of both servers that is long enough',
        GATEWAY_OWNERS: 'open',
        OPERATORS: operator.publicKey.toBase58(),
        ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
        RATE_LIMIT_SCALE: '1000',
        LOG_LEVEL: 'silent',
        ...more,
      }),
    );
    servers.push(server);
    return connectGateway(server.url);
  }

  beforeAll(async () => {
    [toll, postgres] = await Promise.all([openTollFixture(), startPostgres()]);
    upstream = await startReceiver((res) => void res.end('paid for'));
    const database = await postgres.newDatabase();
    [here, there] = [await start(database), await start(database)];
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
    await upstream?.close();
    await toll?.close();
    await postgres?.stop();
  });

  async function newProject(client: GatewayClient, slug: string): Promise<MadeProject> {
    const by = await client.signIn(await toll.sandbox.createWallet({ usdc: '0' }));
    return client.project(by, { slug, upstream: { url: upstream.origin } });
  }

  async function newBuyer(client: GatewayClient, wanted: object = {}) {
    const wallet = await toll.sandbox.createWallet({ usdc: '1' });
    const by = await client.signIn(wallet);
    const key = await client.key(by, { ...wanted });
    const pay = await payingFetch({ wallet, rpcUrl: toll.sandbox.rpcUrl });
    const buy = async (at: GatewayClient, project: MadeProject): Promise<number> => {
      const answer = await pay(`${at.url}/v1/${project.slug}`, { headers: key.headers });
      await answer.arrayBuffer();
      return answer.status;
    };
    return {
      wallet,
      by,
      key,
      buy,
      spent: () => 1_000_000n - toll.sandbox.tokenBalance(wallet.publicKey.toBase58(), toll.sandbox.tokens[0]!.mint),
    };
  }

  test('spend a budget for two calls on two, however they are spread', async () => {
    const project = await newProject(here, 'budget');
    const { buy, spent } = await newBuyer(here, {
      spending: { limit: '0.024694', token: 'USDC', window: 'day' },
    });
    const statuses = await Promise.all([here, there, here, there, here, there].map((it) => buy(it, project)));
    expect(statuses.filter((it) => it === 200)).toHaveLength(2);
    expect(spent()).toBe(2n * CALL_PRICE);
  });

  test('are served at one by the credit that a failed call at the other left', async () => {
    const project = await newProject(here, 'credit');
    const { buy, key, spent } = await newBuyer(here);
    upstream.respond((res) => void res.writeHead(500).end('sorry'));
    expect(await buy(here, project)).toBe(500);
    upstream.respond((res) => void res.end('paid for'));
    // It is written when the response has left.
    await until(async () => (await there.call(project.slug, { headers: key.headers })).status === 200);
    expect(spent()).toBe(CALL_PRICE);
    expect((await here.call(project.slug, { headers: key.headers })).status).toBe(402);
  });

  test('own no more than their quota, though they ask both at once', async () => {
    const wallet = await toll.sandbox.createWallet({ usdc: '0' });
    const [by, asOperator] = [await here.signIn(wallet), await there.signIn(operator)];
    const quotas = { quotas: { projects: 3 } };
    await there.ask('PATCH', `/api/v1/operator/owners/${wallet.publicKey.toBase58()}`, quotas, asOperator);
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, at) => {
        const pricing = { amount: '0.01', token: 'USDC', network: 'solana-devnet' };
        const wanted = { slug: `many-${at}`, name: 'one of many', pricing, upstream: { url: upstream.origin } };
        return [here, there][at % 2]!.ask('POST', '/api/v1/projects', wanted, by);
      }),
    );
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
  });

  test('are refused at one when an operator suspends them at the other, and nothing is charged', async () => {
    const project = await newProject(there, 'suspended');
    const { buy, spent } = await newBuyer(there);
    expect(await buy(there, project)).toBe(200);
    const what = { kind: 'project', target: project.id };
    await here.ask('POST', '/api/v1/operator/suspend', what, await here.signIn(operator));
    expect(await buy(here, project)).toBe(503);
    await until(async () => (await there.call(project.slug)).body['code'] === 'project_suspended');
    expect(await buy(there, project)).toBe(503);
    expect(spent()).toBe(CALL_PRICE);
  });

  test('get the answer to their Idempotency-Key at either, and nobody else does', async () => {
    const [wallet, other] = [await toll.sandbox.createWallet({ usdc: '0' }), Keypair.generate()];
    const [by, stranger] = [await here.signIn(wallet), await there.signIn(other)];
    const create = async (at: GatewayClient, proof: Readonly<Record<string, string>>) => {
      const { status, body } = await at.ask(
        'POST',
        '/api/v1/keys/generate',
        { name: 'once' },
        { ...proof, 'idempotency-key': 'the-same-one-for-all' },
      );
      return [status, body['api_secret']] as const;
    };
    const [status, secret] = await create(here, by);
    expect(status).toBe(201);
    expect(await create(there, by)).toEqual([201, secret]);
    expect((await create(there, {}))[0]).toBe(401);
    const [made, anotherSecret] = await create(there, stranger);
    expect(made).toBe(201);
    expect(anotherSecret).not.toBe(secret);
    const [, token] = String(by['authorization']).split(' ');
    expect((await here.ask('POST', '/api/v1/auth/revoke', { token, everywhere: true })).status).toBeLessThan(300);
    await until(async () => (await create(there, by))[0] === 401);
  });

  test('use one share of the network fees, whichever of them they sell at', async () => {
    const database = await postgres.newDatabase();
    const [one, other] = [await start(database, FEES), await start(database, FEES)];
    const project = await newProject(one, 'fees');
    const statuses: number[] = [];
    // Each from another wallet: none uses up a share of its own.
    for (const at of [one, other, one, other]) statuses.push(await (await newBuyer(at)).buy(at, project));
    expect(statuses).toEqual([200, 200, 503, 503]);
    const honest = await newProject(other, 'honest');
    expect(await (await newBuyer(one)).buy(one, honest)).toBe(200);
    expect((await other.ask('GET', '/readyz')).status).toBe(200);
  });
});
