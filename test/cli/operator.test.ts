import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { WebSocketServer } from 'ws';
import { openStorage } from '../../src/storage/open-storage.js';
import { type CliFixture, openCliFixture } from '../helpers/fixtures/cli-fixture.js';
import { endOf, runFile, stopFiles, tollhouse } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { HAS_REDIS, startRedis } from '../helpers/storage/redis.js';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const SECRET = 'a secret that is longer than thirty-two bytes';

const folder = testFolder();
let fixture: CliFixture;
let sandbox: NonNullable<CliFixture['server']['chain']['sandbox']>;

beforeAll(async () => {
  // What the environment sets goes before a file of variables.
  delete process.env['REDIS_URL'];
  fixture = await openCliFixture();
  const { sandbox: chain } = fixture.server.chain;
  if (chain === undefined) throw new Error('the server has no chain of its own');
  sandbox = chain;
});
afterAll(async () => {
  stopFiles();
  await fixture.close();
});

const newAddress = () => Keypair.generate().publicKey.toBase58();

describe('tollhouse accounts create', () => {
  const create = (...args: string[]) => fixture.run('accounts', 'create', ...args, '--rpc', sandbox.rpcUrl);

  test('makes the account, after which the wallet can be paid, and says so when it is there already', async () => {
    const wallet = newAddress();
    const before = await fixture.server.facilitator.check({ payTo: wallet });
    expect(before.findings.map(({ code }) => code)).toEqual(['recipient_account_missing']);

    const made = await create(wallet, '--demo');
    expect(made).toMatchObject({ code: 0, text: expect.stringMatching(/created +\w+, the USDC account of /) });
    expect(await fixture.server.facilitator.check({ payTo: wallet })).toEqual({ ok: true, findings: [] });

    const again = await create(wallet, '--demo');
    expect(again).toMatchObject({ code: 0, text: expect.stringContaining('is there already') });
  });

  test('makes those of several tokens, of both token programs, paid by a key file', async () => {
    const wallet = newAddress();
    const { mint } = sandbox.createMint({ decimals: 2 });
    const payer = fixture.keyFile(await sandbox.createWallet({ sol: '1' }));
    const tokens = ['--token', 'PYUSD', '--token', 'usdt', '--token', mint];
    const made = await create(wallet, ...tokens, '--keypair', payer);
    expect(made.code).toBe(0);
    for (const name of ['PYUSD', 'USDT', mint]) expect(made.text).toContain(`the ${name} account of ${wallet}`);
    const price = ['1 PYUSD', '1 USDT', { amount: 1n, asset: mint }];
    expect(await fixture.server.facilitator.check({ payTo: wallet, price })).toEqual({ ok: true, findings: [] });
  });

  test.each([['0'], ['0.001']])('by a wallet with %s SOL it sends nothing, and says what is missing', async (sol) => {
    const payer = sol === '0' ? Keypair.generate() : await sandbox.createWallet({ sol });
    const failed = await create(newAddress(), '--keypair', fixture.keyFile(payer));
    const what = `nothing was sent: ${payer.publicKey.toBase58()}, which pays, has ${sol} SOL, and the account costs 0.0021 SOL`;
    expect(failed).toMatchObject({ code: 1, text: expect.stringContaining(what) });
  });

  test('at a node that does not answer it says which that is, and how another is named', async () => {
    const args = ['accounts', 'create', newAddress(), '--demo', '--rpc', 'http://127.0.0.1:9'];
    const { code, text } = await fixture.run(...args);
    expect([code, text]).toEqual([1, expect.stringMatching(/127\.0\.0\.1:9.*; is the node running\?.*--rpc/s)]);
  });

  test.each([
    [['nonsense', '--demo'], 2, 'is no wallet address'],
    [[USDC, '--demo'], 1, 'is a token account or a mint'],
    [[newAddress()], 2, 'say which wallet pays for the account'],
    [[newAddress(), '--demo', '--token', 'USDX'], 2, 'did you mean "USDC"?'],
    [[newAddress(), '--demo', '--token', newAddress()], 1, 'is no token mint'],
    [[newAddress(), '--demo', '--network', 'devnet'], 2, 'did you mean "solana-devnet"?'],
    [[], 2, 'usage: tollhouse accounts create'],
  ])('a mistake is told in a sentence: %j', async (args, code, told) => {
    expect(await create(...args)).toMatchObject({ code, text: expect.stringContaining(told) });
  });
});

