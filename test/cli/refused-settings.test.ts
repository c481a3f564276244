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
    [[], { PORT: 'abc' }, 1, /^tollhouse: environment: PORT must be a port number\n$/],
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
