import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { Agent, type RequestListener, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { createHttpServer, listen, urlOf } from '../../../src/server/http-server.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';
import { answersIn, collect, openSocket, rawRequest } from '../../helpers/http/raw-http.js';
import { receiptOf, signPayment } from '../../helpers/transactions/payments.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';
import { until } from '../../helpers/until.js';

const ROOT = join(__dirname, '../../..');
const SECRET = 'the secret of this server that nobody must ever see';
const alice = walletKey('alice');

interface Fixture extends RunningServer {
  readonly log: string[];
  /** A wallet with a thousand dollars on the server's chain. */
  readonly payer: Keypair;
  readonly sandbox: NonNullable<RunningServer['chain']['sandbox']>;
}

const DEFAULTS = { PORT: '0', JWT_SECRET: SECRET, RATE_LIMIT_SCALE: '100', DATABASE_URL: 'memory:' };

async function start(env: Record<string, string> = {}): Promise<Fixture> {
  const log: string[] = [];
  const configuration = readConfiguration({ ...DEFAULTS, ...env });
  const server = await startServer(configuration, { write: (line) => log.push(line) });
  const { sandbox } = server.chain;
  if (sandbox === undefined) throw new Error('this server has no sandbox');
  return { ...server, log, sandbox, payer: await sandbox.createWallet({ usdc: '1000' }) };
}

/** Starts a server while the usual port of a sandbox is taken: by us, or by whoever had it before. */
async function startBesideOther(env: Record<string, string>): Promise<Fixture> {
  const other = createHttpServer(() => undefined);
  await listen(other, 8899, '127.0.0.1').catch(() => undefined);
  const server = await start(env);
  other.close();
  if (!server.sandbox.rpcUrl.endsWith(':8899')) return server;
  // Whoever had it has given it back meanwhile.
  await server.close();
  return startBesideOther(env);
}

async function postJson(url: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as Record<string, unknown>;
}

async function signIn(url: string) {
  const wallet = alice.address;
  const { message, nonce } = await postJson(`${url}/api/v1/auth/challenge`, { wallet });
  const signature = alice.sign(String(message));
  const grant = await postJson(`${url}/api/v1/auth/token`, { wallet, nonce, signature });
  return { signature, access: String(grant.access_token), refresh: String(grant.refresh_token) };
}

describe('the server', () => {
  let server: Fixture;

  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());

  test('serves the whole service and a paid demo route, signs wallets in', async () => {
    const { url } = server;
    for (const path of ['/', '/health', '/supported', '/wallet-status', '/token-gate/tiers', '/healthz', '/readyz']) {
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
    }
    const { v2 } = await signPayment(server, `${url}/demo`);
    const paid = await fetch(`${url}/demo`, { headers: v2 });
    expect([paid.status, receiptOf(paid).success]).toEqual([200, true]);
    expect((await signIn(url)).access).toMatch(/^ey/);
  });

  test('unknown paths and other methods are problems', async () => {
    const lost = await fetch(`${server.url}/nowhere?x=1`);
    expect([lost.status, await lost.json()]).toEqual([
      404,
      expect.objectContaining({ code: 'not_found', request_id: lost.headers.get('x-request-id') }),
    ]);
    const wrong = await fetch(`${server.url}/demo`, { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('a path that cannot be decoded is the fault of its sender', async () => {
    const answer = await fetch(`${server.url}/payments/%E0%A4%A`);
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ code: 'invalid_request' })]);
  });

  test('answers carry security headers, and the page of the paywall keeps its own policy', async () => {
    const api = await fetch(`${server.url}/health`);
    expect(api.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(api.headers.get('x-content-type-options')).toBe('nosniff');
    expect(api.headers.get('x-frame-options')).toBe('SAMEORIGIN');
    expect(api.headers.get('strict-transport-security')).not.toContain('includeSubDomains');
    expect(api.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(api.headers.get('x-powered-by')).toBeNull();
    const page = await fetch(`${server.url}/demo`, { headers: { accept: 'text/html' } });
    const policy = expect.stringMatching(/^default-src 'none'; script-src 'nonce-[\w+/=]+';(?!.*unsafe)/);
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([402, policy]);
  });

  /** What a server answers to bytes on a connection, until it closes it. */
  async function exchange(bytes: string): Promise<string> {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.write(bytes);
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  }

  test.each([
    [
      'headers over 16 KiB',
      `GET / HTTP/1.1\r\nHost: x\r\nPAYMENT-SIGNATURE: ${'a'.repeat(17_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['bytes that are not HTTP', 'hello\r\n\r\n', 400, 'invalid_request'],
  ])('%s are answered with a problem', async (_what, bytes, status, code) => {
    const [head = '', body = ''] = (await exchange(bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/content-type: application\/problem\+json/i);
    const problem = JSON.parse(body);
    expect(problem).toMatchObject({ status, code });
    expect(head).toContain(`X-Request-Id: ${problem.request_id}`);
  });

  test('headers of 15 KiB are read', async () => {
    const answer = await fetch(`${server.url}/healthz`, { headers: { 'x-padding': 'a'.repeat(15_000) } });
    expect(answer.status).toBe(200);
  });
});

test('a request that does not arrive in time is answered with a problem', async () => {
  const server = createHttpServer((_req, res) => void res.end());
  server.headersTimeout = 50;
  server.requestTimeout = 100;
  await listen(server, 0, '127.0.0.1');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
  await once(socket, 'close');
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
  const closed = once(server, 'close');
  server.close();
  await closed;
});

describe('a response that has begun', () => {
  /** What a server says to a POST in chunks whose response is running, when `end` has been done to the request. */
  async function saidTo(handle: RequestListener, end: (socket: Socket, server: Server) => void): Promise<string> {
    const server = createHttpServer(handle);
    await listen(server, 0, '127.0.0.1');
    const socket = openSocket(urlOf(server));
    const heard = collect(socket);
    socket.write(rawRequest('POST /', ['Transfer-Encoding: chunked'], '1\r\na\r\n'));
    await once(socket, 'data');
    end(socket, server);
    const said = await heard;
    await once(server.close(), 'close');
    return said;
  }
  const stream: RequestListener = (_req, res) => void res.write('the first part');
  const badChunk = (socket: Socket): void => void socket.write('no chunk\r\n');

  test.each([
    ['that cannot be read', badChunk],
    [
      'that is late',
      (_socket: Socket, server: Server) => Object.assign(server, { headersTimeout: 1, requestTimeout: 1 }),
    ],
  ])('is cut off by the rest of a request %s, and nothing is written into it', async (_which, end) => {
    const said = await saidTo(stream, end);
    expect(said).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(said).toMatch(/the first part\r\n$/);
  });

  test('is cut off by a later request on its connection that cannot be read', async () => {
    const said = await saidTo(stream, (socket) =>
      socket.write(`0\r\n\r\n${rawRequest('GET /')}${rawRequest('GET / bad')}`),
    );
    expect(said).toMatch(/the first part\r\n$/);
  });

  test('and has ended does not keep the rest of its request from being answered', async () => {
    const said = await saidTo((_req, res) => void res.end('all of it'), badChunk);
    expect(answersIn(said)).toMatchObject([{ status: 200, body: 'all of it' }, { status: 400 }]);
  });
});

describe('what the server writes to its log', () => {
  test('one line for each request and payment, and no secret of anybody', async () => {
    const server = await start();
    const { url, sandbox, log, payer } = server;
    const { v1, v2, transaction } = await signPayment(server, `${url}/demo`);
    const paid = await fetch(`${url}/demo?api_key=hunter2`, { headers: { ...v2, 'x-request-id': 'paid-one' } });
    expect(paid.status).toBe(200);
    expect((await fetch(`${url}/demo`, { headers: v1 })).status).toBe(402);
    const { signature, access, refresh } = await signIn(url);
    const bearer = { authorization: `Bearer ${access}`, cookie: 'session=hunter2' };
    expect((await fetch(`${url}/token-gate/tiers`, { headers: bearer })).status).toBe(200);
    const renewed = await postJson(`${url}/api/v1/auth/refresh`, { refresh_token: refresh });
    await server.close();

    const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ request_id }) => request_id === 'paid-one')).toEqual([
      expect.objectContaining({
        msg: 'request',
        method: 'GET',
        path: '/demo',
        status: 200,
        ms: expect.any(Number),
        payer: payer.publicKey.toBase58(),
      }),
    ]);
    expect(lines).toContainEqual(expect.objectContaining({ msg: 'request', status: 402, code: expect.any(String) }));
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'payment settled', signature: receiptOf(paid).transaction, amount: '10000' }),
    );
    expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['listening', 'stopping', 'stopped']));

    const keys = [payer, sandbox.treasury].flatMap(({ secretKey }) => {
      const bytes = Buffer.from(secretKey);
      const texts = [bs58.encode(bytes), bytes.toString('base64'), bytes.toString('hex'), JSON.stringify([...bytes])];
      return [...texts, bs58.encode(bytes.subarray(0, 32)), bytes.subarray(0, 32).toString('hex')];
    });
    const payments = [...Object.values(v1), ...Object.values(v2), Buffer.from(transaction).toString('base64')];
    const tokens = [access, refresh, String(renewed.access_token), String(renewed.refresh_token), signature];
    const text = log.join('');
    for (const secret of [...keys, ...payments, ...tokens, SECRET, 'hunter2']) expect(text).not.toContain(secret);
  });

  test('redacts fields that hold secrets, wherever they turn up', async () => {
    const { createLogger } = await import('../../../src/server/logger.js');
    const log: string[] = [];
    const logger = await createLogger('info', { write: (line) => log.push(line) });
    const headers = { authorization: 'Bearer s3cret', 'payment-signature': 's3cret', 'sign-in-with-x': 's3cret' };
    const more = ['access-pass', 'set-cookie', 'idempotency-key', 'payment-required', 'x-payment', 'x-service-secret'];
    logger.info({ headers, req: { headers }, jwtSecret: 's3cret', keypair: [1], a: { b: { cookie: 's3cret' } } }, 'x');
    logger.info({ res: { headers: Object.fromEntries(more.map((name) => [name, 's3cret'])) } }, 'x');
    expect(log.join('')).not.toContain('s3cret');
    expect(log.join('')).toContain('[redacted]');
  });

  test('is nothing when silent, and only what is bad at a higher level', async () => {
    const [silent, error] = [await start({ LOG_LEVEL: 'silent' }), await start({ LOG_LEVEL: 'error' })];
    for (const { url, close, log } of [silent, error]) {
      await fetch(`${url}/health`);
      await close();
      expect(log).toEqual([]);
    }
  });
});

describe('how the server is set up', () => {
  const servers: Fixture[] = [];
  const startFor = async (env: Record<string, string>) => {
    const server = await start({ LOG_LEVEL: 'silent', ...env });
    servers.push(server);
    return server;
  };
  afterEach(() => Promise.all(servers.splice(0).map(({ close }) => close())));

  test('RATE_LIMIT_SCALE multiplies the limits: of the router, of challenges of the demo route, of unknown paths', async () => {
    const { url } = await startFor({ RATE_LIMIT_SCALE: '0.05' });
    const statuses = async (path: string, times: number) => {
      const seen: number[] = [];
      for (let n = 0; n < times; n += 1) seen.push((await fetch(url + path)).status);
      return seen;
    };
    expect(await statuses('/demo', 7)).toEqual([402, 402, 402, 402, 402, 402, 429]);
    expect([...(await statuses('/supported', 2)), ...(await statuses('/nowhere', 2))]).toEqual([200, 200, 404, 429]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('the sandbox needs no JWT_SECRET: it makes one', async () => {
    const [one, other] = [await startFor({ JWT_SECRET: '' }), await startFor({ JWT_SECRET: '' })];
    const { refresh } = await signIn(one.url);
    expect(await postJson(`${one.url}/api/v1/auth/refresh`, { refresh_token: refresh })).toHaveProperty('access_token');
    expect([one.tokens, other.tokens]).toEqual([true, true]);
  });

  test('of several JWT_SECRETs the first signs and all are accepted, so that nobody is signed out by another one', async () => {
    const [before, after] = ['a'.repeat(32), 'b'.repeat(32)];
    const shared = {
      DATABASE_URL: `sqlite:${join(mkdtempSync(join(tmpdir(), 'toll-')), 'db')}`,
      BASE_URL: 'http://localhost',
    };
    const [old, both, last] = [
      await startFor({ ...shared, JWT_SECRET: before }),
      await startFor({ ...shared, JWT_SECRET: `${after}, ${before}` }),
      await startFor({ ...shared, JWT_SECRET: after }),
    ];
    const statusAt = async ({ url }: RunningServer, { access }: { readonly access: string }) =>
      (await fetch(`${url}/api/v1/keys`, { headers: { Authorization: `Bearer ${access}` } })).status;
    const [ofOld, ofNew] = [await signIn(old.url), await signIn(both.url)];
    expect([await statusAt(both, ofOld), await statusAt(both, ofNew)]).toEqual([200, 200]);
    expect([await statusAt(last, ofOld), await statusAt(last, ofNew)]).toEqual([401, 200]);
  });

  test('elsewhere there are no tokens without a JWT_SECRET', async () => {
    const { sandbox } = await startFor({});
    const feePayer = await sandbox.createWallet({ sol: '1' });
    const env = {
      ...DEFAULTS,
      JWT_SECRET: '',
      LOG_LEVEL: 'silent',
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: sandbox.rpcUrl,
      FACILITATOR_KEYPAIR: JSON.stringify([...feePayer.secretKey]),
    };
    const server = await startServer(readConfiguration(env));
    const answer = await postJson(`${server.url}/api/v1/auth/challenge`, { wallet: alice.address });
    expect([server.tokens, server.demo, answer.code]).toEqual([false, false, 'not_configured']);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    await server.close();
  });

  test('what was asked for and paid is remembered over a restart', async () => {
    const DATABASE_URL = `sqlite:${join(mkdtempSync(join(tmpdir(), 'tollhouse-')), 'books.db')}`;
    const first = await start({ LOG_LEVEL: 'silent', DATABASE_URL });
    const asked = { amount: 0.5, token: 'USDC', recipient: alice.address };
    const { payment_id } = await postJson(`${first.url}/create-payment`, asked);
    await first.close();
    const second = await startFor({ DATABASE_URL });
    const found = await (await fetch(`${second.url}/payments/${String(payment_id)}`)).json();
    expect(found).toMatchObject({ payment_id, amount: 500_000, status: 'created' });
  });

  test.each([
    ['another scheme', 'mysql://db.example', 'DATABASE_URL must be sqlite:'],
    ['a folder that cannot be', 'sqlite:/dev/null/books.db', 'cannot open the SQLite file'],
  ])('a database that cannot be used is one clear line: %s', async (_, DATABASE_URL, told) => {
    await expect(startFor({ DATABASE_URL })).rejects.toThrow(told);
  });

  test('a sandbox whose usual port is taken has another, which the log tells', async () => {
    const { log, sandbox, close } = await startBesideOther({ LOG_LEVEL: 'info' });
    await close();
    const { rpcUrl } = sandbox;
    const lines = log.map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.find(({ msg }) => msg === 'listening')).toMatchObject({ sandbox: true, rpcUrl });
    expect(lines.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({ rpcUrl, msg: expect.stringContaining('--rpc') }),
    ]);
  });

  test('a port that is taken is an error, and nothing stays behind', async () => {
    const { url } = await startFor({});
    await expect(startFor({ PORT: new URL(url).port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('how the server stops', () => {
  test('what is under way is finished and paid, what comes later is refused', async () => {
    const server = await start({ LOG_LEVEL: 'silent' });
    const { url, sandbox } = server;
    const { v2 } = await signPayment(server, `${url}/demo`);
    sandbox.pauseSlots();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += String(chunk);
    });
    const headers = Object.entries(v2).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET /demo HTTP/1.1\r\nHost: x\r\n${headers.join('')}\r\n`);
    await until(() => sandbox.calls.sendTransaction > 0);

    const closed = server.close();
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect(fetch(`${url}/health`)).rejects.toThrow();
    sandbox.resumeSlots();
    await once(socket, 'close');
    await closed;
    const [, paid = '', refused = ''] = received.split('HTTP/1.1 ');
    expect(paid).toMatch(/^200 /);
    expect(paid).toContain('"message":"Paid.');
    expect(refused).toMatch(/^503 /);
    expect(refused).toMatch(/^connection: close/im);
    expect(refused).toContain('"code":"stopping"');
  });

  test('a connection that is kept alive does not hold it up', async () => {
    const server = await start({ LOG_LEVEL: 'silent' });
    const agent = new Agent({ keepAlive: true });
    const asked = request(`${server.url}/health`, { agent }).end();
    const [answer] = await once(asked, 'response');
    answer.resume();
    await once(answer, 'end');
    await server.close();
    agent.destroy();
  });

  test('SIGTERM ends the process of `tollhouse serve` in order', async () => {
    const env = { ...process.env, PORT: '0', LOG_LEVEL: 'info', DATABASE_URL: 'memory:' };
    const code = `import('unrun').then(({ unrun }) => unrun({ path: 'src/cli/main.ts' }))`;
    const args = ['--eval', code, 'tollhouse', 'serve'];
    const child: ChildProcess = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        output += String(chunk);
      });
    }
    const exited = once(child, 'exit');
    try {
      const listening = /"url":"(http[^"]+)".*"msg":"listening"/;
      await until(() => listening.test(output) || child.exitCode !== null);
      const [, url] = listening.exec(output) ?? [];
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      child.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
      expect(output).toContain('"msg":"stopped"');
    } finally {
      child.kill('SIGKILL');
    }
  });
});
