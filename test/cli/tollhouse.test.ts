import { Keypair } from '@solana/web3.js';
import { COMMANDS } from '../../src/cli/commands.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { demoWallet } from '../../src/sandbox/tokens/demo-wallets.js';
import { type CliFixture, openCliFixture } from '../helpers/fixtures/cli-fixture.js';
import { serveApp } from '../helpers/http/app-server.js';
import { stopFiles, tollhouse } from '../helpers/processes/run-file.js';

/** A payment that is right but for what is given, at a server that is not there: whatever is told was found out before it was asked. */
function paymentArgs({ demo, ...wrong }: Readonly<Record<string, string | boolean>>): string[] {
  const right = { amount: '0.5', token: 'USDC', recipient: demoWallet(2).publicKey.toBase58() };
  const flags = Object.entries({ ...right, ...wrong }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return ['create-payment', ...flags, '--server', 'http://127.0.0.1:1', ...(demo ? ['--demo'] : [])];
}

/** What is typed behind an address to pay, and what is told before anything is asked there. */
const PAY_MISTAKES: readonly (readonly [string[], string])[] = [
  [['--keypair', '/none.json', '--demo'], '--keypair or --demo, not both'],
  [['--demo', '-d', 'a=1', '-d', 'b=2'], '--data was given twice, and takes one value'],
  [['--demo', '-d', '@order.json'], 'looks like the name of a file; its text is sent by -d "$(cat order.json)"'],
  [['--demo', '-d', '{}', '--data-raw', '@x'], '--data or --data-raw, not both'],
  [['--demo', '-X', 'GE T'], '--method (-X) must be an HTTP method, such as POST, not "GE T"'],
  [['--demo', '-H', 'X-Key toll'], '--header (-H) "X-Key toll" must have the form "Name: value"'],
  [['--demo', '--budget', '1', '--budget-window', '24'], '--budget-window: "24" is no time'],
];

describe('tollhouse', () => {
  let fixture: CliFixture;
  let server: CliFixture['server'];
  let rpc: string;

  beforeAll(async () => {
    fixture = await openCliFixture();
    server = fixture.server;
    rpc = server.chain.sandbox?.rpcUrl ?? '';
  });
  afterAll(async () => {
    stopFiles();
    await fixture.close();
  });

  test('create-payment asks and pays, verify finds it, balance shows it', async () => {
    const recipient = Keypair.generate().publicKey.toBase58();
    const asked = ['--amount', '0.5', '--token', 'USDC', '--recipient', recipient, '--server', server.url];
    const paid = await fixture.run('create-payment', ...asked, '--demo');
    expect(paid).toMatchObject({ code: 0, text: expect.stringContaining('settled') });
    const signature = /transaction (\w+)/.exec(paid.text)?.[1] ?? '';

    const verified = await fixture.run('verify', signature, '--server', server.url);
    expect(verified.text).toMatch(/moved +0.5 USDC from \w+ to /);
    expect(verified).toMatchObject({ code: 0, text: expect.stringContaining(recipient) });

    const held = await fixture.run('balance', recipient, '--rpc', rpc);
    expect(held).toMatchObject({ code: 0, text: expect.stringMatching(/USDC +0.5\n/) });
  });

  test('create-payment without a wallet shows the link to pay', async () => {
    const recipient = Keypair.generate().publicKey.toBase58();
    const args = ['--amount', '1', '--token', 'SOL', '--recipient', recipient, '--server', server.url];
    const { code, text } = await fixture.run('create-payment', ...args);
    expect(text).toMatch(/link +solana:/);
    expect(code).toBe(0);
  });

  test('pay shows each step, and takes no more than it may', async () => {
    const paid = await fixture.run('pay', `${server.url}/demo`, '--demo', '--rpc', rpc);
    for (const step of ['asked', 'terms', 'wallet', 'signed', 'settled', 'answered   200', 'payer', 'seller']) {
      expect(paid.text).toContain(step);
    }
    expect(paid.code).toBe(0);
    const dear = await fixture.run('pay', `${server.url}/demo`, '--demo', '--rpc', rpc, '--max', '0.001');
    expect(dear).toMatchObject({ code: 1, text: expect.stringContaining('over the limit of 0.001') });
    const unread = await fixture.run('pay', 'http://127.0.0.1:1/nobody', '--demo', '--rpc', rpc, '--max', '$0.02');
    expect(unread).toMatchObject({ code: 2, text: expect.stringContaining('"$0.02" is not a number such as 0.01') });
  });

  test.each([
    ['nothing', {}, '0.01'],
    ['too little', { usdc: '0.004' }, '0.006'],
  ])('pay says what is missing, and where it may come from, to a wallet that has %s', async (_what, funds, missing) => {
    const { sandbox } = server.chain;
    if (sandbox === undefined) throw new Error('there is no sandbox');
    const wallet = ['--keypair', fixture.keyFile(await sandbox.createWallet(funds)), '--rpc', rpc];
    const { code, text } = await fixture.run('pay', `${server.url}/demo`, ...wallet);
    expect(text).toContain(`too little: send it ${missing} USDC on solana-devnet (https://faucet.circle.com;`);
    expect(text).toContain('nothing was paid: the price is 0.01 USDC, and ');
    expect(code).toBe(1);
  });

  test('pay asks a node of another chain than the server, says so, and signs nothing', async () => {
    const { facilitator, chain } = server;
    const { payTo = '', sandbox } = chain;
    const { mint } = sandbox?.createMint({ decimals: 0 }) ?? {};
    if (mint === undefined) throw new Error('there is no sandbox');
    const shown: (string | undefined)[] = [];
    const shop = await serveApp((app) => {
      app.use((req, _res, next) => {
        shown.push(req.get('payment-signature'));
        next();
      });
      const prices = { '/cent': '$0.01', '/odd': { asset: mint, amount: '1' } } as const;
      for (const [path, price] of Object.entries(prices)) app.get(path, requirePayment({ facilitator, payTo, price }));
    });
    const elsewhere = await startSandbox();
    const { host } = new URL(elsewhere.rpcUrl);
    for (const path of ['/cent', '/odd']) {
      const { code, text } = await fixture.run(
        'pay',
        shop.url + path,
        '--demo',
        '--max',
        '1',
        '--rpc',
        elsewhere.rpcUrl,
      );
      expect([code, text]).toEqual([
        1,
        expect.stringContaining(`the node at ${host} does not know the server's fee payer`),
      ]);
      expect(text).toContain('(name one of its chain with --rpc), or the fee payer has no SOL yet');
    }
    expect([elsewhere.calls.getLatestBlockhash, elsewhere.calls.getMultipleAccounts]).toEqual([0, 3]);
    await Promise.all([shop.close(), elsewhere.close()]);
    expect(shown).toEqual([undefined, undefined]);
  });

  test('pay pays nobody with his own wallet, and says so before it signs', async () => {
    const { facilitator, chain } = server;
    const own = chain.sandbox?.demoWallets[0]?.publicKey.toBase58() ?? '';
    const shown: (string | undefined)[] = [];
    const shop = await serveApp((app) => {
      app.use((req, _res, next) => {
        shown.push(req.get('payment-signature'));
        next();
      });
      app.get('/own', requirePayment({ facilitator, payTo: own, price: '$0.01' }));
    });
    const told = expect.stringContaining('payer and recipient are the same wallet; pay with another one');
    const paid = await fixture.run('pay', `${shop.url}/own`, '--demo', '--rpc', rpc);
    await shop.close();
    expect([paid, shown]).toEqual([expect.objectContaining({ code: 1, text: told }), [undefined]]);
  });

  test('verify tells what was never sent, with exit code 1', async () => {
    const { code, text } = await fixture.run('verify', '1'.repeat(64), '--server', server.url);
    expect(text).toContain('not_found');
    expect(code).toBe(1);
  });

  test.each([
    [['pya'], 'did you mean "pay"?'],
    [['db', 'statuss'], '"tollhouse db statuss" is not understood; did you mean "status"?'],
    [['db'], 'say what to do: npx tollhouse db migrate, status, backup'],
    [['export'], '"npx tollhouse db export" writes payments'],
    [['pay', 'http://127.0.0.1:1/x'], 'say which wallet pays'],
    [
      ['pay', 'http://127.0.0.1:1/x', '--keypair', 'none.json'],
      'cannot be read: there is none; "npx tollhouse keygen" makes',
    ],
    [['pay', 'http://127.0.0.1:1/x', '--keypair', 'src'], '"src" cannot be read; it must be a file that you may read'],
    [['pay', 'nonsense', '--demo'], 'is not a URL'],
    [['serve', '--prot', '1'], 'unknown option "--prot"; did you mean "--port"?'],
    [['keygen', '-o', 'it.json'], 'unknown option "-o"; --help tells what there is'],
    [['help', 'pya'], 'did you mean "pay"?'],
    [['serve', '--colour'], 'unknown option "--colour"; --help tells what there is'],
    [['sandbox', '--slot-ms', 'fast'], '--slot-ms must be a whole number'],
    [['sandbox', '--slot-ms', '0'], '--slot-ms must be a whole number from 1 to 60000, not "0"'],
    [['balance'], 'give a wallet address'],
    [['balance', 'abc'], '"abc" is no wallet address; give one of 32 to 44 characters'],
    [['balance', 'x'.repeat(88)], 'what was given is no wallet address'],
    [['balance', 'package.json'], 'is no wallet address; name a key file by --keypair package.json'],
    [['balance', '1'.repeat(32), '--demo'], '--demo, one of them'],
    [['logout', 'http://127.0.0.1:1'], '"http://127.0.0.1:1" is not understood; usage: tollhouse logout'],
    [['sandbox', '8900'], '"8900" is not understood; usage: tollhouse sandbox'],
    [['sandbox', '--port', '70000'], '--port must be a port number from 0 (a free one) to 65535, not "70000"'],
    [['pay', 'ftp://127.0.0.1/x', '--demo'], 'is not a URL; it starts with http:// or https://'],
    ...PAY_MISTAKES.map(([wrong, told]): [string[], string] => [['pay', 'http://127.0.0.1:1/x', ...wrong], told]),
    [['balance', '--demo', '--network', 'devnet'], 'did you mean "solana-devnet"?'],
    [['sandbox', '--network', 'mainnet'], 'did you mean "solana"?'],
    [['doktor'], 'did you mean "doctor"?'],
    [['verify'], 'give one signature'],
    ...['2026-02-31', '2025-02-29', '2026-02-30T12:00Z', '2026-01-31T24:00Z', '2026-01-31T12:00+24:00'].map(
      (time): [string[], string] => [['db', 'export', '--from', time], '--from must be a day such as'],
    ),
    [['create-payment'], '--amount, --token and --recipient are needed'],
    ...[
      [{ amount: 'abc' }, '--amount "abc" is not a number such as 0.01'],
      [{ amount: '1e3' }, '--amount "1e3" is in exponent notation'],
      [{ amount: '0' }, '--amount must be more than zero'],
      [{ amount: '9007199.2547409920' }, '--amount is too large'],
      [{ amount: '0.0000000001', token: 'SOL' }, '--amount "0.0000000001" has more decimal places than the token'],
      [{ amount: '0.0000001', demo: true }, '--amount "0.0000001" has more decimal places than the token'],
      [{ recipient: 'me' }, '--recipient must be a Solana wallet address (base58)'],
      [{ memo: '' }, '--memo must have 1 to 256 bytes'],
      [{ recipient: demoWallet(0).publicKey.toBase58(), demo: true }, '--recipient is the wallet that pays'],
    ].map(([wrong, told]): [string[], string] => [paymentArgs(Object(wrong)), String(told)]),
  ])('a mistake is told in a sentence, with exit code 2: %p', async (args, told) => {
    const { code, text } = await fixture.run(...args);
    expect(text).toContain(told);
    expect(code).toBe(2);
  });

  test('a server that is not there is told with its address', async () => {
    const { code, text } = await fixture.run('pay', 'http://127.0.0.1:1/x', '--demo');
    expect(text).toContain('http://127.0.0.1:1/x cannot be reached');
    expect(code).toBe(1);
  });

  test('as a program it prints the same, and ends with the same exit code', async () => {
    const { code, text } = await tollhouse('pay', 'nonsense', '--demo');
    expect(text).toBe('tollhouse: "nonsense" is not a URL; it starts with http:// or https://\n');
    expect(code).toBe(2);
  });

  test.each(COMMANDS.map(({ name }) => name))(
    'help of a command is had in each way that people ask for it: %s',
    async (name) => {
      const { code, out } = await fixture.run(name, '--help');
      expect([code, out]).toEqual([0, expect.stringContaining(`tollhouse ${name}`)]);
      for (const asked of [
        ['help', name],
        ['help', name, 'list'],
        [name, 'help'],
        [name, 'list', '-h'],
      ])
        expect(await fixture.run(...asked)).toMatchObject({ code: 0, out });
    },
  );

  test('help and version', async () => {
    for (const asked of ['--version', '-v', 'version'])
      expect((await fixture.run(asked)).text).toMatch(/^\d+\.\d+\.\d+/);
    expect((await fixture.run()).text).toContain('create-payment');
    expect((await fixture.run('pay', '--help')).text).toContain('--max <amount>');
  });
});
