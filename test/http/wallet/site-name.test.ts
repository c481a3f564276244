import { request } from 'node:http';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { createRouter } from '../../../src/http/create-router.js';
import { createIdentity } from '../../../src/identity/create-identity.js';
import { anyOf } from '../../../src/middleware/gate/any-of.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { readTier } from '../../../src/middleware/wallet/read-tier.js';
import { requireTokenBalance } from '../../../src/middleware/wallet/require-token-balance.js';
import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { startServer } from '../../../src/server/start-server.js';
import { SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { signInHeader, signInInfo, walletKey } from '../../helpers/transactions/wallet-key.js';

const EVIL = 'evil.example';
const SHOP = 'https://shop.example';
const CHALLENGE = '/api/v1/auth/challenge';
const alice = walletKey('alice');

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Record<string, unknown>;
}

/** A request whose `Host` is what its sender likes. */
function ask(url: string, host: string, { body, ...headers }: Record<string, string> = {}): Promise<Answer> {
  return askText(url, host, { ...(body === undefined ? {} : { body }), ...headers }).then(({ text, ...answer }) => ({
    ...answer,
    body: text === '' ? {} : JSON.parse(text),
  }));
}

interface Page extends Omit<Answer, 'body'> {
  readonly text: string;
}

/** The same, answered by a text. */
function askText(url: string, host: string, { body, ...headers }: Record<string, string> = {}): Promise<Page> {
  const method = body === undefined ? 'GET' : 'POST';
  const all = { host, 'content-type': 'application/json', ...headers };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: all, agent: false }, async (res) => {
      const text = (await res.toArray()).join('');
      resolve({ status: res.statusCode, headers: res.headers, text });
    });
    sent.on('error', reject).end(body);
  });
}

describe('the name that a sign-in is for', () => {
  let fixture: TollFixture;
  let named: string;
  let nameless: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
    named = await serve(SHOP);
    nameless = await serve();
  });
  afterAll(() => fixture.close());

  function serve(baseUrl?: string): Promise<string> {
    const { facilitator, payTo } = fixture;
    const identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
    const site = baseUrl === undefined ? {} : { baseUrl };
    const common = { facilitator, identity, ...site };
    const price = { facilitator, price: '$0.01', payTo, ...site };
    return fixture.serve((app) => {
      app.get('/club', requireTokenBalance({ ...common, mint: 'USDC', minBalance: 0 }), (_, res) => void res.json({}));
      app.get('/paid', readTier(common), requirePayment(price), (_, res) => void res.json({}));
      app.use(createRouter({ ...common, limits: false }));
    });
  }

  const challenge = (url: string, host: string) =>
    ask(`${url}${CHALLENGE}`, host, { body: JSON.stringify({ wallet: alice.address }) });
  const infoOf = ({ body }: Answer) => signInInfo({ extensions: body['extensions'] as Record<string, unknown> });
  const offered = ({ headers }: Answer) =>
    decodePaymentRequiredHeader(String(headers['payment-required'])).extensions?.['sign-in-with-x'];

  test('is the configured one, whatever the Host of the request is, and the signature is good', async () => {
    for (const host of [EVIL, new URL(named).host]) {
      const { status, body } = await challenge(named, host);
      expect([status, body['message']]).toEqual([200, expect.stringMatching(/^shop\.example wants you to sign in/)]);
      const grant = { wallet: alice.address, nonce: body['nonce'], signature: alice.sign(String(body['message'])) };
      const token = await ask(`${named}/api/v1/auth/token`, host, { body: JSON.stringify(grant) });
      expect(token.status).toBe(200);

      const info = infoOf(await ask(`${named}/club`, host));
      expect(info).toMatchObject({ domain: 'shop.example', uri: `${SHOP}/club` });
      expect((await ask(`${named}/club`, host, { 'sign-in-with-x': signInHeader(alice, info) })).status).toBe(200);
    }
  });

  test('without one is that of a loopback host, and of no other: the refusal says what to set', async () => {
    const { port } = new URL(nameless);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `127.9.9.9`, `[::1]:${port}`]) {
      const { status, body } = await challenge(nameless, host);
      expect([status, String(body['message']).startsWith(`${host} wants you to sign in`)]).toEqual([200, true]);
    }
    for (const host of [
      EVIL,
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'localhost@evil.example',
      '10.0.0.7',
    ]) {
      const { status, body } = await challenge(nameless, host);
      expect([status, body['code']]).toEqual([501, 'not_configured']);
      expect(body['detail']).toMatch(/BASE_URL.*"baseUrl".*"domain"/);
      expect(JSON.stringify(body)).not.toContain('wants you to sign in');
    }
  });

  test('without one is no raw error to a reader, who gets a page, in the language of the reader', async () => {
    for (const [language, heading] of [
      ['en', 'This page is not set up yet'],
      ['de', 'Diese Seite ist noch nicht eingerichtet'],
    ] as const) {
      const headers = { accept: 'text/html', 'accept-language': language };
      const { status, text } = await askText(`${nameless}/club`, 'shop.example', headers);
      expect([status, text.includes(`<h1>${heading}</h1>`), text.includes('BASE_URL')]).toEqual([501, true, false]);
    }
  });

  test('is that of the router at gates with its identity and no name of their own, in the resource of a 402 too', async () => {
    const { facilitator } = fixture;
    const identity = createIdentity({ network: facilitator.network, jwtSecret: SECRET });
    const url = await fixture.serve((app) => {
      app.get('/club', requireTokenBalance({ facilitator, identity, mint: 'USDC', minBalance: 0 }));
      app.use(createRouter({ facilitator, identity, baseUrl: SHOP, limits: false }));
    });
    const { headers, body } = await ask(`${url}/club?page=1`, EVIL);
    const { resource, extensions } = decodePaymentRequiredHeader(String(headers['payment-required']));
    expect(resource).toMatchObject({ url: `${SHOP}/club?page=1` });
    expect(JSON.stringify([extensions, body])).not.toContain(EVIL);
  });

  test('a proof that was signed for a name of somebody else opens nothing, in its own words too', async () => {
    const here = new URL(nameless).host;
    const good = infoOf(await ask(`${nameless}/club`, here));
    const evil = signInHeader(alice, { ...good, domain: EVIL, uri: `http://${EVIL}/club` });
    const told = await ask(`${nameless}/club`, EVIL, { 'sign-in-with-x': evil });
    expect([told.status, told.body['code']]).toEqual([501, 'not_configured']);
    expect((await ask(`${nameless}/club`, here, { 'sign-in-with-x': evil })).body['code']).toBe('invalid_sign_in');
    expect((await ask(`${nameless}/club`, here, { 'sign-in-with-x': signInHeader(alice, good) })).status).toBe(200);
  });

  test('where there is none, who pays is not turned away: the 402 just offers no sign-in', async () => {
    const [there, here] = [await ask(`${nameless}/paid`, EVIL), await ask(`${nameless}/paid`, new URL(nameless).host)];
    expect([there.status, offered(there)]).toEqual([402, undefined]);
    expect([here.status, offered(here)]).toEqual([402, expect.any(Object)]);
  });

  test('must be configured for a server that leaves the sandbox, or it does not start', async () => {
    const { sandbox } = fixture;
    const feePayer = await sandbox.createWallet({ sol: '1' });
    const env = {
      PORT: '0',
      DATABASE_URL: 'memory:',
      LOG_LEVEL: 'silent',
      JWT_SECRET: SECRET,
      SOLANA_NETWORK: 'solana-devnet',
      SOLANA_RPC_URL: sandbox.rpcUrl,
      FACILITATOR_KEYPAIR: JSON.stringify([...feePayer.secretKey]),
    };
    await expect(startServer(readConfiguration(env))).rejects.toThrow(/^environment: BASE_URL must be set/);
    const server = await startServer(readConfiguration({ ...env, BASE_URL: SHOP }));
    try {
      const { body } = await challenge(server.url, EVIL);
      expect(body['message']).toMatch(/^shop\.example wants you to sign in/);
    } finally {
      await server.close();
    }
  });
});

