import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { encodePaymentRequiredHeader } from '@x402/core/http';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { openPayFixture, type PayFixture } from '../helpers/fixtures/cli-fixture.js';
import { endOf, runFile, stopFiles } from '../helpers/processes/run-file.js';
import { askTerms } from '../helpers/transactions/payments.js';
import { until } from '../helpers/until.js';

const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0x00, 0x80]);
const LONG = `${'x'.repeat(200_000)}THE-END`;
const FULL_DEVICE = '/dev/full';
const onLinux = existsSync(FULL_DEVICE) ? test : test.skip;

describe('what tollhouse pay has bought', () => {
  let fixture: PayFixture;
  let shop: string;
  let isServed = false;
  let isWell = false;

  beforeAll(async () => {
    fixture = await openPayFixture();
    const gate = requirePayment(fixture.sold);
    shop = await fixture.serve((app) => {
      app.get('/picture', gate, (_req, res) => void res.type('png').send(PICTURE));
      app.get('/ill', requirePayment({ ...fixture.sold, settle: 'before' }), (_req, res) => {
        if (isWell) res.send('well again');
        else res.status(500).send('ill');
      });
      app.get('/long', gate, (_req, res) => void res.send(LONG));
      app.get('/short', gate, (_req, res) => {
        isServed = true;
        res.send('bought');
      });
    });
  });
  afterAll(() => fixture.close());
  afterEach(stopFiles);
  beforeEach(async () => {
    await fixture.newBuyer('5');
    isServed = false;
  });

  const payArgs = (path: string) => fixture.payArgs(shop + path);
  const start = (args: readonly string[], stdout: number | 'pipe' = 'pipe') =>
    runFile('src/cli/main.ts', args, {}, stdout);
  const paymentsKept = () => {
    const folder = join(fixture.folder, 'tollhouse/payments');
    return existsSync(folder) ? readdirSync(folder).length : 0;
  };
  const resumeArgs = (text: string) => ['pay', '--resume', /--resume (\S+\.json)/.exec(text)?.[1] ?? ''];
  /** Standard output of a command as bytes, when it has ended well. */
  async function bytesOf(args: readonly string[]): Promise<Buffer> {
    const child = start(args);
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    expect(await endOf(child)).toMatchObject({ code: 0 });
    return Buffer.concat(chunks);
  }
  async function onTerminal(...args: readonly string[]) {
    Object.defineProperty(process.stdout, 'isTTY', { value: true, configurable: true });
    try {
      return await fixture.run(...args);
    } finally {
      Reflect.deleteProperty(process.stdout, 'isTTY');
    }
  }

  test('is credit where its call failed, which the same payment uses once it is served', async () => {
    const failed = await fixture.run(...payArgs('/ill'));
    expect(failed.code).toBe(1);
    expect(failed.text).toMatch(/credit +\S.*\n/);
    expect(failed.text).toContain('it is never taken twice, and its credit pays the call, once that is served');
    isWell = true;
    expect(await fixture.run(...resumeArgs(failed.text))).toMatchObject({ code: 0, out: 'well again' });
    expect(fixture.held()).toBe(4_500_000n);
  });

  test('goes to a pipe whole, as the bytes that came, and nothing else does', async () => {
    expect(await bytesOf(payArgs('/picture'))).toEqual(PICTURE);
    expect(String(await bytesOf(payArgs('/long')))).toBe(LONG);
    expect(paymentsKept()).toBe(0);
  });

  test('is in JSON as base64 where it is no text', async () => {
    const { out } = await fixture.run(...payArgs('/picture'), '--json');
    expect(JSON.parse(out)).toMatchObject({ body: null, body_base64: PICTURE.toString('base64') });
    expect(JSON.parse((await fixture.run(...payArgs('/short'), '--json')).out)).toMatchObject({ body: 'bought' });
  });

  test('is written to a new file, and nothing is paid where there is one already', async () => {
    const out = join(fixture.folder, 'picture.png');
    expect(await fixture.run(...payArgs('/picture'), '--out', out)).toMatchObject({ code: 0, out: '' });
    expect(readFileSync(out)).toEqual(PICTURE);
    const held = fixture.held();
    for (const [path, why] of [
      [out, 'is there already'],
      [join(fixture.folder, 'nowhere/x'), 'cannot be written'],
    ] as const)
      expect(await fixture.run(...payArgs('/picture'), '--out', path)).toMatchObject({
        code: 1,
        text: expect.stringContaining(why),
      });
    expect(fixture.held()).toBe(held);
    const json = join(fixture.folder, 'other.png');
    const told = JSON.parse((await fixture.run(...payArgs('/picture'), '--out', json, '--json')).out);
    expect([told.out, told.body, readFileSync(json)]).toEqual([json, undefined, PICTURE]);
  });

  test.each([
    ['/picture', 'image/png, 8 bytes', PICTURE],
    ['/long', `the first 4000 of ${LONG.length} characters`, Buffer.from(LONG)],
  ])(
    'is not all shown on a terminal, which says how it is had, and it is not paid again: %s',
    async (path, told, whole) => {
      const shown = await onTerminal(...payArgs(path));
      expect(shown).toMatchObject({ code: 0, text: expect.stringContaining(told) });
      expect(shown.out.length).toBeLessThan(4_100);
      const out = join(fixture.folder, `whole${path.slice(1)}`);
      expect(await fixture.run(...resumeArgs(shown.text), '--out', out)).toMatchObject({ code: 0 });
      expect(readFileSync(out)).toEqual(whole);
      expect([fixture.held(), paymentsKept()]).toEqual([4_500_000n, 0]);
    },
  );

  onLinux.each([[['-X', 'GET']], [['--json']]])(
    'is kept where standard output takes nothing, and brought again: %j',
    async (more) => {
      const lost = await endOf(start([...payArgs('/short'), ...more], openSync(FULL_DEVICE, 'w')));
      expect(lost).toMatchObject({ code: 1, text: expect.stringContaining('the disk is full: ENOSPC') });
      expect(String(await bytesOf(resumeArgs(lost.text)))).toBe('bought');
      expect([fixture.held(), paymentsKept()]).toEqual([4_500_000n, 0]);
    },
  );

  test('is kept where its reader has gone', async () => {
    const child = start(payArgs('/long'));
    child.stdout?.destroy();
    let text = '';
    child.stderr?.on('data', (chunk) => {
      text += String(chunk);
    });
    await until(() => child.exitCode !== null);
    expect([child.exitCode, text]).toEqual([1, expect.stringContaining('EPIPE')]);
    expect(String(await bytesOf(resumeArgs(text)))).toBe(LONG);
    expect(fixture.held()).toBe(4_500_000n);
  });

  test('is given out before the chain is asked what it has changed', async () => {
    const target = new URL(fixture.sandbox.rpcUrl);
    const node = createServer((near) => {
      const far = connect(Number(target.port), target.hostname);
      near.on('error', () => far.destroy()).on('close', () => far.destroy());
      far.on('error', () => near.destroy());
      near.on('data', (chunk) => isServed || far.write(chunk));
      far.pipe(near);
    });
    await new Promise<void>((done) => node.listen(0, '127.0.0.1', done));
    const args = [...payArgs('/short').slice(0, -1), `http://127.0.0.1:${(node.address() as AddressInfo).port}`];
    const child = start(args);
    let out = '';
    child.stdout?.on('data', (chunk) => {
      out += String(chunk);
    });
    await until(() => out === 'bought' && paymentsKept() === 0);
    expect(child.exitCode).toBeNull();
    stopFiles();
    node.close();
  });

  test('was paid by the first of several prices that the wallet can pay', async () => {
    const required = await askTerms(`${shop}/short`);
    const { mint } = fixture.sandbox.createMint({ decimals: 6 });
    const [usdc] = required.accepts;
    if (usdc === undefined) throw new Error('there are no terms');
    const accepts = [{ ...usdc, asset: mint }, { ...usdc, amount: '900000000' }, usdc];
    const url = await fixture.serve((app) => {
      app.get('/', (req, res) => {
        if (req.get('payment-signature') !== undefined) return void res.send('taken');
        const header = encodePaymentRequiredHeader({ ...required, accepts });
        res.status(402).set('PAYMENT-REQUIRED', header).json({});
      });
    });
    const paid = await fixture.run(...fixture.payArgs(url), '--max', '1000');
    // The shop sends no receipt: what it answers is given out, and proves nothing.
    expect(paid).toMatchObject({ code: 1, out: 'taken', text: expect.stringMatching(/terms +0\.5 USDC/) });
    await fixture.newBuyer('0.1');
    const { code, text } = await fixture.run(...fixture.payArgs(url), '--max', '1000');
    expect([code, text]).toEqual([1, expect.stringContaining('the price is 0.5 USDC, and ')]);
    expect(text).toContain('nothing was paid: ');
  });
});
