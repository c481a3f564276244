import type { Keypair } from '@solana/web3.js';
import { healthEvents } from '../../src/gateway/upstream-health/health-rules.js';
import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { connectGateway, type GatewayClient, type MadeKey } from '../helpers/fixtures/gateway-client.js';
import { buyPass } from '../helpers/http/passes.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';
import { signPayment } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

describe('lists of calls', () => {
  let fixture: CliFixture;
  let upstream: Receiver;
  let client: GatewayClient;
  let [owner, buyer]: Keypair[] = [];
  let key: MadeKey;

  const run = (...args: readonly string[]): Promise<Ran> => fixture.run(...args);
  const signIn = (wallet: Keypair) => run('login', '--keypair', fixture.keyFile(wallet), '--server', client.url);
  const sandbox = () => fixture.server.chain.sandbox!;

  beforeAll(async () => {
    fixture = await openCliFixture();
    upstream = await startReceiver((res, { path }) => {
      res.writeHead(path === '/missing' ? 404 : path === '/busy' ? 429 : 200).end('sunny');
    });
    client = await connectGateway(fixture.server.url);
    [owner, buyer] = [await sandbox().createWallet({ usdc: '0' }), await sandbox().createWallet({ usdc: '10' })];
    const asOwner = await client.signIn(owner);
    const sold = { visibility: 'listed', upstream: { url: upstream.origin } };
    const network = 'solana-devnet';
    const pack = { amount: '0.05', token: 'USDC', pass: { uses: 10 } };
    await client.project(asOwner, { slug: 'packs', ...sold, pricing: { network, offers: [pack] } });
    await client.project(asOwner, { slug: 'singles', ...sold, pricing: { network, amount: '0.02', token: 'USDC' } });
    key = await client.key(await client.signIn(buyer), { name: 'bot' });
  });
  afterAll(async () => {
    await fixture.close();
    await upstream.close();
  });

  /** Calls of a pass, one of which is charged beside the one that bought it; and one that gives credit and one that uses it. */
  test('tell what each took of passes and credit, and are narrowed by what the upstream answered', async () => {
    const wallet = { sandbox: sandbox(), payer: buyer! };
    const { headers } = key;
    const { token } = await buyPass(wallet, `${client.url}/v1/packs/bought`, { headers });
    for (const path of ['missing', 'busy', 'fine']) {
      await client.call(`packs/${path}`, { headers: { ...headers, ...token } });
    }
    const paid = await signPayment(wallet, `${client.url}/v1/singles/missing`, { init: { headers } });
    await client.call('singles/missing', { headers: { ...headers, ...paid.v2 } });
    await client.call('singles', { headers });
    await signIn(buyer!);
    const calls = async (...args: readonly string[]) => (await run('calls', ...args)).text;
    await until(async () => (await calls()).split('\n').length === 8);

    const shown = await calls();
    expect(shown).toMatch(/ packs +GET \/missing +404 +succeeded +pass, not used /);
    expect(shown).toMatch(/ packs +GET \/fine +200 +succeeded +pass {2,}/);
    expect(shown).toMatch(/ packs +GET \/bought +200 +succeeded +0\.05 USDC /);
    expect(shown).toMatch(/ singles +GET \/missing +404 +succeeded +credit \+0\.02 USDC /);
    expect(shown).toMatch(/ singles +GET \/ +200 +succeeded +credit -0\.02 USDC /);
    expect((await calls('--status', '404')).match(/GET \/\S*/g)).toEqual(['GET /missing', 'GET /missing']);
    expect((await calls('--status', '4xx', '--project', 'packs')).match(/GET \/\S*/g)).toEqual([
      'GET /busy',
      'GET /missing',
    ]);
    const [head = '', row = ''] = (await run('calls', '--status', '429', '--csv')).out.split('\r\n');
    expect(row.split(',')[head.split(',').indexOf('pass_uses')]).toBe('0');
    const { data } = JSON.parse((await run('calls', '--json', '--project', 'packs')).out);
    expect(data.map((it: { readonly pass_uses: number }) => it.pass_uses)).toEqual([1, 0, 0, 1]);
    expect((await run('calls', '--status', 'missing')).text).toContain('an HTTP status such as 404');
  });

  test('add up to a spending that names keys and projects, and is narrowed by these names', async () => {
    const spending = async (...args: readonly string[]) => (await run('spending', ...args)).text;
    await until(async () => (await spending()).includes('packs (prj_'));
    expect(await spending('--key', 'bot')).toMatch(
      new RegExp(`^bot \\(${key.id}\\) +singles \\(prj_\\w+\\) +1 +0\\.02 +USDC`, 'm'),
    );
    expect(await spending('--project', 'packs')).toMatch(/^total +1 +0\.05 +USDC/m);
    expect(await spending('--project', 'pax')).toContain('no project "pax" is in the marketplace');
    expect(await spending('--key', 'bat')).toContain('you have no key "bat"; did you mean "bot"?');
    const help = (await run('spending', '--help')).out.split('\n');
    expect(Math.max(...help.map(({ length }) => length))).toBeLessThan(130);
  });

  test('are refused for times in the wrong order as spending is, to buyers and sellers, also as a table for programs', async () => {
    await signIn(owner!);
    const range = ['--from', '2026-12-01', '--to', '2026-11-01'];
    const refused = await run('spending', ...range);
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('must be before "to"') });
    for (const more of [[], ['--csv'], ['--of', 'singles']]) {
      expect(await run('calls', ...more, ...range)).toMatchObject({ code: 1, text: refused.text });
    }
    expect(await run('calls', '--from', '2020-11-01', '--to', '2020-12-01')).toMatchObject({
      code: 0,
      text: 'no calls\n',
    });
  });

  test('stand beside what was paid and not served, with what to do, where money of its kind is asked for', async () => {
    const project = await client.project(await client.signIn(owner!), {
      ...{ slug: 'later', visibility: 'listed', upstream: { url: upstream.origin } },
      pricing: { network: 'solana-devnet', amount: '0.02', token: 'USDC' },
    });
    const { id } = await client.pay({ project, payer: buyer!, key, amount: '0.02' });
    expect(id).toMatch(/^pay_/);
    await signIn(buyer!);
    const owed =
      /^paid \S+Z and not served yet: 0\.02 USDC on solana-devnet \(\w+\); send the same request with the same payment again, .*tollhouse pay --resume <file>"/m;
    for (const named of [
      [],
      ['--mode', 'test'],
      ['--network', 'solana-devnet'],
      ['--key', 'bot'],
      ['--project', 'later'],
    ]) {
      expect((await run('spending', ...named)).text).toMatch(owed);
    }
    const other = await client.key(await client.signIn(buyer!), { name: 'other' });
    for (const named of [
      ['--mode', 'live'],
      ['--network', 'solana'],
      ['--key', other.id],
      ['--project', 'packs'],
    ]) {
      expect((await run('spending', ...named)).text).not.toContain('not served yet');
    }
  });

  test('show a seller the slug, the key and the payer of each, and keys of his own by name', async () => {
    const own = await client.key(await client.signIn(owner!), { name: 'my own' });
    const paid = await signPayment({ sandbox: sandbox(), payer: buyer! }, `${client.url}/v1/singles`, {
      init: { headers: own.headers },
    });
    await client.call('singles', { headers: { ...own.headers, ...paid.v2 } });
    await signIn(owner!);
    await until(async () => (await run('calls', '--of', 'singles')).text.includes('my own'));
    const { text } = await run('calls', '--of', 'singles', '--status', '404');
    expect(text).toMatch(/^at +project +route .* key +payer$/m);
    expect(text).toMatch(new RegExp(` singles +GET /missing .* ${key.id} +${buyer!.publicKey.toBase58()}$`, 'm'));
    expect(text).not.toContain('prj_');
  });

  test('stand beside a project that says since when its upstream is down, and why', async () => {
    const made = await client.project(await client.signIn(owner!), {
      ...{ slug: 'ill', upstream: { url: upstream.origin, health: { path: '/busy' } } },
      pricing: { network: 'solana-devnet', amount: '0.02', token: 'USDC' },
    });
    await signIn(owner!);
    expect((await run('projects', 'show', 'ill')).text).not.toMatch(/^down /m);
    await findDown(made.id);
    expect((await run('projects', 'show', 'ill')).text).toMatch(/^down +since \S+Z: it answers 503$/m);
  });

  /** What three looks would have found, without the time that lies between them. */
  async function findDown(id: string): Promise<void> {
    const { projects, upstreamHealth } = fixture.server.facilitator.storage!.gateway;
    const [at, project] = [Date.now() + 1_000_000, (await projects.find(id))!];
    const turn = (await upstreamHealth.take(at, at + 1_000, 100)).find(({ projectId }) => projectId === id)!;
    const state = { failures: 3, successes: 0, downSince: at };
    const look = { isWell: false, reason: 'status', status: 503 } as const;
    await upstreamHealth.record(
      turn,
      { ...state, checkedAt: at, dueAt: at + 1_000_000 },
      healthEvents(project, { ...state, downSince: undefined }, state, look, at),
    );
  }
});
