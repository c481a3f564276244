import type { Keypair } from '@solana/web3.js';
import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { serveApp } from '../helpers/http/app-server.js';

describe('the owner of a deleted project', () => {
  let fixture: CliFixture;
  let upstream: Awaited<ReturnType<typeof serveApp>>;
  let owner: Keypair;
  let partner: string;
  let id: string;
  let deleted: Ran;

  const run = (...args: readonly string[]): Promise<Ran> => fixture.run(...args);
  const login = (wallet: Keypair) => run('login', '--keypair', fixture.keyFile(wallet), '--server', fixture.server.url);
  const create = (slug: string, ...more: readonly string[]) =>
    run('projects', 'create', '--slug', slug, '--upstream', upstream.url, '--price', '1 USDC', '--json', ...more);

  beforeAll(async () => {
    fixture = await openCliFixture();
    upstream = await serveApp((app) => app.get('/', (_request, response) => void response.send('sold')));
    const { sandbox } = fixture.server.chain;
    if (sandbox === undefined) throw new Error('there is no sandbox');
    owner = await sandbox.createWallet({ usdc: '0' });
    partner = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
    const buyer = await sandbox.createWallet({ usdc: '1' });
    await login(owner);
    await create('weather');
    id = JSON.parse((await create('duo', '--split', `${owner.publicKey.toBase58()}=6000,${partner}=4000`)).out).id;
    await login(buyer);
    const key = JSON.parse((await run('keys', 'create', '--name', 'bot', '--json')).out);
    const called = await run(
      ...['pay', `${fixture.server.url}/v1/duo`, '--keypair', fixture.keyFile(buyer), '--rpc', sandbox.rpcUrl],
      ...['-H', `X-Service-Key: ${key.api_key}`, '-H', `X-Service-Secret: ${key.api_secret}`],
    );
    expect(called.text).toContain('sold');
    await login(owner);
    deleted = await run('projects', 'delete', 'duo', '--yes');
  });
  afterAll(async () => {
    await upstream?.close();
    await fixture?.close();
  });

  test('is told when it is deleted by which id, what stays, what is owed to whom, and how that is paid', () => {
    for (const told of [
      `(duo, ${id}); the slug is kept`,
      `npx tollhouse analytics ${id}`,
      `npx tollhouse payouts pay --project ${id}`,
    ])
      expect(deleted.text).toContain(told);
    expect(deleted.text).toMatch(new RegExp(`${partner} +0\\.4 USDC`));
    expect(deleted.code).toBe(0);
  });

  test('is told of no debts where there are none', async () => {
    await create('solo');
    const { code, text } = await run('projects', 'delete', 'solo', '--yes');
    expect([code, text]).toEqual([0, expect.not.stringContaining('to pay')]);
    expect(text).toMatch(/deleted +solo \(solo, prj_\w+\)/);
  });

  test('reads its figures, calls, payouts and events by the id', async () => {
    const analytics = await run('analytics', id);
    expect([analytics.code, analytics.text]).toEqual([0, expect.stringMatching(/total +1 +1 /)]);
    const calls = await run('calls', '--of', id);
    expect([calls.code, calls.text]).toEqual([0, expect.stringContaining('1 USDC')]);
    expect((await run('payouts', 'list', '--project', id)).text).toMatch(new RegExp(`${partner} +0\\.4 USDC`));
    expect((await run('events', '--project', id, '--types', 'project.deleted')).text).toContain('project.deleted');
  });

  test('reads the events of a project that is left by its slug, as the help says', async () => {
    const { code, text } = await run('events', '--project', 'weather');
    expect([code, text]).toEqual([0, expect.stringMatching(/project\.created +id=\w+ slug=weather/)]);
    expect(text).not.toContain('duo');
    expect((await run('events', '--help')).text).toMatch(/--project <project> +slug or id/);
  });

  test('is told by every command that has its slug where the id is found, and finds it there', async () => {
    for (const args of [
      ['analytics', 'duo'],
      ['calls', '--of', 'duo'],
      ['payouts', 'list', '--project', 'duo'],
      ['projects', 'show', 'duo'],
      ['events', '--project', 'duo'],
    ]) {
      const { code, text } = await run(...args);
      expect(code).toBe(1);
      expect(text).toContain(
        'you have no project "duo"; there is weather; what stays of a deleted one is read by its id',
      );
      expect(text).toContain('npx tollhouse events --types project.deleted');
    }
    const events = await run('events', '--types', 'project.deleted');
    expect(events.text).toContain(`id=${id} slug=duo`);
  });

  test('is told that an id that is nobody’s is none of his', async () => {
    const { code, text } = await run('analytics', 'prj_nobodys');
    expect([code, text]).toEqual([1, expect.stringContaining('You have no project with this id.')]);
  });
});
