import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { newGatewaySecret } from '../../src/gateway/projects/gateway-secret.js';
import { signatureHeaders } from '../../src/gateway/proxy/gateway-signature.js';
import { newWebhookSecret, webhookHeaders } from '../../src/gateway/webhooks/webhook-signature.js';
import { demoWallet } from '../../src/sandbox/tokens/demo-wallets.js';
import { askFromPage, HAS_BROWSER, openBrowser, WHY_NOT } from '../helpers/browser/browser.js';
import { installWallet } from '../helpers/browser/test-wallet.js';
import { endOf, runFile, stopFiles, tollhouse } from '../helpers/processes/run-file.js';
import { until } from '../helpers/until.js';

const FOLDER = join(__dirname, '../../examples');
const EXAMPLES = readdirSync(FOLDER).filter((name) => name.endsWith('.ts'));
/** Programs that need no payment, stand behind a gateway, or pay themselves. */
const UNPAID = [
  'service-keys.ts',
  'gateway-upstream.ts',
  'webhook-receiver.ts',
  'client.ts',
  'pass.ts',
  'cheap-api.ts',
  'test-your-app.ts',
];
const PAID = EXAMPLES.filter((name) => !UNPAID.includes(name));

afterEach(stopFiles);

/** The first line of a program that begins so; it says what is wrong when the program ends without one. */
async function lineOf(child: ChildProcess, beginning: string): Promise<string> {
  let complaint = '';
  child.stderr?.on('data', (chunk) => {
    complaint += chunk;
  });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  for await (const line of lines) if (line.startsWith(beginning)) return line;
  throw new Error(`it ended without a line "${beginning}…": ${complaint}`);
}

/** The words of a line as a shell takes them. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
}

/** The headers of a line for curl. */
function headersOf(line: string): Record<string, string> {
  const texts = wordsOf(line).filter((_, at, words) => words[at - 1] === '-H');
  return Object.fromEntries(texts.map((text) => text.split(': ', 2) as [string, string]));
}

test('there are examples', () => {
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(11);
});

test.each(EXAMPLES)('%s says how to run it', (name) => {
  expect(readFileSync(join(FOLDER, name), 'utf8')).toContain(`npx unrun examples/${name}`);
});

test.each(PAID)('%s runs, and is paid by the line it prints', async (name) => {
  const line = await lineOf(runFile(`examples/${name}`, [], { PORT: '0' }), 'npx tollhouse pay ');
  const pay = wordsOf(line).slice(2);
  if (name === 'token-gated-site.ts') {
    const { code, text } = await tollhouse(...pay);
    expect([code, text]).toEqual([0, expect.stringMatching(/^sign-in +offered, signed$[\s\S]+ → 200$/m)]);
    pay.push('--anew');
  }
  const { code, text } = await tollhouse(...pay);
  expect(text).toContain('settled');
  expect(text).toContain('answered   200');
  expect(code).toBe(0);
});

test('service-keys.ts is called by the line it prints, and by nobody without a key', async () => {
  const line = await lineOf(runFile('examples/service-keys.ts', [], { PORT: '0' }), 'curl ');
  const [, url = ''] = wordsOf(line);
  const answer = await fetch(url, { headers: headersOf(line) });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ numbers: [1, 2, 3], calledBy: expect.any(String) });
  expect((await fetch(url)).status).toBe(401);
});

test('client.ts pays with the official client, and signs in where that is enough', async () => {
  const { code, text } = await endOf(runFile('examples/client.ts', []));
  expect(text).toBe('/report: 200 Up again. (paid)\n/essay: 200 Long. (let in)\n');
  expect(code).toBe(0);
});

test('pass.ts pays once, and then comes in by signing, by its token and by its cookie', async () => {
  const { code, text } = await endOf(runFile('examples/pass.ts', []));
  const lines = ['paid: SOL', 'signed in: BTC', 'by token: ETH', 'by cookie: DOT'];
  expect(text).toBe(lines.map((line, at) => `${line} is up, ${99 - at} left\n`).join(''));
  expect(code).toBe(0);
});

test('cheap-api.ts is paid once for credit and once for a pack, and called with the tokens of both', async () => {
  const { code, text } = await endOf(runFile('examples/cheap-api.ts', []));
  expect(text.trim().split('\n')).toEqual([
    'BTC is up, 0.0999 USDC left, paid on the chain',
    'ETH is up, 0.0998 USDC left',
    'SOL is up, 0.09975 USDC left',
    'BTC is up, 99 left, paid on the chain',
    'ETH is up, 98 left',
    'SOL is up, 97 left',
  ]);
  expect(code).toBe(0);
});

