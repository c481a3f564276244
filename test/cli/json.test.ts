import { Keypair } from '@solana/web3.js';
import { type CliFixture, openCliFixture } from '../helpers/fixtures/cli-fixture.js';

describe('--json', () => {
  let fixture: CliFixture;
  let server: string;
  let rpc: string;

  beforeAll(async () => {
    fixture = await openCliFixture();
    server = fixture.server.url;
    rpc = fixture.server.chain.sandbox?.rpcUrl ?? '';
  });
  afterAll(() => fixture.close());

  /** What a command prints on standard output, which must be one JSON value. */
  async function jsonOf(...args: readonly string[]) {
    const { out } = await fixture.run(...args, '--json');
    return JSON.parse(out);
  }

  test('pay prints the outcome and no step', async () => {
    const paid = await jsonOf('pay', `${server}/demo`, '--demo', '--rpc', rpc);
    expect(paid).toMatchObject({ status: 200, paid: true, price: '0.01 USDC', receipt: { success: true } });
    expect(JSON.parse(paid.body)).toMatchObject({ payer: paid.payer });
    expect(await jsonOf('pay', `${server}/healthz`, '--demo', '--rpc', rpc)).toMatchObject({
      status: 200,
      paid: false,
    });
  });

  test('create-payment, verify and balance print what they found', async () => {
    const recipient = Keypair.generate().publicKey.toBase58();
    const asked = ['--amount', '0.5', '--token', 'USDC', '--recipient', recipient, '--server', server];
    expect(await jsonOf('create-payment', ...asked)).toMatchObject({
      solana_pay_url: expect.stringMatching(/^solana:/),
    });
    const { tx_signature: signature } = await jsonOf('create-payment', ...asked, '--demo');
    expect(await jsonOf('verify', signature, '--server', server)).toMatchObject({ verified: true });
    const held = await jsonOf('balance', recipient, '--rpc', rpc);
    expect(held).toEqual({ wallet: recipient, network: 'solana-devnet', balances: { SOL: '0', USDC: '0.5' } });
  });

  test('login and logout print who, where, and no token', async () => {
    const { wallet, ...rest } = await jsonOf('login', '--demo', '--server', server);
    expect(rest).toEqual({ server, kept_in: expect.stringContaining(fixture.folder) });
    expect(await jsonOf('logout')).toEqual([{ server, wallet }]);
  });

  test.each([
    [['pya'], 2, 'usage', 'did you mean "pay"?'],
    [['verify', 'x', '--server', 'http://127.0.0.1:9'], 1, 'failed', 'cannot be reached'],
    [
      ['balance', '--demo', '--rpc', 'http://127.0.0.1:9'],
      1,
      'chain_unavailable',
      '"npx tollhouse sandbox" start a local one',
    ],
  ])('an error is JSON on standard error: %j', async (args, code, name, message) => {
    const ran = await fixture.run(...args, '--json');
    expect(ran).toMatchObject({ code, out: '' });
    expect(JSON.parse(ran.text)).toEqual({ error: { code: name, message: expect.stringContaining(message) } });
  });

  test('without it, a chain that is not there is one sentence with what to do', async () => {
    const { code, text } = await fixture.run('pay', `${server}/demo`, '--demo', '--rpc', 'http://127.0.0.1:9');
    expect(code).toBe(1);
    expect(text).toMatch(/\ntollhouse: [^\n]+; is the node running\? "npx tollhouse serve" [^\n]+\n$/);
  });
});
