import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import { type CliFixture, openCliFixture } from '../helpers/fixtures/cli-fixture.js';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';

afterAll(stopFiles);

/** What `tollhouse serve` says that does not start. */
function served(flags: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const quiet = { DATABASE_URL: 'memory:', LOG_LEVEL: 'silent' };
  return endOf(runFile('src/cli/main.ts', ['serve', ...flags], { ...quiet, ...variables }));
}

describe('a server that does not start for what it was told', () => {
  test.each([
    [['--port', 'abc'], {}, 2, /^tollhouse: --port must be a port number from 0 .* not "abc"\n$/],
    [['--port', '65536'], { PORT: '0' }, 2, /^tollhouse: --port must be a port number/],
    [[], { PORT: 'abc' }, 1, /^tollhouse: environment: PORT must be a port number from 0 .* not "abc"\n$/],
    [['--host', ''], {}, 2, /^tollhouse: --host must be an address to listen on/],
  ])('names the one of flag and variable that it came from: %p %p', async (flags, variables, code, text) => {
    expect(await served(flags, variables)).toEqual({ code, text: expect.stringMatching(text) });
  });

  test.each([
    [['--host', '192.0.2.1'], {}, 'this machine has no such address: set --host to one of its own'],
    [[], { HOST: '192.0.2.1' }, 'this machine has no such address: set HOST to one of its own'],
    [['--host', 'nobody.invalid'], {}, 'no machine has that name: set --host to an address of this one'],
    [[], { HOST: 'nobody.invalid' }, 'no machine has that name: set HOST to an address of this one'],
    [[], { METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' }, 'no such address: set METRICS_HOST to one of its own'],
  ])('says what to do where it cannot listen: %p %p', async (flags, variables, told) => {
    const ended = await served(flags, { PORT: '0', ...variables });
    expect(ended).toEqual({ code: 1, text: expect.stringContaining(told) });
  });
});

test.each([
  [['logout'], 'XDG_CONFIG_HOME'],
  [['pay', 'http://127.0.0.1:9/', '--demo'], 'XDG_STATE_HOME'],
])('%p says so to a user without a home folder', async (args, variable) => {
  const ended = await endOf(runFile('src/cli/main.ts', args, { HOME: '', [variable]: '' }));
  const told = `tollhouse: this user has no home folder: set HOME, or ${variable} to a folder for its files\n`;
  expect(ended).toEqual({ code: 1, text: expect.stringContaining(told) });
});

describe('what the system refuses', () => {
  let fixture: CliFixture;
  const at = (name: string) => join(fixture.folder, name);

  beforeAll(async () => {
    fixture = await openCliFixture();
    writeFileSync(at('file'), 'nothing');
    mkdirSync(at('folder'));
  });
  afterAll(() => fixture.close());

  test.each([
    [
      'keygen --out',
      'missing/key.json',
      'cannot be written (there is no such file, or no such folder: ENOENT); name a',
    ],
    [
      'keygen --out',
      'file/key.json',
      'cannot be written (a part of the path is a file and no folder: ENOTDIR); name a',
    ],
    ['keygen --out', 'file', 'is there already, and a key is never overwritten'],
    ['doctor --env', 'missing', 'cannot be read (there is no such file, or no such folder: ENOENT)'],
    ['projects create --file', 'folder', 'cannot be read (it is a folder and no file: EISDIR)'],
    ['projects import --slug it', 'missing', 'cannot be read (there is no such file, or no such folder: ENOENT)'],
  ])('of the file of "%s" is told in words: %s', async (command, name, told) => {
    const { code, text } = await fixture.run(...command.split(' '), at(name));
    expect(text).toContain(`"${at(name)}"`);
    expect(text).toContain(told);
    expect(text).not.toMatch(/, (?:open|stat|read)\b/);
    expect(code).toBeGreaterThan(0);
  });

  test('of a key file is told to programs with the code of the system', async () => {
    const { text } = await fixture.run('keygen', '--json', '--out', at('missing/key.json'));
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'ENOENT', message: expect.stringContaining('--out: ') } });
  });

  test('of a connection is told in words, with what names another server', async () => {
    const { text } = await fixture.run('verify', '1'.repeat(64), '--server', 'http://127.0.0.1:1');
    expect(text).toContain('cannot be reached (nothing listens there: ECONNREFUSED); is the server running? --server');
    const paid = await fixture.run('pay', 'http://nobody.invalid/x', '--demo');
    expect(paid.text).toMatch(
      /nobody\.invalid\/x cannot be reached \((?:no machine has that name: ENOTFOUND|.*EAI_AGAIN)/,
    );
  });
});

describe('the address of an RPC that is none', () => {
  let fixture: CliFixture;
  const { SOLANA_RPC_URL } = process.env;

  beforeAll(async () => {
    fixture = await openCliFixture();
  });
  afterEach(() => {
    if (SOLANA_RPC_URL === undefined) delete process.env['SOLANA_RPC_URL'];
    else process.env['SOLANA_RPC_URL'] = SOLANA_RPC_URL;
  });
  afterAll(() => fixture.close());

  test('is told by the flag or the variable that it came from, and not shown', async () => {
    const wallet = Keypair.generate().publicKey.toBase58();
    const wanted = 'must be the address of a Solana RPC, such as https://api.devnet.solana.com';
    process.env['SOLANA_RPC_URL'] = 'api-key';
    const set = await fixture.run('balance', wallet);
    expect(set).toMatchObject({ code: 2, text: `tollhouse: SOLANA_RPC_URL ${wanted}\n` });
    const given = await fixture.run('balance', wallet, '--rpc', 'api-key');
    expect(given).toMatchObject({ code: 2, text: `tollhouse: --rpc ${wanted}\n` });
  });
});