(HAS_BROWSER ? test : test.skip)(
  `magazine/ sells a day to a reader's wallet, with its podcast; lets holders in, and takes a letter${WHY_NOT}`,
  async () => {
    const url = await lineOf(runFile('examples/magazine/magazine.ts', [], { PORT: '0' }), 'http://');
    const browser = await openBrowser();
    try {
      const context = await browser.newContext();
      const wallet = await installWallet(context, { keypair: demoWallet(0) });
      const page = await context.newPage();
      await page.goto(url);
      await page.click('text=Welcome to the magazine');
      expect(await page.textContent('body')).toContain('Three of us do');

      await page.goto(url);
      await page.click('text=The long way home');
      await page.waitForSelector('text=The last train had left');
      await page.click('text=Pay 0.25 USDC with Test Wallet');
      await page.waitForSelector('text=until the morning');
      expect(page.url()).toBe(`${url}preview/the-long-way-home`);
      await page.reload();
      await page.waitForSelector('text=until the morning');
      await page.goto(`${url}day/the-long-way-home`);
      expect((await page.reload())?.status()).toBe(200);
      expect((await page.goto(`${url}day/a-letter-from-the-north`))?.status()).toBe(200);
      expect(wallet.signed()).toBe(1);

      await page.goto(`${url}podcast`);
      await page.waitForFunction('document.querySelector("audio").duration === 20');
      const part = await askFromPage(page, `${url}podcast.wav`, { headers: { Range: 'bytes=100-199' } });
      expect(part).toMatchObject({ status: 206 });
      expect(wallet.signed()).toBe(1);

      await page.goto(`${url}gold/the-archive`);
      await page.click('text=Sign in with Test Wallet');
      await page.waitForSelector('text=a drawer that nobody had opened');

      await page.goto(url);
      await page.fill('textarea', 'Dear <all>');
      await page.click('text=Send');
      await page.click('text=Pay 0.10 USDC with Test Wallet');
      await page.waitForSelector('blockquote:has-text("Dear <all>")');
      expect(wallet.signed()).toBe(2);
    } finally {
      await browser.close();
    }
  },
);

test('magazine/ says how to run it, and is paid by the line it prints', async () => {
  expect(readFileSync(join(FOLDER, 'magazine/magazine.ts'), 'utf8')).toContain(
    'npx unrun examples/magazine/magazine.ts',
  );
  const line = await lineOf(runFile('examples/magazine/magazine.ts', [], { PORT: '0' }), 'npx tollhouse pay ');
  expect(await tollhouse(...wordsOf(line).slice(2))).toMatchObject({ code: 0 });
});

test('test-your-app.ts passes and ends', async () => {
  const { code, text } = await endOf(runFile('examples/test-your-app.ts', []));
  expect(text).toMatch(/pass 4\n.*fail 0\n/s);
  expect(code).toBe(0);
});

test('gateway-upstream.ts serves what the gateway has signed, and nothing else', async () => {
  const secret = newGatewaySecret();
  const env = { PORT: '0', GATEWAY_SECRET: secret };
  const url = await lineOf(runFile('examples/gateway-upstream.ts', [], env), 'http://');
  const body = '{"a":1}';
  const call = {
    id: 'call_1',
    method: 'POST',
    path: '/x?y=1',
    bodyDigest: createHash('sha256').update(body).digest('hex'),
    payer: 'somebody',
  };
  const headers = signatureHeaders({ ...call, timestamp: String(Math.floor(Date.now() / 1_000)) }, [secret]);
  const ask = (more: Record<string, string>) => fetch(`${url}/x?y=1`, { method: 'POST', headers: more, body });
  expect(await (await ask(headers)).json()).toMatchObject({ asked: '/x?y=1', paidBy: 'somebody' });
  expect((await ask({})).status).toBe(403);
});

test('webhook-receiver.ts takes an event that is signed, and does it once', async () => {
  const secret = newWebhookSecret();
  const child = runFile('examples/webhook-receiver.ts', [], { PORT: '0', WEBHOOK_SECRET: secret });
  const url = await lineOf(child, 'http://');
  const lines: string[] = [];
  createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => lines.push(line));
  const event = {
    id: 'evt_1',
    type: 'payment.settled',
    timestamp: '2026-01-31T12:00:00.000Z',
    project_id: null,
    data: { a: 1 },
  };
  const body = JSON.stringify(event);
  const post = (headers: Record<string, string>) => fetch(url, { method: 'POST', headers, body });
  const signed = webhookHeaders({ id: 'evt_1', timestamp: Math.floor(Date.now() / 1_000), body }, [secret]);
  expect([(await post(signed)).status, (await post(signed)).status, (await post({})).status]).toEqual([204, 204, 400]);
  await until(() => lines.length > 0);
  expect(lines).toEqual(['payment.settled {"a":1}']);
});
