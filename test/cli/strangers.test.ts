import { Keypair } from '@solana/web3.js';
import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';

const operator = Keypair.generate();
const seller = Keypair.generate();
const [operatorWallet, sellerWallet] = [operator, seller].map((it) => it.publicKey.toBase58()) as [string, string];

describe('those who look after strangers', () => {
  let fixture: CliFixture;
  let url: string;
  let project: string;

  beforeAll(async () => {
    fixture = await openCliFixture({ OPERATORS: operatorWallet });
    url = fixture.server.url;
    await login(seller);
    const made = await run('projects', 'create', '--slug', 'weather', '--upstream', url, '--price', '$1', '--json');
    project = jsonOf(made).id;
    await run('keys', 'create', '--name', 'mine');
    await login(operator);
  });
  afterAll(() => fixture.close());

  const run = (...args: readonly string[]): Promise<Ran> => fixture.run(...args);
  const as = (...args: readonly string[]): Promise<Ran> => run('operator', ...args);
  const jsonOf = ({ out }: Ran) => JSON.parse(out);
  const login = (wallet: Keypair) => run('login', '--keypair', fixture.keyFile(wallet), '--server', url);
  const codeAtProject = async () => {
    const problem = (await (await fetch(`${url}/v1/weather`)).json()) as { readonly code: string };
    return problem.code;
  };

  test('see owners, projects and keys, as tables and as JSON', async () => {
    expect(await as('owners')).toMatchObject({ code: 0, text: expect.stringMatching(/wallet +since +projects/) });
    expect(jsonOf(await as('owners', '--json'))).toEqual([
      expect.objectContaining({ wallet: sellerWallet, projects: 1, keys: 1 }),
    ]);
    expect((await as('projects', '--owner', sellerWallet)).text).toContain(`${project}  weather  ${sellerWallet}`);
    expect((await as('projects', '--owner', operatorWallet)).text).toBe('no projects\n');
    expect(jsonOf(await as('keys', '--json'))).toEqual([
      expect.objectContaining({ name: 'mine', owner: sellerWallet }),
    ]);
  });

  test('suspend and resume, and find both in the audit log', async () => {
    expect((await as('suspend', 'project', project, '--reason', 'spam')).text).toContain('within 30 seconds');
    expect(await codeAtProject()).toBe('project_suspended');
    expect((await as('suspensions')).text).toMatch(new RegExp(`project +${project} .*${operatorWallet} +spam`));
    expect((await as('resume', 'project', project)).text).toContain(`resumed    project ${project}`);
    expect(await codeAtProject()).toBe('unauthenticated');
    const log = jsonOf(await as('audit', '--target', project, '--json'));
    expect(log.map(({ action }: { action: string }) => action)).toEqual([
      ...['project.resumed', 'project.suspended', 'project.created'],
    ]);
    expect((await as('audit', '--actor', operatorWallet, '--limit', '1')).text).toMatch(
      /project\.resumed .*127\.0\.0\.1/,
    );
  });

  test('set quotas and take them back', async () => {
    expect((await as('quotas', sellerWallet, '--keys', '1')).text).toMatch(/projects +20\nkeys +1\n/);
    await login(seller);
    const refused = await run('keys', 'create', '--name', 'another');
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('quota_reached') });
    await login(operator);
    expect((await as('quotas', sellerWallet, '--keys', 'default')).text).toMatch(/keys +50\n/);
    expect((await as('quotas', sellerWallet)).text).toMatch(
      /project_bytes +65536\ndaily_changes +2000\nunpaid_requests +10000\nfee_percent +20\n/,
    );
    expect((await as('quotas', sellerWallet, '--daily-changes', '500')).text).toMatch(/daily_changes +500\n/);
    expect((await as('quotas', sellerWallet, '--unpaid-requests', '600')).text).toMatch(/unpaid_requests +600\n/);
    expect((await as('quotas', sellerWallet, '--fee-percent', '35')).text).toMatch(/fee_percent +35\n/);
  });

  test('are told what they got wrong with exit code 2, and others that they are none with 1', async () => {
    for (const args of [
      ['suspent', 'project', 'x'],
      ['suspend', 'project'],
      ['owners', '--owner', sellerWallet],
      ['quotas', sellerWallet, '--keys', 'many'],
      ['quotas', sellerWallet, '--fee-percent', 'all'],
      ['audit', '--limit', '0'],
    ]) {
      expect(await as(...args)).toMatchObject({ code: 2 });
    }
    await login(seller);
    expect(await as('owners')).toMatchObject({ code: 1, text: expect.stringContaining('not_an_operator') });
  });
});