describe('tollhouse keygen', () => {
  test('as a program it writes a key that only its owner can read, and prints the address alone', async () => {
    const path = folder.newPath('json');
    const { code, text } = await tollhouse('keygen', '--out', path);
    expect(code).toBe(0);
    const bytes = JSON.parse(readFileSync(path, 'utf8')) as number[];
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(text).toMatch(
      new RegExp(`address +${Keypair.fromSecretKey(Uint8Array.from(bytes)).publicKey.toBase58()}\n`),
    );
    expect(text).not.toContain(bytes.slice(0, 4).join(','));
  });

  test('overwrites nothing', async () => {
    const path = folder.newPath('json');
    writeFileSync(path, 'precious');
    const refused = await fixture.run('keygen', '--out', path);
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('is there already') });
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  test('prints the secret only where that is asked for, and then the address elsewhere', async () => {
    const { code, out, text } = await fixture.run('keygen', '--print');
    expect(code).toBe(0);
    const key = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(out) as number[]));
    expect(text).toContain(`address ${key.publicKey.toBase58()}`);
    expect(out).not.toContain('address');
    expect(await fixture.run('keygen', '--print', '--out', 'x')).toMatchObject({ code: 2 });
  });
});

test('a key that is given where the name of its file belongs is shown to nobody', async () => {
  const { secretKey } = Keypair.generate();
  for (const key of [JSON.stringify([...secretKey]), '5'.repeat(88)]) {
    const { code, text } = await fixture.run('accounts', 'create', newAddress(), '--keypair', key);
    expect([code, text.includes(key.slice(0, 12))]).toEqual([2, false]);
    expect(text).toContain('it takes the name of a key file');
  }
});

test('a node that the environment names is asked, where no other is named', async () => {
  process.env['SOLANA_RPC_URL'] = `${sandbox.rpcUrl}, http://127.0.0.1:1`;
  const { code, text } = await fixture.run('balance', newAddress());
  delete process.env['SOLANA_RPC_URL'];
  expect(text).toMatch(/SOL +0\b/);
  expect(code).toBe(0);
});

