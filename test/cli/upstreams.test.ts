import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';

describe('those who sell an API with a key of its own', () => {
  let fixture: CliFixture;
  let upstream: Receiver;

  beforeAll(async () => {
    fixture = await openCliFixture();
    upstream = await startReceiver();
    const keypair = await fixture.server.chain.sandbox?.createWallet({ usdc: '0' });
    if (keypair === undefined) throw new Error('there is no sandbox');
    await run('login', '--keypair', fixture.keyFile(keypair), '--server', fixture.server.url);
  });
  afterAll(async () => {
    await upstream?.close();
    await fixture?.close();
  });
  afterEach(() => {
    delete process.env['OF_THE_API'];
  });

  const run = (...args: readonly string[]): Promise<Ran> => fixture.run(...args);
  const upstreamOf = ({ out }: Ran) => JSON.parse(out).upstream;
  const SET = { set: true };

  test('give it by a variable or a file, change it, and take it away; it is printed nowhere', async () => {
    process.env['OF_THE_API'] = 'Bearer quite-secret';
    const file = join(fixture.folder, 'key.txt');
    writeFileSync(file, 'quite-secret-too\n', { mode: 0o600 });
    const made = await run(
      ...['projects', 'create', '--slug', 'weather', '--upstream', upstream.origin, '--price', '0.01 USDC'],
      ...['--header', 'Authorization: env:OF_THE_API', '--header', `X-Key: @${file}`],
      ...['--query-param', 'key: said', '--retries', '2', '--health', '/healthz', '--health-interval', '60'],
    );
    expect(made).toMatchObject({ code: 0, text: expect.stringContaining('authorization, x-key, key') });
    const shown = await run('projects', 'show', 'weather', '--json');
    expect(upstreamOf(shown)).toMatchObject({
      headers: { authorization: SET, 'x-key': SET },
      query: { key: SET },
      retries: 2,
      health: { path: '/healthz', interval: 60 },
    });

    const changed = await run(
      ...['projects', 'update', 'weather', '--json', '--name', 'Weather', '--remove-header', 'X-Key'],
      ...['--header', 'X-New: plain', '--remove-query-param', 'key', '--health', 'none', '--retries', '0'],
    );
    expect(changed.code).toBe(0);
    expect(JSON.parse(changed.out).name).toBe('Weather');
    expect(upstreamOf(changed)).toMatchObject({
      ...{ url: upstream.origin, headers: { authorization: SET, 'x-new': SET }, query: {}, retries: 0, health: null },
    });
    for (const { text } of [made, shown, changed]) expect(text).not.toMatch(/quite-secret/);
  });

  test.each([
    [['--header', 'no colon and quite-secret'], '--header must be as in'],
    [['--header', 'X-Key: env:NOT_THERE'], 'the environment has no variable NOT_THERE'],
    [['--header', 'X-Key: @/not/there'], 'the file "/not/there" cannot be read'],
    [['--header', 'Host: quite-secret'], 'is a header that only the gateway sets'],
    [['--retries', 'many'], '--retries must be a whole number'],
    [['--slug', 'other'], 'a slug cannot be changed'],
    [[], 'say what to change'],
  ])('are told what is wrong with %j', async (flags, complaint) => {
    await run('projects', 'create', '--slug', 'wrong', '--upstream', upstream.origin, '--price', '0.01 USDC');
    const { code, text } = await run('projects', 'update', 'wrong', ...flags);
    expect(code).not.toBe(0);
    expect(text).toContain(complaint);
    expect(text).not.toContain('quite-secret');
  });
});
