import { payoutsCommand as command } from '../../src/cli/books/payouts.js';
import { keepSignIn } from '../../src/cli/session/credentials.js';
import { openPayoutFixture, type PayoutFixture } from '../helpers/fixtures/payout-fixture.js';
import { leavePayout, servePayouts } from '../helpers/fixtures/payout-service.js';
import { runCommand } from '../helpers/processes/run-command.js';
import type { Ended } from '../helpers/processes/run-file.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { walletKey } from '../helpers/transactions/wallet-key.js';

const alice = walletKey('alice');
const folder = testFolder();
let fixture: PayoutFixture;
let service: Awaited<ReturnType<typeof servePayouts>>;
let anna: string;
const before = process.env['XDG_CONFIG_HOME'];

beforeAll(async () => {
  process.env['XDG_CONFIG_HOME'] = folder.newPath('config');
  fixture = await openPayoutFixture();
  service = await servePayouts(fixture, folder.newPath('db'), { prj_shop: alice.address });
  anna = await fixture.newRecipient();
  const { authorization = '' } = await service.keys.token(alice);
  const tokens = { access_token: authorization.replace('Bearer ', ''), refresh_token: 'none' };
  keepSignIn(service.url, { wallet: alice.address, ...tokens, expires_at: Date.now() + 3_600_000 });
});
afterAll(async () => {
  await service.instance.payouts.close();
  await service.keys.close();
  await fixture.close();
  if (before === undefined) delete process.env['XDG_CONFIG_HOME'];
  else process.env['XDG_CONFIG_HOME'] = before;
});

const tollhouse = (...args: readonly string[]): Promise<Ended> =>
  runCommand(command, { XDG_CONFIG_HOME: process.env['XDG_CONFIG_HOME'] }, [...args, '--project', 'prj_shop']);

test('the owner of a project lists, pays, shows and resolves its payouts', async () => {
  expect((await tollhouse('list')).text).toMatch(/there are none yet[\s\S]*nothing else is owed/);
  const owed = [{ recipient: anna, amount: 1_500_000n }];
  await fixture.land(service.keys.database, 'prj_shop', owed);
  expect((await tollhouse()).text).toMatch(new RegExp(`${anna} +1.5 USDC`));
  const id = await leavePayout(fixture, service.keys.database, { sent: 'landed', to: anna });
  fixture.sandbox.faults.add({ kind: 'silent' });
  fixture.sandbox.faults.add({ kind: 'forget' });
  await service.instance.payouts.run();

  expect((await tollhouse('list')).text).toMatch(new RegExp(`${id} +unknown +1.5 USDC .*outcome_unknown`));
  expect((await tollhouse('show', id)).text).toMatch(new RegExp(`unknown +${id}[\\s\\S]*to +${anna}: 1.5 USDC`));
  const asked = await tollhouse('resolve', id);
  expect(asked).toMatchObject({ code: 1, text: expect.stringContaining('No node that was asked can prove') });
  fixture.sandbox.faults.clear();
  expect(await tollhouse('resolve', id)).toMatchObject({ code: 0, text: expect.stringMatching(`paid +${id}`) });
  expect(await tollhouse('resolve', id)).toMatchObject({ code: 0, text: expect.stringContaining('is over') });

  await fixture.land(service.keys.database, 'prj_shop', owed);
  expect((await tollhouse('pay')).text).toMatch(/pyo_\w+ +created +1.5 USDC/);
  await service.instance.payouts.close();
  expect(fixture.held(anna)).toBe(3_000_000n);
  expect((await tollhouse('pay')).text).toContain('nothing can be paid now');
  const { payouts } = JSON.parse((await tollhouse('list', '--json')).text);
  expect(payouts).toMatchObject([{ state: 'paid' }, { state: 'paid' }]);
});

test('what is missing or misspelt is said', async () => {
  for (const [args, told] of [
    [['show'], 'tollhouse payouts show <payout> --project <project>'],
    [['lst'], 'did you mean "list"'],
  ] as const) {
    await expect(tollhouse(...args)).rejects.toThrow(told);
  }
  await expect(runCommand(command, {}, ['pay'])).rejects.toThrow(
    'say whose: npx tollhouse payouts list|show|pay|resolve',
  );
});
