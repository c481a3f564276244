import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { type NetworksFixture, openNetworksFixture } from '../helpers/fixtures/networks-fixture.js';
import { freePort } from '../helpers/processes/free-port.js';

const keyOf = (wallet: { readonly secretKey: Uint8Array }): string => JSON.stringify([...wallet.secretKey]);

describe('from a terminal, at a server on two networks', () => {
  let networks: NetworksFixture;
  let fixture: CliFixture;

  beforeAll(async () => {
    networks = await openNetworksFixture();
    const { live, test: devnet } = networks;
    const port = String(await freePort());
    fixture = await openCliFixture({
      PORT: port,
      SOLANA_NETWORK: 'solana,solana-devnet',
      SOLANA_RPC_URL: live.sandbox.rpcUrl,
      SOLANA_WS_URL: live.sandbox.wsUrl,
      FACILITATOR_KEYPAIR: keyOf(live.feePayer),
      SOLANA_DEVNET_RPC_URL: devnet.sandbox.rpcUrl,
      SOLANA_DEVNET_WS_URL: devnet.sandbox.wsUrl,
      SOLANA_DEVNET_FACILITATOR_KEYPAIR: keyOf(devnet.feePayer),
      JWT_SECRET: 'a secret that is longer than thirty-two bytes',
      BASE_URL: `http://127.0.0.1:${port}`,
      GATEWAY_OWNERS: 'open',
      ALLOW_PRIVATE_NETWORKS: '127.0.0.0/8',
    });
    const owner = fixture.keyFile(await live.sandbox.createWallet({ usdc: '0' }));
    await run('login', '--keypair', owner, '--server', fixture.server.url);
  });
  afterAll(async () => {
    await fixture?.close();
    await networks?.close();
  });

  async function run(...args: readonly string[]): Promise<Ran> {
    const ran = await fixture.run(...args);
    expect([args.slice(0, 2), ran.code, ran.text]).toEqual([args.slice(0, 2), 0, ran.text]);
    return ran;
  }

  test('an owner sells for money and for test money, and buyers find each and make a key for it', async () => {
    const sold = ['--upstream', 'http://127.0.0.1:9999', '--price', '0.01 USDC', '--listed'];
    expect((await run('projects', 'create', '--slug', 'real', ...sold)).text).toMatch(/price .* on solana$/m);
    const tried = await run('projects', 'create', '--slug', 'tried', ...sold, '--network', 'solana-devnet');
    expect(tried.text).toMatch(/price .* on solana-devnet$/m);
    expect((await run('projects', 'list')).text).toMatch(/^tried .* solana-devnet .*\nreal .* solana /m);

    expect((await run('marketplace')).text).toMatch(/^slug .*\nreal [^\n]*\n$/);
    expect((await run('marketplace', '--mode', 'test')).text).toMatch(/^slug .*\ntried [^\n]*\n$/);

    expect((await run('keys', 'create', '--name', 'money')).text).toContain('X-Service-Key: toll_pk_live_');
    expect((await run('keys', 'create', '--name', 'play', '--mode', 'test')).text).toContain('toll_pk_test_');
  });

  test('a payment is asked for on the network that is named, at the server that was signed in to', async () => {
    const recipient = networks.live.payTo;
    const asked = ['create-payment', '--amount', '0.01', '--token', 'USDC', '--recipient', recipient, '--json'];
    const networkOf = async (...more: readonly string[]) => JSON.parse((await run(...asked, ...more)).out).network;
    expect([await networkOf(), await networkOf('--network', 'solana-devnet')]).toEqual(['solana', 'solana-devnet']);
    const wrong = await fixture.run(...asked, '--network', 'solana-testnet');
    expect([wrong.code, wrong.text]).toEqual([1, expect.stringContaining('is not served here; this service is on')]);
  });

  test('a project stays on its network', async () => {
    const { code, text } = await fixture.run('projects', 'update', 'real', '--network', 'solana-devnet');
    expect([code, text]).toEqual([1, expect.stringContaining('--network: ')]);
  });
});
