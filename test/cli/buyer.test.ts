import type { Keypair } from '@solana/web3.js';
import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { connectGateway } from '../helpers/fixtures/gateway-client.js';
import { type Receiver, startReceiver } from '../helpers/http/webhook-receiver.js';
import { until } from '../helpers/until.js';

describe('somebody who buys', () => {
  let fixture: CliFixture;
  let upstream: Receiver;
  let buyer: Keypair;

  beforeAll(async () => {
    fixture = await openCliFixture();
    upstream = await startReceiver((res) => void res.end('sunny'));
    const { chain, url } = fixture.server;
    if (chain.sandbox === undefined) throw new Error('there is no sandbox');
    const owner = await chain.sandbox.createWallet({ usdc: '0' });
    buyer = await chain.sandbox.createWallet({ usdc: '10' });
    const client = await connectGateway(url);
    await client.project(await client.signIn(owner), {
      ...{ slug: 'weather', visibility: 'listed', upstream: { url: upstream.origin } },
      pricing: { network: 'solana-devnet', offers: [{ amount: '0.05', token: 'USDC', pass: { uses: 10 } }] },
    });
    await run('login', '--keypair', fixture.keyFile(buyer), '--server', url);
  });
  afterAll(async () => {
    await fixture.close();
    await upstream.close();
  });

  const run = (...args: readonly string[]): Promise<Ran> => fixture.run(...args);
  const jsonOf = ({ out }: Ran) => JSON.parse(out);

  test('finds an API, buys a pack, and sees calls, receipt and spending', async () => {
    const { url, chain } = fixture.server;
    for (const words of [['weather'], ['list'], ['list', 'weather']])
      expect((await run('marketplace', ...words)).text).toMatch(/weather +weather +0\.05 USDC for 10 /);
    const none = await run('marketplace', 'list', 'submarines');
    expect(none).toMatchObject({
      code: 0,
      text: expect.stringContaining('"npx tollhouse marketplace list" shows all'),
    });
    const listed = jsonOf(await run('marketplace', 'show', 'weather', '--json'));
    expect(listed.url).toBe(`${url}/v1/weather`);

    const key = jsonOf(await run('keys', 'create', '--name', 'bot', '--json'));
    const headers = ['-H', `X-Service-Key: ${key.api_key}`, '-H', `X-Service-Secret: ${key.api_secret}`];
    const paying = ['--keypair', fixture.keyFile(buyer), '--rpc', chain.sandbox?.rpcUrl ?? ''];
    const paid = await run('pay', `${listed.url}/berlin?day=1`, ...headers, ...paying);
    expect([paid.code, paid.text]).toEqual([0, expect.stringContaining('sunny')]);

    const calls = async () => jsonOf(await run('calls', '--json')).data;
    await until(async () => (await calls()).length > 0);
    expect((await run('calls')).text).toMatch(/weather +GET \/berlin +200 +succeeded +0\.05 USDC/);
    for (const named of [
      ['--project', 'weather'],
      ['--key', 'bot'],
    ])
      expect((await run('calls', ...named)).text).toContain('GET /berlin');
    expect((await run('calls', '--project', 'wether')).text).toContain('no project "wether" is in the marketplace');
    expect((await run('calls', '--key', 'bat')).text).toContain('you have no key "bat"; did you mean "bot"?');
    expect((await run('calls', '--status', 'failed')).text).toBe('no calls\n');
    expect((await run('calls', '--csv')).out.split('\r\n')[1]).toContain('GET /berlin');

    const [{ payment_id }] = await calls();
    expect((await run('receipt', payment_id)).text).toMatch(
      /settled +0\.05 USDC of test money at .*[\s\S]*call +GET \/berlin succeeded/,
    );
    expect((await run('receipt', payment_id, '--html')).out).toContain('<!doctype html>');
    const spending = (await run('spending')).text;
    expect(spending).toMatch(/paid calls +spent[\s\S]*total +1 +0\.05 +USDC/);
    expect(spending).toMatch(
      /tollhouse calls" lists the others as well: free ones, and those that a pass or credit has paid/,
    );
    for (const [wrong, said] of [
      [['calls', '--status', '9xx'], ' --status: must be succeeded, failed'],
      [['calls', '--csv', '--status', '9xx'], ' --status: must be'],
      [['events', '--types', 'call.sold'], ' --types: must be types of events'],
      [['marketplace', '--min-price', 'cheap'], ' --min-price: '],
    ] as const)
      expect(await run(...wrong)).toMatchObject({ code: 1, text: expect.stringContaining(said) });
    expect(await run('spending', '--network', 'devnet')).toMatchObject({
      code: 2,
      text: expect.stringContaining('--network must be'),
    });
    expect((await run('events', '--types', 'call.failed, call.succeeded')).text).toMatch(
      /call\.succeeded +call_id=call_\w+ slug=weather network=solana-devnet .*status=200 amount=0\.05 token=USDC .*payer=\w+/,
    );
    expect((await run('spending', '--help')).text.replaceAll('\n', ' ')).toContain(
      'Only calls that came with a payment count in it',
    );
  });

  test('changes what a key may', async () => {
    const changed = await run(
      'keys',
      'update',
      'bot',
      '--budget',
      '2 USDC/day',
      '--metadata',
      '{"team":"a"}',
      '--json',
    );
    expect(jsonOf(changed)).toMatchObject({ spending: { limit: '2', window: 'day' }, metadata: { team: 'a' } });
    expect(jsonOf(await run('keys', 'update', 'bot', '--budget', 'none', '--json')).spending).toBeNull();
    const narrowed = await run(
      'keys',
      'update',
      'bot',
      '--allowed-projects',
      'weather',
      '--allowed-ips',
      '127.0.0.0/8',
    );
    expect(narrowed.text).toMatch(/^calls +prj_\w+\ncomes from 127\.0\.0\.0\/8\nnotes +team=a$/m);
    expect((await run('keys', 'show', 'bot')).text).toBe(narrowed.text);
    expect(await run('keys', 'show', '')).toMatchObject({ code: 2, text: expect.stringContaining('usage: ') });
    expect(await run('keys', 'update', 'bot')).toMatchObject({ code: 2 });
    expect(await run('receipt', 'pay_1')).toMatchObject({ code: 1 });
  });

  test('makes a key that is bound from the start', async () => {
    const bounds = ['--allowed-projects', 'weather', '--allowed-ips', '10.0.0.1', '--metadata', '{"team":"b"}'];
    const made = await run('keys', 'create', '--name', 'bound', '--mode', 'test', ...bounds, '--budget', '1 USDC/day');
    expect(made.text).toMatch(
      /state +active, for test money[\s\S]*budget +1 USDC\/day[\s\S]*calls +prj_\w+\ncomes from 10\.0\.0\.1\nnotes +team=b/,
    );
    expect((await run('keys', 'list')).text).toMatch(/bound +active +call,spending:read +1 USDC\/day +test /);
  });

  test('finds help with an example in each command', async () => {
    for (const name of ['marketplace', 'calls', 'receipt', 'spending', 'events']) {
      expect((await run(name, '--help')).text).toMatch(/--json[\s\S]*Examples?:\n {2}tollhouse /);
    }
  });
});
