import { statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { keepSignIn, signInAt } from '../../src/cli/session/credentials.js';
import { openSession } from '../../src/cli/session/session.js';
import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { serveApp } from '../helpers/http/app-server.js';
import { startReceiver, status } from '../helpers/http/webhook-receiver.js';

const GONE = 'http://127.0.0.1:1';

const SOLD = ['projects', 'create', '--slug', 'xyz', '--upstream', 'http://u', '--price', '1 USDC'];

describe('those who sell', () => {
  let fixture: CliFixture;
  let url: string;
  let wallet: string;
  let key: string;

  beforeAll(async () => {
    fixture = await openCliFixture();
    url = fixture.server.url;
    const keypair = await fixture.server.chain.sandbox?.createWallet({ usdc: '0' });
    if (keypair === undefined) throw new Error('there is no sandbox');
    wallet = keypair.publicKey.toBase58();
    key = fixture.keyFile(keypair);
  });
  afterAll(() => fixture.close());

  const run = (...args: readonly string[]): Promise<Ran> => fixture.run(...args);
  const credentials = () => join(fixture.folder, 'tollhouse/credentials.json');
  const login = () => run('login', '--keypair', key, '--server', url);
  const jsonOf = ({ out }: Ran) => JSON.parse(out);

  describe('sign in', () => {
    test('before it every command says how to, with exit code 1', async () => {
      for (const args of [
        ['projects', 'list'],
        ['keys', 'list'],
        ['analytics', 'x'],
        ['webhooks', 'listen'],
      ]) {
        const { code, text } = await run(...args, '--server', url);
        expect(text).toBe(
          `tollhouse: not signed in at ${url}; first npx tollhouse login --server ${url} --keypair <file>\n`,
        );
        expect(code).toBe(1);
      }
    });

    test('keeps tokens where only the user can read them, and remembers the server', async () => {
      const signedIn = await run('login', '--keypair', key, '--url', `${url}/`);
      expect(signedIn).toMatchObject({ code: 0, text: expect.stringContaining(`${wallet} at ${url}`) });
      expect(statSync(credentials()).mode & 0o777).toBe(0o600);
      expect(statSync(join(fixture.folder, 'tollhouse')).mode & 0o777).toBe(0o700);
      expect(await run('projects', 'list')).toMatchObject({ code: 0 });
      expect(signedIn.text).not.toContain(signInAt(url)?.access_token);
    });

    test('--print shows a token that is good, and keeps nothing', async () => {
      await run('logout', '--server', url);
      const { code, out } = await run('login', '--keypair', key, '--server', url, '--print');
      expect(code).toBe(0);
      const asked = await fetch(`${url}/api/v1/projects`, { headers: { authorization: `Bearer ${out.trim()}` } });
      expect(asked.status).toBe(200);
      expect(signInAt(url)).toBeUndefined();
    });

    test('logout ends it there and here', async () => {
      await login();
      const before = signInAt(url);
      expect(await run('logout')).toMatchObject({ code: 0, text: expect.stringContaining(wallet) });
      const headers = { authorization: `Bearer ${before?.access_token}` };
      expect((await fetch(`${url}/api/v1/projects`, { headers })).status).toBe(401);
      expect(signInAt(url)).toBeUndefined();
      expect((await run('logout', '--server', url)).text).toContain('nobody was signed in');
    });

    test('does not sign what would sign in at another site, for another wallet, or is no sign-in at all', async () => {
      const text = (host: string, who: string) =>
        [
          `${host} wants you to sign in with your Solana account:`,
          who,
          '',
          `URI: http://${host}/`,
          'Version: 1',
        ].concat('Chain ID: devnet', `Nonce: ${'a'.repeat(16)}`, 'Issued At: 2026-01-31T12:00:00.000Z');
      let message = '';
      let asked = 0;
      const server = await serveApp((app) =>
        app.use((_req, res) => {
          asked += 1;
          res.json({ message, nonce: 'a'.repeat(16), expires_at: '2026-01-31T12:05:00.000Z' });
        }),
      );
      const other = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
      const { host } = new URL(server.url);
      const cases = [
        [text('bank.example', wallet).join('\n'), 'asks to sign in at bank.example'],
        [text(host, other).join('\n'), `asks to sign in as ${other}`],
        ['send all my money', 'asks to sign what is no sign-in'],
      ] as const;
      for (const [asksFor, told] of cases) {
        message = asksFor;
        asked = 0;
        expect(await run('login', '--keypair', key, '--server', server.url)).toMatchObject({
          code: 1,
          text: expect.stringContaining(told),
        });
        expect(asked).toBe(1);
      }
      await server.close();
    });
  });

  describe('stay signed in', () => {
    const spoil = (change: object) => {
      const signIn = signInAt(url);
      if (signIn !== undefined) keepSignIn(url, { ...signIn, ...change });
    };

    beforeEach(login);

    test('an access token that has ended, or that the server does not take, is renewed', async () => {
      for (const change of [{ expires_at: 0 }, { access_token: 'no.such.token' }]) {
        const before = signInAt(url)?.refresh_token;
        spoil(change);
        expect(await run('projects', 'list')).toMatchObject({ code: 0 });
        expect(signInAt(url)?.refresh_token).not.toBe(before);
      }
    });

    test('two commands that renew at once both go on, with one sign-in', async () => {
      spoil({ expires_at: 0 });
      const sessions = [openSession(url), openSession(url), openSession(url)];
      await Promise.all(sessions.map((it) => it.get('/api/v1/projects')));
      expect(await run('projects', 'list')).toMatchObject({ code: 0 });
    });

    test('an answer that was lost is asked for again', async () => {
      const before = signInAt(url);
      spoil({ expires_at: 0 });
      await run('projects', 'list');
      if (before !== undefined) keepSignIn(url, { ...before, expires_at: 0 });
      expect(await run('projects', 'list')).toMatchObject({ code: 0 });
    });

    test('a renewal is named by nothing that its refresh token tells', async () => {
      const named: (string | undefined)[] = [];
      const server = await serveApp((app) => {
        app.post('/api/v1/auth/refresh', (req, res) => {
          named.push(req.get('idempotency-key'));
          res.status(401).json({ code: 'invalid_refresh_token' });
        });
      });
      for (let machines = 0; machines < 2; machines += 1) {
        keepSignIn(server.url, { wallet, access_token: 'a', refresh_token: 'one and the same', expires_at: 0 });
        expect(await run('projects', 'list', '--server', server.url)).toMatchObject({ code: 1 });
      }
      await server.close();
      expect([named.length, new Set(named).size]).toEqual([2, 2]);
    });

    test('a session that was ended elsewhere is told and forgotten', async () => {
      const body = JSON.stringify({ token: signInAt(url)?.refresh_token });
      const headers = { 'content-type': 'application/json' };
      await fetch(`${url}/api/v1/auth/revoke`, { method: 'POST', headers, body });
      const { code, text } = await run('projects', 'list');
      expect(text).toContain(`the sign-in at ${url} has ended; again npx tollhouse login`);
      expect(code).toBe(1);
      expect(signInAt(url)).toBeUndefined();
    });

    test('a file that is no longer what it was is told with its path', async () => {
      writeFileSync(credentials(), 'not json');
      const { code, text } = await run('projects', 'list');
      expect(text).toContain(credentials());
      expect(code).toBe(1);
      writeFileSync(credentials(), '{"servers":{}}');
    });
  });

  test('what was typed wrongly is told with what was meant, with exit code 2', async () => {
    for (const [args, told] of [
      [['login'], 'say which wallet signs in'],
      [['login', '--demo', '--server', 'ftp://x'], 'is not the address of a server'],
      [['verify', '5555', '--server', 'notaurl'], 'is not the address of a server'],
      [
        ['create-payment', '--amount', '1', '--token', 'USDC', '--recipient', 'x', '--server', 'notaurl'],
        'is not the address of a server',
      ],
      [['login', '--demo', '--server', 'http://me:secret@x'], 'is not the address of a server'],
      [['projects'], 'say what to do: npx tollhouse projects list, create, update'],
      [['projects', 'lst'], 'did you mean "list"?'],
      [['projects', 'show'], 'usage: tollhouse projects show <slug or id>'],
      [['projects', 'create', '--slug', 'x'], '--slug, --upstream and --price are needed'],
      [['projects', 'create', '--slug', 'x', '--upstream', 'u', '--price', '1'], 'such as "0.01 USDC", not "1"'],
      [[...SOLD, '--health-interval', '30'], '--health-interval is the time between looks at --health <path>'],
      [[...SOLD, '--charge-on', '200'], 'must be statuses of 400 to 599 such as 404,5xx, or "none", not "200"'],
      [['projects', 'create', '--file', '/none', '--slug', 'x'], 'leave out --slug'],
      [['projects', 'create', '--file', '/none'], '"/none" cannot be read'],
      [['keys', 'create'], '--name is needed'],
      [['keys', 'create', '--name', 'x', '--budget', '5 USDC'], 'such as "10 USDC/day"'],
      [['analytics', 'x', '--interval', 'week'], '--interval must be hour or day'],
      [['analytics', 'x', '--tz', 'Mars/Olympus'], '--tz must be the name of a time zone'],
      [['analytics', 'x', '--by', 'wallet'], '--by must be route'],
      [['webhooks', 'create'], '--url is needed'],
      [['webhooks', 'listen', '--forward', 'here'], 'is not an address'],
    ] as const) {
      const { code, text } = await run(...args);
      expect(text).toContain(told);
      expect(code).toBe(2);
    }
  });

  test('a server that is away is told with its address', async () => {
    expect(await run('login', '--keypair', key, '--server', GONE)).toMatchObject({
      code: 1,
      text: expect.stringContaining(`${GONE}/api/v1/auth/challenge cannot be reached`),
    });
  });

  describe('sell', () => {
    const upstream = createServer((_req, res) => res.end('served'));
    let upstreamUrl: string;
    let headers: readonly string[];

    beforeAll(async () => {
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
      const address = upstream.address();
      upstreamUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
      await login();
    });
    afterAll(() => void upstream.close());

    test('a project is made from flags, shown, paused, resumed', async () => {
      const asked = [
        '--slug',
        'weather',
        '--name',
        'Weather',
        '--upstream',
        upstreamUrl,
        '--price',
        '0.01 USDC',
        '--listed',
      ];
      const made = await run('projects', 'create', ...asked, '--split', `${wallet}=10000`);
      expect(made.code).toBe(0);
      for (const told of [`${url}/v1/weather`, '0.01 USDC', upstreamUrl, `${wallet} 100 %`, 'gws_', 'active, listed']) {
        expect(made.text).toContain(told);
      }
      expect((await run('projects', 'list')).text).toMatch(/^slug +price .*\nweather +0.01 USDC +active +listed/);
      expect((await run('projects', 'show', 'weather')).text).toContain('gws_');
      const paused = await run('projects', 'pause', 'weather');
      expect([paused.text.includes('paused'), paused.text.includes('gws_')]).toEqual([true, false]);
      expect(jsonOf(await run('projects', 'resume', 'weather', '--json'))).toMatchObject({ state: 'active' });
      const [listed] = jsonOf(await run('projects', 'list', '--json'));
      expect(jsonOf(await run('projects', 'show', listed.id, '--json'))).toMatchObject({ slug: 'weather' });
    });

    test('what is charged, and how long the upstream may take, are said by flags, and a price leaves them alone', async () => {
      const changed = await run('projects', 'update', 'weather', '--charge-on', '404,5xx', '--timeout-ms', '2000');
      expect(changed.text).toMatch(/charged +2xx, 3xx, 404, 5xx\n.*upstream .*\(answers within 2000 ms\)/);
      expect((await run('projects', 'update', 'weather', '--price', '0.02 USDC')).text).toContain('2xx, 3xx, 404, 5xx');
      const back = ['--price', '0.01 USDC', '--charge-on', 'none', '--timeout-ms', '30000'];
      expect((await run('projects', 'update', 'weather', ...back)).text).not.toMatch(/charged|within/);
      expect(await run('projects', 'update', 'weather', '--charge-on', 'all')).toMatchObject({ code: 2 });
    });

    test('a slug that is not there is answered with the nearest one', async () => {
      expect(await run('projects', 'show', 'wether')).toMatchObject({
        code: 1,
        text: expect.stringContaining('you have no project "wether"; did you mean "weather"?'),
      });
    });

    test('what the server refuses is told with its code', async () => {
      const asked = ['--slug', 'a', '--upstream', upstreamUrl, '--price', '$0.01'];
      const { code, text } = await run('projects', 'create', ...asked);
      expect(text).toContain('validation_failed: ');
      expect(text).toContain(' --slug: ');
      expect(code).toBe(1);
    });

    test('a project is made from a file, and deleted when that is confirmed', async () => {
      const file = join(fixture.folder, 'project.json');
      const project = {
        slug: 'from-file',
        name: 'F',
        upstream: { url: upstreamUrl },
        pricing: { amount: '1', token: 'USDC' },
      };
      writeFileSync(file, JSON.stringify({ ...project, tags: ['a'] }));
      expect(jsonOf(await run('projects', 'create', '--file', file, '--json'))).toMatchObject({ tags: ['a'] });
      expect(await run('projects', 'delete', 'from-file')).toMatchObject({ code: 2 });
      expect(await run('projects', 'delete', 'from-file', '--yes')).toMatchObject({ code: 0 });
      expect((await run('projects', 'list')).text).not.toContain('from-file');
    });

    test('a key is made, rotated and revoked; the line that it prints calls the project', async () => {
      const restricted = ['--project', 'weather', '--budget', '1 USDC/day', '--expires', '2099-01-31'];
      const made = await run('keys', 'create', '--name', 'first', ...restricted);
      expect(made.code).toBe(0);
      const [, publicKey = '', secret = ''] =
        /-H "X-Service-Key: (\S+)" -H "X-Service-Secret: (\S+)"/.exec(made.text) ?? [];
      const call = () =>
        fetch(`${url}/v1/weather`, { headers: { 'x-service-key': publicKey, 'x-service-secret': secret } });
      expect((await call()).status).toBe(402);
      expect((await run('keys', 'list')).text).toMatch(/key_\w+ +first +active +call,spending:read +1 USDC\/day/);
      expect((await run('keys', 'rotate', 'first')).text).toContain('X-Service-Secret: ');
      expect((await call()).status).toBe(402);
      expect(await run('keys', 'rotate', 'first', '--expire-old-in', 'soon')).toMatchObject({ code: 2 });
      expect(await run('keys', 'rotate', 'first', '--expire-old-in', '0')).toMatchObject({ code: 0 });
      expect((await call()).status).toBe(401);
      expect(await run('keys', 'revoke', publicKey)).toMatchObject({ code: 0 });
      expect((await call()).status).toBe(401);
      expect(await run('keys', 'revoke', 'first')).toMatchObject({ code: 1 });
      const second = jsonOf(await run('keys', 'create', '--name', 'second', '--json'));
      headers = ['-H', `X-Service-Key: ${second.api_key}`, '-H', `X-Service-Secret: ${second.api_secret}`];
    });

    test('analytics tell what was earned, as a table, CSV and JSON', async () => {
      const rpc = fixture.server.chain.sandbox?.rpcUrl ?? '';
      const paid = await run('pay', `${url}/v1/weather/today`, '--demo', '--rpc', rpc, ...headers);
      expect(paid).toMatchObject({ code: 0, text: expect.stringContaining('served') });
      expect((await run('analytics', 'weather')).text).toMatch(/total +1 +1 +\d+ +1 +0.01 /);
      expect((await run('analytics', 'weather', '--interval', 'hour', '--csv')).out).toMatch(/^t,calls,paid,.*\r\n/);
      const backwards = await run('analytics', 'weather', '--from', '2026-01-02', '--to', '2026-01-01');
      expect(backwards.text).toContain(' --from: must be before "to"');
      const asked = ['--json', '--from', '2026-01-31', '--to', '2026-02-02'];
      const figures = jsonOf(await run('analytics', 'weather', ...asked));
      expect(figures).toMatchObject({ from: '2026-01-31T00:00:00.000Z', totals: { calls: 0 } });
    });

    test('analytics tell days of a zone, which begin at its midnight, and routes', async () => {
      const days = ['--tz', 'Asia/Kathmandu', '--from', '2026-01-31', '--to', '2026-02-02'];
      const figures = jsonOf(await run('analytics', 'weather', ...days, '--json'));
      expect(figures).toMatchObject({
        tz: 'Asia/Kathmandu',
        from: '2026-01-30T18:15:00.000Z',
        to: '2026-02-01T18:15:00.000Z',
      });
      expect(figures.series).toHaveLength(2);
      expect((await run('analytics', 'weather', ...days)).text).toContain('(Asia/Kathmandu)');
      const { text } = await run('analytics', 'weather', '--by', 'route');
      expect(text).toMatch(/\(no route matched\) +1 +1 +0.01\n/);
      expect(text).toMatch(/total +1 +1 +0.01\n/);
      expect((await run('analytics', 'weather', '--by', 'route', '--csv')).out).toMatch(/^kind,route,calls,paid,/);
    });

    test('a webhook is made, tested and deleted', async () => {
      const receiver = await startReceiver();
      const made = await run(
        'webhooks',
        'create',
        '--url',
        receiver.url,
        '--events',
        'call.succeeded',
        '--project',
        'weather',
      );
      expect(made.text).toContain('whsec_');
      expect((await run('webhooks', 'list')).text).toMatch(/whk_\w+ +enabled +call.succeeded +prj_\w+ +http/);
      expect(await run('webhooks', 'test', receiver.url)).toMatchObject({
        code: 0,
        text: expect.stringMatching(/delivered +call.succeeded evt_\w+ → 204 in \d/),
      });
      receiver.respond(status(500));
      expect(await run('webhooks', 'test', receiver.url)).toMatchObject({
        code: 1,
        text: expect.stringMatching(/failed .*500/),
      });
      expect(await run('webhooks', 'delete', receiver.url)).toMatchObject({ code: 0 });
      expect((await run('webhooks', 'list')).text).toContain('no webhooks yet');
      await receiver.close();
    });
  });
});
