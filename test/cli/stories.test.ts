import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { type KeyedApi, startKeyedApi } from '../helpers/http/keyed-api.js';
import { BOTH_DATABASES, type OwnDatabase } from '../helpers/storage/both-databases.js';
import { until } from '../helpers/until.js';

const SECRETS_KEY = 'a secret for upstreams that is long enough';

describe.each(BOTH_DATABASES)('from a terminal, on %s', (_name, openDatabase) => {
  let database: OwnDatabase;
  let fixture: CliFixture;
  let api: KeyedApi;
  let owner: Keypair;
  let buyer: Keypair;
  let keyFlags: readonly string[];

  beforeAll(async () => {
    database = await openDatabase();
    fixture = await openCliFixture({ DATABASE_URL: database.url, SECRETS_KEY });
    api = await startKeyedApi();
    const { sandbox } = fixture.server.chain;
    if (sandbox === undefined) throw new Error('there is no sandbox');
    owner = await sandbox.createWallet({ usdc: '0' });
    buyer = await sandbox.createWallet({ usdc: '1' });
    process.env['WEATHER_KEY'] = api.key;
  });
  afterAll(async () => {
    delete process.env['WEATHER_KEY'];
    await api?.close();
    await fixture?.close();
    await database?.stop();
  });

  const run = async (...args: readonly string[]): Promise<Ran> => {
    const ran = await fixture.run(...args);
    expect([args.slice(0, 2), ran.code, ran.text]).toEqual([args.slice(0, 2), 0, ran.text]);
    expect(ran.text).not.toContain(api.key);
    return ran;
  };
  const login = (wallet: Keypair) => run('login', '--keypair', fixture.keyFile(wallet), '--server', fixture.server.url);
  const pay = (path: string, ...more: readonly string[]) => {
    const rpc = fixture.server.chain.sandbox?.rpcUrl ?? '';
    const url = `${fixture.server.url}/v1/meteo${path}`;
    return run('pay', url, '--keypair', fixture.keyFile(buyer), '--rpc', rpc, ...keyFlags, ...more);
  };
  const jsonOf = ({ out }: Ran) => JSON.parse(out);

  test('an owner sells an API with a key of its own as it is, at four prices, two of them nothing, by two commands', async () => {
    const file = join(fixture.folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(api.document));
    await login(owner);
    const made = await run(
      ...['projects', 'import', file, '--slug', 'meteo', '--listed', '--description', 'Weather of any town'],
      ...['--price', '0.01 USDC or 0.05 USDC for 10 calls', '--header', 'X-Api-Key: env:WEATHER_KEY'],
    );
    for (const line of [
      /GET +\/health +free/,
      /GET +\/towns +free/,
      /GET +\/weather\/\* +0\.01 USDC or 0\.05 USDC for 10 requests/,
      /GET +\/forecast\/\* +0\.05 USDC/,
      /made +Weather of towns \(meteo\), called at http/,
    ])
      expect(made.text).toMatch(line);
  });

  test('a buyer finds it, buys a pack, calls, and sees calls, pass, spending and receipt', async () => {
    await login(buyer);
    expect((await run('marketplace', 'weather', '--max-price', '0.01')).text).toMatch(
      /meteo +Weather of towns +0\.01–0\.05 USDC, or free/,
    );
    const shown = await run('marketplace', 'show', 'meteo');
    for (const line of [
      /price +0\.01 USDC on solana-devnet/,
      /or +0\.05 USDC for 10 requests/,
      /route +GET \/towns free/,
      /route +GET \/forecast\/\* 0\.05 USDC/,
      /tollhouse pay 'http/,
    ])
      expect(shown.text).toMatch(line);

    const key = jsonOf(await run('keys', 'create', '--name', 'bot', '--json'));
    keyFlags = ['-H', `X-Service-Key: ${key.api_key}`, '-H', `X-Service-Secret: ${key.api_secret}`];
    expect((await pay('/towns')).text).toContain('["berlin","rome"]');
    const bought = await pay('/weather/berlin', '--price', '0.05 USDC');
    expect(bought.text).toMatch(/one of 2 prices[\s\S]*left +9 of the pass[\s\S]*"town":"berlin"/);
    expect((await pay('/weather/rome')).text).toMatch(/left +8 of the pass[\s\S]*"town":"rome"/);
    expect(api.served).toEqual(['/towns', '/weather/berlin', '/weather/rome']);

    await until(async () => jsonOf(await run('calls', '--json')).data.length === 3);
    const calls = await run('calls');
    for (const line of [
      /meteo +GET \/weather\/rome +200 +succeeded +pass/,
      /meteo +GET \/weather\/berlin +200 +succeeded +0\.05 USDC/,
      /meteo +GET \/towns +200 +succeeded +free/,
    ])
      expect(calls.text).toMatch(line);
    expect((await run('passes', 'list')).text).toMatch(/project meteo .* 8 of 10 /);
    expect((await run('spending')).text).toMatch(/0\.05 +USDC/);
    const { data } = jsonOf(await run('calls', '--json'));
    const paid = data.find((it: { readonly payment_id: string | null }) => it.payment_id !== null);
    expect((await run('receipt', paid.payment_id)).text).toMatch(
      /settled +0\.05 USDC of test money at [\s\S]*project +meteo[\s\S]*pass [\s\S]*call +GET \/weather\/berlin succeeded[\s\S]*^transaction \w{86,88}$/m,
    );
  });

  test('a price that is not asked is told with those that are, and pays nothing', async () => {
    const { code, text } = await fixture.run(
      ...['pay', `${fixture.server.url}/v1/meteo/forecast/rome`, '--keypair', fixture.keyFile(buyer)],
      ...['--rpc', fixture.server.chain.sandbox?.rpcUrl ?? '', ...keyFlags, '--price', '0.01 USDC'],
    );
    expect([code, text]).toEqual([1, expect.stringContaining('--price: offered are 0.05 USDC')]);
  });
});
