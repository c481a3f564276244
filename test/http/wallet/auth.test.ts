import { generateKeyPairSync } from 'node:crypto';
import { createAuthRouter } from '../../../src/http/auth/auth-router.js';
import type { WalletIdentity } from '../../../src/identity/create-identity.js';
import { type IdentityChanges, openIdentity, SECRET } from '../../helpers/fixtures/identity-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { type AppServer, serveApp } from '../../helpers/http/app-server.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const alice = walletKey('alice');
const bob = walletKey('bob');

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

async function postTo(url: string, path: string, body: unknown): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  return read(await fetch(`${url}/api/v1/auth${path}`, { method: 'POST', headers, body: text }));
}

/** Challenge, signature, token. */
async function signIn(url: string, wallet = alice): Promise<Answer> {
  const { body } = await postTo(url, '/challenge', { wallet: wallet.address });
  const signature = wallet.sign(String(body.message));
  return postTo(url, '/token', { wallet: wallet.address, nonce: body.nonce, signature });
}

function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ status, code, detail: expect.stringMatching(/.\.$/), retryable: false });
  expect(JSON.stringify(answer.body)).not.toContain(SECRET);
}

describe.each(DAILY_EXPRESSES)('wallets sign in, %s', (_name, express) => {
  let fixture: ReturnType<typeof openIdentity>;
  let servers: AppServer[];
  let url: string;

  async function serve(identity: WalletIdentity, baseUrl?: string): Promise<string> {
    const server = await serveApp((app) => {
      app.use(createAuthRouter({ identity, baseUrl }));
      app.get('/me', async (req, res) => {
        res.json(await identity.prove({ url: `http://${req.get('host')}/me`, header: (name) => req.get(name) }));
      });
    }, express);
    servers.push(server);
    return server.url;
  }

  beforeEach(async () => {
    servers = [];
    fixture = openIdentity();
    url = await serve(fixture.identity);
  });
  afterEach(() => Promise.all(servers.map((it) => it.close())));

  const me = async (token: unknown) =>
    (await read(await fetch(`${url}/me`, { headers: { authorization: `Bearer ${token}` } }))).body;

  const serveWith = (options: IdentityChanges, baseUrl?: string) => serve(openIdentity(options).identity, baseUrl);

  test('a wallet signs the challenge, gets tokens, and is known by them', async () => {
    const challenge = await postTo(url, '/challenge', { wallet: alice.address });
    expect(challenge.status).toBe(200);
    expect(challenge.headers.get('cache-control')).toBe('no-store');
    expect(challenge.body).toEqual({
      message: expect.stringContaining(`${new URL(url).host} wants you to sign in with your Solana account:\n`),
      nonce: expect.stringMatching(/^[A-Za-z0-9]{40,100}$/),
      expires_at: '2026-01-02T03:09:05.678Z',
    });

    const { message, nonce } = challenge.body;
    const signature = alice.sign(String(message));
    const token = await postTo(url, '/token', { wallet: alice.address, nonce, signature });
    expect(token.status).toBe(200);
    expect(token.headers.get('cache-control')).toBe('no-store');
    expect(token.body).toEqual({
      access_token: expect.stringMatching(/^[-_\w]+\.[-_\w]+\.[-_\w]+$/),
      refresh_token: expect.stringMatching(/^trt_/),
      token_type: 'Bearer',
      expires_in: 900,
    });
    expect(await me(token.body.access_token)).toEqual({
      status: 'proven',
      wallet: { address: alice.address, by: 'jwt', scopes: [] },
    });
  });

  test('a signed challenge is good once', async () => {
    const { body } = await postTo(url, '/challenge', { wallet: alice.address });
    const answer = { wallet: alice.address, nonce: body.nonce, signature: alice.sign(String(body.message)) };
    expect((await postTo(url, '/token', answer)).status).toBe(200);

    const again = await postTo(url, '/token', answer);
    expectProblem(again, 401, 'sign_in_replayed');
    expect(again.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('a challenge of five minutes ago is no longer good', async () => {
    const { body } = await postTo(url, '/challenge', { wallet: alice.address });
    fixture.advance(5 * 60_000);
    const answer = { wallet: alice.address, nonce: body.nonce, signature: alice.sign(String(body.message)) };
    expectProblem(await postTo(url, '/token', answer), 401, 'invalid_sign_in');
  });

  test.each([
    ['by another wallet', (text: string) => ({ signature: bob.sign(text) })],
    ['by another wallet in its own name', (text: string) => ({ wallet: bob.address, signature: bob.sign(text) })],
    [
      'over the text of another site',
      (text: string) => ({ signature: alice.sign(text.replace(/^\S+/, 'evil.example')) }),
    ],
    ['of nothing', () => ({ signature: 'unsigned' })],
    ['with a nonce of its own making', (text: string) => ({ nonce: 'abcdefgh', signature: alice.sign(text) })],
  ])('a challenge signed %s opens nothing', async (_what, change) => {
    const { body } = await postTo(url, '/challenge', { wallet: alice.address });
    const answer = { wallet: alice.address, nonce: body.nonce, ...change(String(body.message)) };
    expectProblem(await postTo(url, '/token', answer), 401, 'invalid_sign_in');
  });

  test('a refresh token gives the next pair; used again, it ends the session', async () => {
    const first = (await signIn(url)).body;
    const second = await postTo(url, '/refresh', { refresh_token: first.refresh_token });
    expect(second.status).toBe(200);
    expect(Object.keys(second.body)).toEqual(['access_token', 'refresh_token', 'token_type', 'expires_in']);
    expect(await me(second.body.access_token)).toMatchObject({ status: 'proven' });

    fixture.advance(10_001);
    const stolen = await postTo(url, '/refresh', { refresh_token: first.refresh_token });
    expectProblem(stolen, 401, 'invalid_refresh_token');
    expect(JSON.stringify(stolen.body)).not.toContain(first.refresh_token);
    expectProblem(
      await postTo(url, '/refresh', { refresh_token: second.body.refresh_token }),
      401,
      'invalid_refresh_token',
    );
    expect(await me(second.body.access_token)).toMatchObject({ status: 'refused', code: 'invalid_access_token' });
  });

  test('a revoked access token is refused; a revoked refresh token ends its session; neither tells whether it was good', async () => {
    const [one, other] = [(await signIn(url)).body, (await signIn(url)).body];
    for (const token of [one.access_token, one.access_token, other.refresh_token, 'never issued']) {
      const answer = await postTo(url, '/revoke', { token });
      expect([answer.status, answer.body]).toEqual([204, {}]);
    }
    for (const { access_token } of [one, other]) expect(await me(access_token)).toMatchObject({ status: 'refused' });
    expect((await postTo(url, '/refresh', { refresh_token: one.refresh_token })).status).toBe(200);
    expect((await postTo(url, '/refresh', { refresh_token: other.refresh_token })).status).toBe(401);
  });

  test.each([
    ['/challenge', {}, ['/wallet']],
    ['/challenge', { wallet: 'nobody' }, ['/wallet']],
    ['/challenge', { wallet: alice.address.toLowerCase() }, ['/wallet']],
    ['/challenge', [], ['']],
    ['/token', { wallet: 7, nonce: '', signature: 'x'.repeat(200) }, ['/wallet', '/nonce', '/signature']],
    ['/refresh', { refresh_token: null }, ['/refresh_token']],
    ['/revoke', { token: 'x'.repeat(5_000) }, ['/token']],
  ])('POST %s %j is answered with every field at fault', async (path, body, pointers) => {
    const answer = await postTo(url, path, body);
    expectProblem(answer, 422, 'validation_failed');
    const errors = answer.body.errors as { pointer: string; code: string; detail: string }[];
    expect(errors.map(({ pointer }) => pointer)).toEqual(pointers);
    for (const error of errors)
      expect(error).toEqual({ ...error, code: expect.any(String), detail: expect.any(String) });
  });

  test('a missing field is told from a wrong one', async () => {
    const { body } = await postTo(url, '/token', { wallet: 'nobody' });
    expect(body.errors).toEqual([
      { pointer: '/wallet', code: 'custom', detail: expect.stringContaining('must be a Solana address') },
      { pointer: '/nonce', code: 'required', detail: 'must be a text' },
      { pointer: '/signature', code: 'required', detail: 'must be a text' },
    ]);
  });

  test('bodies that are no JSON, too large, or of another type are refused before anything is looked at', async () => {
    expectProblem(await postTo(url, '/challenge', '{"wallet"'), 400, 'invalid_json');
    expectProblem(await postTo(url, '/challenge', { wallet: 'x'.repeat(200_000) }), 413, 'body_too_large');
    const form = await fetch(`${url}/api/v1/auth/challenge`, {
      method: 'POST',
      body: new URLSearchParams({ wallet: 'x' }),
    });
    expectProblem(await read(form), 415, 'unsupported_media_type');
    expectProblem(await postTo(url, '/challenge', ''), 422, 'validation_failed');
  });

  test.each([
    ['GET', '/api/v1/auth/challenge', 'POST'],
    ['PUT', '/api/v1/auth/token', 'POST'],
    ['POST', '/.well-known/jwks.json', 'GET, HEAD'],
  ])('%s %s is answered with the methods that there are', async (method, path, allowed) => {
    const answer = await read(await fetch(url + path, { method }));
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers.get('allow')).toBe(allowed);
  });

  test('the public keys of tokens are there for others, and secrets are not', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const withKeys = await serveWith({ jwtSecret: undefined, keys: [privateKey] });
    const keys = await read(await fetch(`${withKeys}/.well-known/jwks.json`));
    const { x, y } = publicKey.export({ format: 'jwk' });
    expect(keys.headers.get('cache-control')).toBe('public, max-age=300');
    expect(keys.body).toEqual({ keys: [expect.objectContaining({ kty: 'EC', crv: 'P-256', x, y, alg: 'ES256' })] });
    expect(JSON.stringify(keys.body)).not.toContain('"d"');
    expect((await read(await fetch(`${url}/.well-known/jwks.json`))).body).toEqual({ keys: [] });
    expect((await signIn(withKeys)).status).toBe(200);
  });

  test('the message names the configured site, whatever the client calls the server', async () => {
    const [byDomain, byAddress] = [
      await serveWith({ domain: 'shop.example' }),
      await serveWith({}, 'https://shop.example/behind/'),
    ];
    const messages = [byDomain, byAddress].map(async (it) => {
      return (await postTo(it, '/challenge', { wallet: alice.address })).body.message;
    });
    expect(await messages[0]).toMatch(/^shop\.example wants [\s\S]*\nURI: http:\/\/shop\.example\n/);
    expect(await messages[1]).toMatch(/^shop\.example wants [\s\S]*\nURI: https:\/\/shop\.example\n/);
  });

  test('a server without a secret says that there is nothing to sign in for', async () => {
    const bare = await serveWith({ jwtSecret: undefined });
    const answer = await postTo(bare, '/challenge', { wallet: alice.address });
    expectProblem(answer, 501, 'not_configured');
    expect(answer.body.detail).toContain('SIGN-IN-WITH-X');
  });
});
