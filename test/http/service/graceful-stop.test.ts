import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Keypair } from '@solana/web3.js';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import type { StopTimes } from '../../../src/server/graceful-stop.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { connectGateway, type MadeKey } from '../../helpers/fixtures/gateway-client.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { payingFetch } from '../../helpers/http/official-clients.js';
import { type Receiver, startReceiver } from '../../helpers/http/webhook-receiver.js';
import { testFolder } from '../../helpers/processes/test-folder.js';
import { until } from '../../helpers/until.js';

const SETTINGS = { PORT: '0', RATE_LIMIT_SCALE: '1000', LOG_LEVEL: 'silent' };
/** What waits for an upstream is given up at once, and nothing is ever cut. */
const AT_ONCE: StopTimes = { giveUpMs: 0, cutMs: 2 ** 31 - 1 };
const UNCHARGED = '0.01 USDC was not charged for this call, and pays the next one of this key at this project';

describe('a server that is stopped while a paid call waits for its upstream', () => {
  const folder = testFolder();
  let upstream: Receiver;
  let databaseUrl: string;
  let server: RunningServer;
  let key: MadeKey;
  let buyer: string;
  let pay: typeof fetch;

  beforeAll(async () => {
    upstream = await startReceiver();
  });
  afterAll(() => upstream.close());
  beforeEach(async () => {
    databaseUrl = `sqlite:${folder.newPath('db')}`;
    server = await startServer(readConfiguration({ ...SETTINGS, DATABASE_URL: databaseUrl }), undefined, AT_ONCE);
    const client = await connectGateway(server.url);
    const sandbox = server.chain.sandbox!;
    const owner = await sandbox.createWallet({ usdc: '0' });
    const wallet: Keypair = await sandbox.createWallet({ usdc: '10' });
    await client.project(await client.signIn(owner), {
      ...{ slug: 'slow', upstream: { url: upstream.origin, timeout_ms: 120_000 } },
      pricing: { network: 'solana-devnet', amount: '0.01', token: 'USDC' },
    });
    buyer = wallet.publicKey.toBase58();
    key = await client.key(await client.signIn(wallet));
    pay = await payingFetch({ wallet, rpcUrl: sandbox.rpcUrl });
  });

  /** A paid call whose upstream has it, and has done something with it. */
  async function callOf(begin: (res: ServerResponse) => void) {
    const asked = new Promise<ServerResponse>((resolve) => {
      upstream.respond((res) => {
        begin(res);
        resolve(res);
      });
    });
    const answer = pay(`${server.url}/v1/slow/job`, { headers: key.headers });
    return { answer, asked: await asked };
  }

  async function creditLeft(): Promise<readonly bigint[]> {
    const storage = await openStorage(databaseUrl);
    const credit = await storage.gateway.credit.list({ owner: buyer });
    await storage.close();
    return credit.map(({ amount }) => amount);
  }

  test('answers 503, lets go of the upstream, leaves what was paid as credit, and ends', async () => {
    const { answer, asked } = await callOf(() => undefined);
    const letGo = once(asked, 'close');
    const closed = server.close();
    const told = await answer;
    expect([told.status, told.headers.get('x-service-error'), told.headers.get('retry-after')]).toEqual([
      503,
      'gateway',
      '1',
    ]);
    expect(told.headers.get('access-credit')).toBe(UNCHARGED);
    expect(await told.json()).toMatchObject({
      code: 'stopping',
      detail: expect.stringContaining('Nothing was charged'),
    });
    await letGo;
    await closed;
    expect(await creditLeft()).toEqual([10_000n]);
  });

  test('leaves what was paid for half a document as credit', async () => {
    const { answer } = await callOf((res) => void res.writeHead(200, { 'content-length': '9' }).write('half'));
    const begun = await answer;
    expect(begun.status).toBe(200);
    const rest = begun.text();
    const closed = server.close();
    await expect(rest).rejects.toThrow();
    await closed;
    expect(await creditLeft()).toEqual([10_000n]);
  });

  test('charges for a stream, of which each piece is of use', async () => {
    const head = { 'content-type': 'text/event-stream' };
    const { answer } = await callOf((res) => void res.writeHead(200, head).write('data: 1\n\n'));
    const begun = await answer;
    const rest = begun.text();
    const closed = server.close();
    await expect(rest).rejects.toThrow();
    await closed;
    expect(await creditLeft()).toEqual([]);
  });

  test('gives a response that comes in time', async () => {
    const { answer, asked } = await callOf(() => undefined);
    asked.end('done');
    expect(await (await answer).text()).toBe('done');
    await server.close();
    expect(await creditLeft()).toEqual([]);
  });
});

describe('what is passed on once waiting is over', () => {
  const fixture = useGatewayFixture();

  test('is told so before its upstream learns of it, and leaves what was paid as credit', async () => {
    const { client, gateway, project, key, pay, hits } = fixture();
    gateway.proxy.stop();
    const paid = await pay();
    const before = hits();
    const refused = await client.call(project.slug, { headers: { ...key.headers, ...paid.header } });
    expect(refused).toMatchObject({ status: 503, body: { code: 'stopping' } });
    expect(hits()).toBe(before);
    await until(async () => {
      const { body } = await client.ask('GET', '/api/v1/spending', undefined, key.headers);
      return (body as { credit: unknown[] }).credit.length === 1;
    });
  });
});
