import { createGateway } from '../../src/gateway/create-gateway.js';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../src/server/start-server.js';
import { keyHeaders } from '../helpers/fixtures/keys-fixture.js';
import { openTcpRelay, type TcpRelay } from '../helpers/nodes/tcp-relay.js';
import { countOpenHandles } from '../helpers/processes/open-handles.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';

describe('a server that is stopped while its database is away', () => {
  let postgres: PostgresServer;
  let relay: TcpRelay;
  beforeAll(async () => {
    postgres = await startPostgres();
    relay = await openTcpRelay(await postgres.newDatabase());
  });
  afterAll(async () => {
    await relay?.close();
    await postgres?.stop();
  });

  /** Sells an API that nobody has called yet; answers the headers of a key. */
  async function sell({ facilitator, chain }: RunningServer) {
    const owner = chain.sandbox!.demoWallets[0]!.publicKey.toBase58();
    const gateway = createGateway({ facilitator, allowPrivateNetworks: ['127.0.0.0/8'] });
    const upstream = { url: 'http://127.0.0.1:1024' };
    const pricing = { amount: '0.01', token: 'USDC' };
    await gateway.projects.create(owner, { slug: 'weather', name: 'Weather', upstream, pricing });
    const key = await gateway.keys.generate(owner, { name: 'test' });
    await gateway.close();
    return keyHeaders(key);
  }

  test('says what it could not write, and lets go of all that it had opened', async () => {
    const handles = countOpenHandles();
    const server = await startServer(readConfiguration({ PORT: '0', DATABASE_URL: relay.url }));
    const headers = await sell(server);
    // What was asked and not paid is counted in the process, and is still to be written.
    expect((await fetch(`${server.url}/v1/weather`, { headers })).status).toBe(402);
    relay.refuses = true;
    relay.cut();
    await expect(server.close()).rejects.toMatchObject({ code: 'store_unavailable' });
    await handles.allClosed();
    handles.stop();
  });
});
