import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openPayFixture, type PayFixture } from '../helpers/fixtures/cli-fixture.js';

const FULL_DEVICE = '/dev/full';
const onLinux = existsSync(FULL_DEVICE) ? test : test.skip;

describe('what the command line keeps, on a disk that is full', () => {
  let fixture: PayFixture;
  const at = (name: string) => join(fixture.folder, 'tollhouse', name);
  /** What is written beside the file, before it is put in its place, goes to a device that takes nothing. The next time there is room. */
  const fill = (name: string) => symlinkSync(FULL_DEVICE, `${at(name)}.${process.pid}`);

  beforeAll(async () => {
    fixture = await openPayFixture();
    await fixture.newBuyer('5');
  });
  afterAll(() => fixture.close());

  onLinux('is named where a sign-in was renewed, and the sign-in goes on when there is room', async () => {
    const { url } = fixture.server;
    await fixture.run('login', '--keypair', fixture.buyer.key, '--server', url);
    const path = at('credentials.json');
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    kept.servers[url].expires_at = 0;
    writeFileSync(path, JSON.stringify(kept));
    fill('credentials.json');
    const told = `"${path}" cannot be written (the disk is full: ENOSPC), and is as it was; put that right, and run the command again`;
    expect(await fixture.run('projects', 'list')).toMatchObject({ code: 1, text: `tollhouse: ${told}\n` });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(kept);
    expect(existsSync(`${path}.${process.pid}`)).toBe(false);
    expect(await fixture.run('projects', 'list')).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(path, 'utf8')).servers[url].expires_at).toBeGreaterThan(0);
  });

  onLinux('is named where the token of a pass was bought, which brings what was paid for all the same', async () => {
    const shop = await fixture.serve((app) => {
      const gate = requirePayment({ ...fixture.sold, pass: { uses: 3 } });
      app.get('/pass', gate, (_req, res) => void res.send('bought'));
    });
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    fill('passes.json');
    expect(await fixture.run(...fixture.payArgs(`${shop}/pass`))).toMatchObject({ code: 0, out: 'bought' });
    const told = `"${at('passes.json')}" cannot be written (the disk is full: ENOSPC)`;
    expect(warn.mock.calls).toEqual([[expect.stringContaining(told), expect.anything()]]);
    warn.mockRestore();
  });
});