describe('tollhouse doctor', () => {
  interface Check {
    readonly what: string;
    readonly status: string;
    readonly detail: string;
    readonly fix?: string;
  }

  /** A configuration of which all is well. */
  async function healthy(): Promise<Record<string, string>> {
    const [feePayer, seller] = [await sandbox.createWallet({ sol: '1' }), await sandbox.createWallet({ usdc: '0' })];
    const databaseUrl = `sqlite:${folder.newPath('db')}`;
    await (await openStorage(databaseUrl)).close();
    return {
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: sandbox.rpcUrl,
      SOLANA_WS_URL: sandbox.wsUrl,
      FACILITATOR_KEYPAIR: fixture.keyFile(feePayer),
      PAY_TO: seller.publicKey.toBase58(),
      JWT_SECRET: SECRET,
      DATABASE_URL: databaseUrl,
      BASE_URL: 'https://pay.example',
      TRUST_PROXY: '1',
    };
  }

  function envFile(env: Record<string, string>): string {
    const path = folder.newPath('env');
    writeFileSync(
      path,
      Object.entries(env)
        .map(([name, value]) => `${name}='${value}'\n`)
        .join(''),
    );
    return path;
  }

  async function examined(change: Record<string, string | undefined>) {
    const env = Object.entries({ ...(await healthy()), ...change }).filter(([, value]) => value !== undefined);
    const ran = await fixture.run(
      'doctor',
      '--json',
      '--env-file',
      envFile(Object.fromEntries(env) as Record<string, string>),
    );
    const { status, checks } = JSON.parse(ran.out) as { status: string; checks: readonly Check[] };
    return { code: ran.code, status, checks, bad: checks.filter((it) => it.status !== 'ok'), text: ran.text };
  }

  test('as a program, with all well: a table of what was looked at, exit code 0, nothing written, no secret shown', async () => {
    const env = await healthy();
    const { code, text } = await endOf(runFile('src/cli/main.ts', ['doctor'], env));
    expect(text).toMatch(/ok +FACILITATOR_KEYPAIR/);
    for (const what of ['RPC', 'WebSocket', 'fee payer', 'PAY_TO', 'DATABASE_URL', 'JWT_SECRET', 'BASE_URL']) {
      expect(text).toMatch(new RegExp(`^ok +${what} `, 'm'));
    }
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('To do');
    expect(code).toBe(0);
  });

  test('names the variables of a further network by their own names', async () => {
    const { bad } = await examined({
      SOLANA_NETWORK: 'solana-devnet,solana-testnet',
      SOLANA_TESTNET_RPC_URL: 'http://127.0.0.1:1/key',
    });
    expect(bad).toContainEqual(
      expect.objectContaining({
        what: 'RPC (solana-testnet)',
        fix: expect.stringContaining('(SOLANA_TESTNET_RPC_URL)'),
      }),
    );
    expect(JSON.stringify(bad)).not.toContain('SOLANA_RPC_URL');
  });

  test('waits for a WebSocket that is open and says nothing, and tells it', async () => {
    const silent = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(silent, 'listening');
    const env = {
      ...(await healthy()),
      SOLANA_WS_URL: `ws://127.0.0.1:${Reflect.get(Object(silent.address()), 'port')}`,
    };
    const { code, text } = await endOf(runFile('src/cli/main.ts', ['doctor'], env));
    silent.close();
    expect([code, text]).toEqual([1, expect.stringMatching(/^warning +WebSocket .*\(no answer within 5000 ms\)/m)]);
  });

  test('without any configuration it is the sandbox: a warning, exit code 1', async () => {
    const { code, text } = await fixture.run('doctor');
    expect(text).toMatch(/warning +SOLANA_NETWORK, FACILITATOR_KEYPAIR/);
    expect(text).toMatch(/To do:\n {2}SOLANA_NETWORK, FACILITATOR_KEYPAIR: set both/);
    expect(code).toBe(1);
  });

  test('a database that is not there yet is not made', async () => {
    const path = folder.newPath('db');
    const { code, checks } = await examined({ DATABASE_URL: `sqlite:${path}` });
    expect(checks.find(({ what }) => what === 'DATABASE_URL')).toMatchObject({ status: 'ok' });
    expect([code, existsSync(path)]).toEqual([0, false]);
  });

  const RICH = Keypair.generate();

  test.each<
    [
      string,
      () => Record<string, string | undefined> | Promise<Record<string, string | undefined>>,
      number,
      Partial<Check>,
    ]
  >([
    [
      'a misspelt variable',
      () => ({ DATABSE_URL: 'x', DATABASE_URL: undefined }),
      1,
      { what: 'DATABSE_URL', fix: 'did you mean DATABASE_URL?' },
    ],
    [
      'several mistakes',
      () => ({ SOLANA_NETWORK: 'mainnet', PORT: 'x' }),
      2,
      { what: 'PORT', status: 'error', fix: expect.stringMatching(/^PORT must be .*; mend it where it is set$/) },
    ],
    ['a short secret', () => ({ JWT_SECRET: 'short' }), 2, { what: 'JWT_SECRET', status: 'error' }],
    ['no name to sign in at', () => ({ BASE_URL: undefined }), 2, { what: 'BASE_URL', status: 'error' }],
    ['no secret', () => ({ JWT_SECRET: undefined }), 1, { what: 'JWT_SECRET', status: 'warning' }],
    [
      'an RPC that does not answer',
      () => ({ SOLANA_RPC_URL: 'http://127.0.0.1:1/key' }),
      2,
      { what: 'RPC', status: 'error' },
    ],
    [
      'an RPC of another cluster',
      () => ({ SOLANA_NETWORK: 'solana' }),
      2,
      { what: 'RPC', detail: expect.stringContaining('belongs to solana-devnet') },
    ],
    [
      'a WebSocket that does not answer',
      () => ({ SOLANA_WS_URL: 'ws://127.0.0.1:1' }),
      1,
      { what: 'WebSocket', status: 'warning' },
    ],
    [
      'an empty fee payer',
      () => ({ FACILITATOR_KEYPAIR: fixture.keyFile(Keypair.generate()) }),
      2,
      { what: 'fee payer', fix: expect.stringContaining('solana airdrop') },
    ],
    [
      'a recipient without an account',
      () => ({ PAY_TO: newAddress() }),
      2,
      { what: 'PAY_TO', fix: expect.stringContaining('npx tollhouse accounts create') },
    ],
    [
      'a split wallet that is the fee payer',
      () => ({ FACILITATOR_KEYPAIR: fixture.keyFile(RICH), SPLIT_KEYPAIR: fixture.keyFile(RICH) }),
      2,
      { what: 'SPLIT_KEYPAIR', status: 'error' },
    ],
    [
      'a split wallet without an account',
      () => ({ SPLIT_KEYPAIR: fixture.keyFile(Keypair.generate()) }),
      2,
      { fix: expect.stringContaining('npx tollhouse accounts create') },
    ],
    [
      'a refund wallet that is the fee payer',
      () => ({ FACILITATOR_KEYPAIR: fixture.keyFile(RICH), REFUND_KEYPAIR: fixture.keyFile(RICH) }),
      2,
      { what: 'REFUND_KEYPAIR', status: 'error' },
    ],
    [
      'a refund wallet that holds too little',
      () => ({ REFUND_KEYPAIR: fixture.keyFile(Keypair.generate()) }),
      1,
      { what: 'REFUND_KEYPAIR', detail: expect.stringContaining('holds 0 USDC, and one refund may be 10 USDC') },
    ],
    ['books that are forgotten', () => ({ DATABASE_URL: 'memory:' }), 1, { what: 'DATABASE_URL', status: 'warning' }],
    [
      'a file that is no database',
      () => ({ DATABASE_URL: `sqlite:${fixture.keyFile(RICH)}` }),
      2,
      { what: 'DATABASE_URL', fix: expect.stringContaining('name a database of Tollhouse') },
    ],
    [
      'a Postgres that is not there',
      () => ({ DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/db' }),
      2,
      { what: 'DATABASE_URL', status: 'error' },
    ],
    [
      'a Redis that is not there',
      () => ({ REDIS_URL: 'redis://:hunter2@127.0.0.1:1' }),
      2,
      { what: 'REDIS_URL', status: 'error' },
    ],
    ['no proxy before https', () => ({ TRUST_PROXY: undefined }), 1, { what: 'TRUST_PROXY', status: 'warning' }],
    [
      'an address without https',
      () => ({ BASE_URL: 'http://pay.example' }),
      1,
      { what: 'BASE_URL', status: 'warning' },
    ],
  ])('%s', async (_what, change, code, check) => {
    const found = await examined(await change());
    expect(found.bad).toContainEqual(expect.objectContaining(check));
    for (const { fix } of found.bad) expect(fix).toEqual(expect.any(String));
    expect([found.code, found.status]).toEqual([code, code === 2 ? 'error' : 'warning']);
    expect(found.text).not.toContain('hunter2');
  });

  test('a key file that others can read is a warning, with the command that mends it', async () => {
    const path = fixture.keyFile(await sandbox.createWallet({ sol: '1' }));
    chmodSync(path, 0o644);
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const { code, bad } = await examined({ FACILITATOR_KEYPAIR: path });
    warn.mockRestore();
    expect(bad).toEqual([expect.objectContaining({ what: 'FACILITATOR_KEYPAIR', fix: `chmod 600 ${path}` })]);
    expect(code).toBe(1);
  });

  (HAS_REDIS ? test : test.skip)('a Redis that answers is well', async () => {
    const redis = await startRedis();
    const { checks } = await examined({ REDIS_URL: redis.url });
    await redis.stop();
    expect(checks).toContainEqual(expect.objectContaining({ what: 'REDIS_URL', status: 'ok' }));
  });

  (HAS_REDIS ? test : test.skip)('a Redis that takes no writes is an error, with what to do', async () => {
    const redis = await startRedis();
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    const { checks } = await examined({ REDIS_URL: redis.url });
    await redis.stop();
    expect(checks).toContainEqual(
      expect.objectContaining({
        what: 'REDIS_URL',
        status: 'error',
        detail: expect.stringContaining('READONLY'),
        fix: expect.stringContaining('name its primary'),
      }),
    );
  });

  test('a file of variables that is not there is told in a sentence', async () => {
    const missing = join(folder.newPath('env'), 'missing');
    expect(await fixture.run('doctor', '--env', missing)).toMatchObject({
      code: 2,
      text: expect.stringContaining('--env: the file'),
    });
  });
});

test('tollhouse serve warns at its start of variables that are misspelt', async () => {
  const env = { FACILITATOR_KEYPAR: 'key.json', DATABASE_URL: 'memory:', LOG_LEVEL: 'silent' };
  const child = runFile('src/cli/main.ts', ['serve', '--port', '0'], env);
  const told = await new Promise<string>((resolve) => {
    let text = '';
    child.stderr?.on('data', (chunk) => {
      text += String(chunk);
      if (text.includes('FACILITATOR_KEYPAIR')) resolve(text);
    });
  });
  expect(told).toMatch(/\[TOLLHOUSE_ENVIRONMENT\].* FACILITATOR_KEYPAR .*did you mean FACILITATOR_KEYPAIR\?/);
});
