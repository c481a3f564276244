import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import { type NetworksFixture, openNetworksFixture } from '../../helpers/fixtures/networks-fixture.js';

const keyOf = (wallet: { readonly secretKey: Uint8Array }): string => JSON.stringify([...wallet.secretKey]);

describe('a server on two networks', () => {
  let fixture: NetworksFixture;
  let server: RunningServer;

  beforeAll(async () => {
    fixture = await openNetworksFixture();
    const { live, test } = fixture;
    const configuration = readConfiguration({
      PORT: '0',
      LOG_LEVEL: 'silent',
      DATABASE_URL: 'memory:',
      SOLANA_NETWORK: 'solana, solana-devnet',
      SOLANA_RPC_URL: live.sandbox.rpcUrl,
      SOLANA_WS_URL: live.sandbox.wsUrl,
      FACILITATOR_KEYPAIR: keyOf(live.feePayer),
      SOLANA_DEVNET_RPC_URL: test.sandbox.rpcUrl,
      SOLANA_DEVNET_WS_URL: test.sandbox.wsUrl,
      SOLANA_DEVNET_FACILITATOR_KEYPAIR: keyOf(test.feePayer),
    });
    server = await startServer(configuration);
  });
  afterAll(async () => {
    await server.close();
    await fixture.close();
  });

  test('has a facilitator on each, with the key that is configured for it', async () => {
    const { live, test } = fixture;
    const health = await Promise.all(server.facilitators.map((it) => it.health()));
    expect(health.map(({ status, wallet }) => [status, wallet])).toEqual([
      ['active', live.feePayer.publicKey.toBase58()],
      ['active', test.feePayer.publicKey.toBase58()],
    ]);
  });

  test('tells both in its health', async () => {
    const answer = await fetch(`${server.url}/health`);
    expect(await answer.json()).toMatchObject({
      status: 'healthy',
      networks: { solana: 'active', 'solana-devnet': 'active' },
    });
  });
});
