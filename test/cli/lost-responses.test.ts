import { existsSync, readFileSync, statSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Keypair } from '@solana/web3.js';
import { type CliFixture, openCliFixture } from '../helpers/fixtures/cli-fixture.js';

/** What becomes of a response to a payment; undefined: it gets through. */
type Loss = (answer: IncomingMessage, res: ServerResponse) => void;

let fixture: CliFixture;
let sandbox: NonNullable<CliFixture['server']['chain']['sandbox']>;
let proxy: Server;
let url: string;
let losses: Loss[] = [];
let payments: (string | undefined)[] = [];
let whenPaid: (() => void) | undefined;

beforeAll(async () => {
  fixture = await openCliFixture();
  const { server } = fixture;
  if (server.chain.sandbox === undefined) throw new Error('no sandbox');
  sandbox = server.chain.sandbox;
  const { port } = new URL(server.url);
  proxy = createServer((req, res) => {
    const isPayment = req.headers['payment-signature'] !== undefined || req.url === '/settle';
    const passed = httpRequest({ host: '127.0.0.1', port, path: req.url, method: req.method, headers: req.headers });
    passed.on('response', (answer) => {
      if (isPayment) whenPaid?.();
      const lose = isPayment ? losses.shift() : undefined;
      if (lose !== undefined) return lose(answer.resume(), res);
      res.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(res);
    });
    if (isPayment) payments.push(req.headers['payment-signature']?.toString());
    req.pipe(passed);
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  proxy.closeAllConnections();
  await new Promise((done) => proxy.close(done));
  await fixture.close();
});
beforeEach(() => {
  losses = [];
  payments = [];
  whenPaid = undefined;
});

const cut: Loss = (_answer, res) => res.destroy();
const half: Loss = (answer, res) => {
  res.writeHead(200, { ...answer.headers, 'content-length': '1000', 'payment-response': '' });
  res.write('abc', () => res.destroy());
};
const badGateway: Loss = (_answer, res) => void res.writeHead(502).end('bad gateway');
const busyForLong: Loss = (_answer, res) => void res.writeHead(503, { 'retry-after': '300' }).end('busy');

const payArgs = () => ['pay', `${url}/demo`, '--demo', '--rpc', sandbox.rpcUrl];
/** What a wallet has of USDC. */
const heldBy = (wallet: string) => sandbox.tokenBalance(wallet, sandbox.tokens[0]!.mint);
const demoPayer = () => heldBy(sandbox.demoWallets[0]!.publicKey.toBase58());
/** The arguments of the command that repeats it, as it is printed. */
const againArgs = (text: string) => /tollhouse (\S+ --resume \S+\.json)/.exec(text)?.[1]?.split(' ') ?? [];
const fileOf = (text: string) => againArgs(text)[2] ?? '';

test.each([
  ['the connection is cut', cut],
  ['half of it arrives', half],
  ['a proxy answers 502', badGateway],
])('pay brings what was paid for where %s: the same payment again, taken once', async (_how, loss) => {
  losses = [loss];
  const before = demoPayer();
  const paid = await fixture.run(...payArgs());
  expect(paid).toMatchObject({ code: 0, text: expect.stringContaining('settled') });
  expect(paid.text).toMatch(/no word +.*; the same payment again in 1 s/);
  expect(paid.text).toContain('answered   200');
  expect(payments).toHaveLength(2);
  expect(payments[1]).toBe(payments[0]);
  expect(before - demoPayer()).toBe(10_000n);
});

test('pay never calls a payment unpaid of which it knows nothing, and tells the command that brings the response', async () => {
  losses = [busyForLong];
  const before = demoPayer();
  const lost = await fixture.run(...payArgs());
  expect(lost.code).toBe(1);
  expect(lost.text).toMatch(/not known +whether 0.01 USDC was paid: 503/);
  expect(lost.text).not.toContain('not paid');
  expect(lost.text).toMatch(/payer +\S+ USDC → \S+ USDC/);
  const file = fileOf(lost.text);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toContain(payments[0]);
  expect(before - demoPayer()).toBe(10_000n);

  const again = await fixture.run(...againArgs(lost.text));
  expect(again).toMatchObject({ code: 0, text: expect.stringContaining('answered   200') });
  expect(existsSync(file)).toBe(false);
  expect(before - demoPayer()).toBe(10_000n);
  expect(await fixture.run(...againArgs(lost.text))).toMatchObject({
    code: 2,
    text: expect.stringContaining('it is gone once the payment is answered'),
  });
});

test('pay --json says null of a payment that nothing is known of, and how to send it again', async () => {
  losses = [busyForLong];
  const { code, out } = await fixture.run(...payArgs(), '--json');
  const { again, ...lost } = JSON.parse(out);
  expect(code).toBe(1);
  expect(lost).toMatchObject({
    status: null,
    paid: null,
    price: '0.01 USDC',
    receipt: null,
    detail: expect.stringContaining('503'),
  });
  const { out: found } = await fixture.run(...againArgs(again), '--json');
  expect(JSON.parse(found)).toMatchObject({ status: 200, paid: true, receipt: { success: true } });
});

test('Ctrl-C while a payment is under way ends pay with what is known, and the payment is kept', async () => {
  losses = [() => undefined];
  whenPaid = () => process.emit('SIGINT');
  const stopped = await fixture.run(...payArgs());
  expect(stopped).toMatchObject({ code: 1, text: expect.stringMatching(/not known +.*you have stopped it/) });
  expect(payments).toHaveLength(1);
  whenPaid = undefined;
  expect(await fixture.run(...againArgs(stopped.text))).toMatchObject({ code: 0 });
});

test('what is refused at once is not paid, is not sent again, and is not kept', async () => {
  const { headers } = await fetch(`${url}/demo`);
  const asked = { 'payment-required': headers.get('payment-required') ?? '' };
  losses = [(_answer, res) => void res.writeHead(402, asked).end('{}')];
  const { code, text } = await fixture.run(...payArgs());
  expect(code).toBe(1);
  expect(text).toMatch(/not paid +402: /);
  expect(text).not.toContain('--resume');
  expect(payments).toHaveLength(1);
});

test('what a wallet has not enough for is told before anything is signed, and nothing is sent', async () => {
  for (const [usdc, has] of [
    ['0.001', '0.001 USDC'],
    ['0', '0 USDC'],
    [undefined, 'no account for USDC'],
  ] as const) {
    const wallet = await sandbox.createWallet(usdc === undefined ? {} : { usdc });
    const args = ['pay', `${url}/demo`, '--keypair', fixture.keyFile(wallet), '--rpc', sandbox.rpcUrl, '--json'];
    const { code, text } = await fixture.run(...args);
    expect([code, text]).toEqual([
      1,
      expect.stringContaining(`nothing was paid: the price is 0.01 USDC, and ${wallet.publicKey} has ${has},`),
    ]);
  }
  expect(payments).toEqual([]);
});

const createArgs = (recipient: string) => [
  ...['create-payment', '--amount', '0.5', '--token', 'USDC', '--recipient', recipient],
  ...['--server', url, '--demo'],
];

test.each([
  ['the connection is cut', cut],
  ['half of it arrives', half],
  ['a proxy answers 502', badGateway],
])('create-payment settles the same transaction again where %s', async (_how, loss) => {
  losses = [loss];
  const recipient = Keypair.generate().publicKey.toBase58();
  const paid = await fixture.run(...createArgs(recipient));
  expect(paid).toMatchObject({ code: 0, text: expect.stringMatching(/no word[\s\S]*settled +transaction/) });
  expect(payments).toHaveLength(2);
  expect(heldBy(recipient)).toBe(500_000n);
});

test('create-payment tells the command that settles what it knows nothing of', async () => {
  losses = [busyForLong];
  const recipient = Keypair.generate().publicKey.toBase58();
  const lost = await fixture.run(...createArgs(recipient));
  expect(lost).toMatchObject({ code: 1, text: expect.stringMatching(/not known +whether 0.5 USDC to \w+ was paid/) });
  expect(statSync(fileOf(lost.text)).mode & 0o777).toBe(0o600);

  const again = await fixture.run(...againArgs(lost.text), '--json');
  expect(JSON.parse(again.out)).toMatchObject({ success: true, tx_signature: expect.any(String) });
  expect(heldBy(recipient)).toBe(500_000n);
  expect(existsSync(fileOf(lost.text))).toBe(false);
});

const stranger: Loss = (_answer, res) => void res.writeHead(404).end('nobody here');
const forgetful: Loss = (_answer, res) =>
  void res.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"code":"payment_not_found"}');

test.each([
  ['somebody before the server refuses', [stranger]],
  ['it was sent, and the server that has started anew does not know it', [cut, forgetful]],
])('create-payment keeps what may have been paid where %s', async (_how, lost) => {
  losses = [...lost];
  const recipient = Keypair.generate().publicKey.toBase58();
  const told = await fixture.run(...createArgs(recipient));
  expect(told).toMatchObject({ code: 1, text: expect.stringMatching(/not known +whether 0.5 USDC to \w+ was paid/) });
  const again = await fixture.run(...againArgs(told.text), '--json');
  expect(JSON.parse(again.out)).toMatchObject({ success: true });
  expect(heldBy(recipient)).toBe(500_000n);
});

test('what create-payment is refused for good is told as it is, and not kept', async () => {
  const poor = fixture.keyFile(await sandbox.createWallet({ usdc: '0.001' }));
  const args = createArgs(Keypair.generate().publicKey.toBase58()).filter((it) => it !== '--demo');
  const { code, text } = await fixture.run(...args, '--keypair', poor);
  expect(code).toBe(1);
  expect(text).not.toContain('--resume');
  expect(payments.length).toBeLessThan(2);
});

test.each([
  [['pay', '--resume', 'x.json', '--demo'], 'takes nothing else but --json'],
  [['pay', 'http://127.0.0.1:1/x', '--resume', 'x.json'], 'takes nothing else but --json'],
  [['pay', '--resume', '/nowhere/x.json'], 'is not a payment that tollhouse pay has kept'],
  [['create-payment', '--resume', 'x.json', '--amount', '1'], 'takes nothing else but --json'],
  [['create-payment', '--resume', __filename], 'is not a payment that tollhouse create-payment has kept'],
])('%j is a mistake, told in a sentence', async (args, told) => {
  expect(await fixture.run(...args)).toMatchObject({ code: 2, text: expect.stringContaining(told) });
});

test('nothing is paid where the payment cannot be kept', async () => {
  const before = [demoPayer(), process.env['XDG_STATE_HOME']] as const;
  process.env['XDG_STATE_HOME'] = __filename;
  try {
    const { code, text } = await fixture.run(...payArgs());
    expect(code).toBe(1);
    expect(text).toMatch(/nothing was paid: .* XDG_STATE_HOME/);
  } finally {
    process.env['XDG_STATE_HOME'] = before[1];
  }
  expect(payments).toEqual([]);
  expect(demoPayer()).toBe(before[0]);
});