describe('the scheme that a proxy names', () => {
  const STRANGE = 'javascript:alert(1)//';
  const TELLING = ['/openapi.json', '/.well-known/x402', '/discovery', '/docs', '/paid', '/either', '/both', '/held'];
  let fixture: TollFixture;

  beforeAll(async () => {
    fixture = await openTollFixture();
  });
  afterAll(() => fixture.close());

  function serve(site: { readonly baseUrl?: string } = {}): Promise<string> {
    const { facilitator, payTo } = fixture;
    return fixture.serve((app) => {
      app.set('trust proxy', 1);
      const pay = () => requirePayment({ facilitator, price: '$0.01', payTo, ...site });
      const hold = () => requireTokenBalance({ facilitator, mint: 'USDC', minBalance: 1, ...site });
      app.get('/paid', pay(), (_, res) => void res.json({}));
      app.get('/either', anyOf(hold(), pay()), (_, res) => void res.json({}));
      app.get('/both', hold(), pay(), (_, res) => void res.json({}));
      app.get('/held', hold(), (_, res) => void res.json({}));
      app.use(createRouter({ facilitator, limits: false, ...site }));
    });
  }

  function askThrough(url: string, scheme: string, accept: string): Promise<Page> {
    return askText(url, 'shop.example', { 'x-forwarded-proto': scheme, accept });
  }

  test.each(TELLING)('is written into no address where it is that of no site: %s is refused', async (path) => {
    const url = await serve();
    for (const accept of ['application/json', 'text/html']) {
      const { status, headers, text } = await askThrough(url + path, STRANGE, accept);
      expect([status, (JSON.stringify(headers) + text).includes(`${STRANGE}://`)]).toEqual([400, false]);
    }
  });

  test('is that of the addresses where it is one, and probes are answered whatever it is', async () => {
    const url = await serve();
    for (const scheme of ['http', 'https']) {
      const { status, text } = await askThrough(`${url}/.well-known/x402`, scheme, 'application/json');
      expect([status, JSON.parse(text).discovery]).toEqual([200, `${scheme}://shop.example/discovery/resources`]);
      expect((await askThrough(`${url}/paid`, scheme, 'application/json')).status).toBe(402);
    }
    expect((await askThrough(`${url}/healthz`, STRANGE, 'application/json')).status).toBe(200);
  });

  test('does not matter where the address of the site is configured', async () => {
    const url = await serve({ baseUrl: SHOP });
    const { status, text } = await askThrough(`${url}/.well-known/x402`, STRANGE, 'application/json');
    expect([status, JSON.parse(text).discovery]).toEqual([200, `${SHOP}/discovery/resources`]);
    expect((await askThrough(`${url}/paid`, STRANGE, 'application/json')).status).toBe(402);
  });
});
