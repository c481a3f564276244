import { existsSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openPayFixture, type PayFixture } from '../helpers/fixtures/cli-fixture.js';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';

const FULL_DEVICE = '/dev/full';
const onLinux = existsSync(FULL_DEVICE) ? test : test.skip;

describe('what tollhouse create-payment has settled', () => {
  let fixture: PayFixture;
  let recipient: string;

  beforeAll(async () => {
    fixture = await openPayFixture();
  });
  afterAll(() => fixture.close());
  afterEach(stopFiles);
  beforeEach(async () => {
    await fixture.newBuyer('5');
    recipient = (await fixture.sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
  });

  const args = (...more: readonly string[]) => [
    ...['create-payment', '--amount', '0.5', '--token', 'USDC', '--recipient', recipient],
    ...['--server', fixture.server.url, '--keypair', fixture.buyer.key, ...more],
  ];
  const start = (more: readonly string[], stdout: number | 'pipe') =>
    runFile('src/cli/main.ts', args(...more), {}, stdout);
  const paymentsKept = () => {
    const folder = join(fixture.folder, 'tollhouse/payments');
    return existsSync(folder) ? readdirSync(folder).length : 0;
  };
  async function bringAgain(text: string): Promise<void> {
    const file = /create-payment --resume (\S+\.json)/.exec(text)?.[1] ?? '';
    const again = await fixture.run('create-payment', '--resume', file, '--json');
    expect(JSON.parse(again.out)).toMatchObject({ success: true, tx_signature: expect.any(String) });
    expect([fixture.held(), paymentsKept()]).toEqual([4_500_000n, 0]);
  }

  onLinux.each([[[]], [['--json']]])(
    'is kept where standard output takes nothing, and told again: %j',
    async (more) => {
      const lost = await endOf(start(more, openSync(FULL_DEVICE, 'w')));
      expect(lost).toMatchObject({ code: 1, text: expect.stringContaining('the disk is full: ENOSPC') });
      await bringAgain(lost.text);
    },
  );

  test.each([[[]], [['--json']]])('is kept where its reader has gone, and told again: %j', async (more) => {
    const child = start(more, 'pipe');
    child.stdout?.destroy();
    const lost = await endOf(child);
    expect(lost).toMatchObject({ code: 1, text: expect.stringContaining('EPIPE') });
    await bringAgain(lost.text);
  });

  test('is told whole, and its file is gone', async () => {
    const paid = await endOf(start([], 'pipe'));
    expect(paid).toMatchObject({ code: 0, text: expect.stringMatching(/settled +transaction \w+\nexplorer +http/) });
    expect(paymentsKept()).toBe(0);
  });
});
