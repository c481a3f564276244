import { createHmac, createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import jwt from 'jsonwebtoken';
import type { WalletIdentity } from '../../../../src/identity/create-identity.js';
import {
  type IdentityChanges,
  NOON,
  openIdentity,
  requestWith,
  SECRET,
} from '../../../helpers/fixtures/identity-fixture.js';
import { signInHeader, signInInfo, type WalletKey, walletKey } from '../../../helpers/transactions/wallet-key.js';

const URL_ASKED = 'https://shop.example/api/v1/auth/challenge';
const IAT = Math.floor(NOON / 1_000);
const alice = walletKey('alice');
const ec = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

async function signIn(identity: WalletIdentity, wallet: WalletKey = alice) {
  const { message, nonce } = await identity.issueChallenge(wallet.address, URL_ASKED, URL_ASKED);
  return identity.exchange({ wallet: wallet.address, nonce, signature: wallet.sign(message) });
}

function prove(identity: WalletIdentity, token: string, scheme = 'Bearer') {
  return identity.prove(requestWith({ authorization: `${scheme} ${token}` }));
}

const proven = { status: 'proven', wallet: { address: alice.address, by: 'jwt', scopes: [] } };
const refused = (detail: RegExp, code = 'invalid_access_token') => ({
  status: 'refused',
  code,
  detail: expect.stringMatching(detail),
});

/** The parts of a token, not checked. */
function partsOf(token: string) {
  const [header, payload] = token.split('.').map((it) => Buffer.from(it, 'base64url').toString());
  return { header: JSON.parse(header ?? ''), payload: JSON.parse(payload ?? 'null') };
}

/** A token like a good one of ours, changed, and signed with a key. */
async function forged(
  identity: WalletIdentity,
  change: { header?: object; payload?: object; key?: KeyObject | string },
): Promise<string> {
  const { header, payload } = partsOf((await signIn(identity)).accessToken);
  const encode = (it: object) => Buffer.from(JSON.stringify(it)).toString('base64url');
  const content = `${encode({ ...header, ...change.header })}.${encode({ ...payload, ...change.payload })}`;
  return `${content}.${createHmac('sha256', change.key ?? SECRET)
    .update(content)
    .digest('base64url')}`;
}

test('an access token is a JWT by RFC 9068 with the claims of the service', async () => {
  const { identity } = openIdentity({ scopes: ['projects:read', 'projects:write'], issuer: 'https://id.example' });
  const { accessToken, expiresInSeconds } = await signIn(identity);

  expect(expiresInSeconds).toBe(900);
  expect(partsOf(accessToken)).toEqual({
    header: { alg: 'HS256', typ: 'at+jwt', kid: expect.stringMatching(/^[-_A-Za-z0-9]{16}$/) },
    payload: {
      iss: 'https://id.example',
      aud: 'shop.example',
      network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      sub: `wallet:${alice.address}`,
      iat: IAT,
      exp: IAT + 900,
      jti: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{16,22}$/),
      sid: expect.stringMatching(/^[-_A-Za-z0-9]{22}$/),
      scope: 'projects:read projects:write',
    },
  });
  expect(await prove(identity, accessToken)).toEqual({
    status: 'proven',
    wallet: { address: alice.address, by: 'jwt', scopes: ['projects:read', 'projects:write'] },
  });
});

test('a token is good for fifteen minutes', async () => {
  const { identity, advance } = openIdentity();
  const { accessToken } = await signIn(identity);
  advance(900_000 - 1_000);
  expect(await prove(identity, accessToken)).toEqual(proven);
  advance(1_000);
  expect(await prove(identity, accessToken)).toEqual(
    refused(/it expired at 2026-01-02T03:19:05.000Z/, 'token_expired'),
  );
});

test('the forgery of these tests is good when nothing is changed', async () => {
  const { identity } = openIdentity();
  expect(await prove(identity, await forged(identity, {}))).toEqual(proven);
});

test.each([
  ['another type', { header: { typ: 'JWT' } }, /type at\+jwt/],
  ['no type', { header: { typ: undefined } }, /type at\+jwt/],
  ['no key named', { header: { kid: undefined } }, /names its key/],
  ['another key named', { header: { kid: 'x' } }, /key that is not/],
  ['another algorithm of the same secret', { header: { alg: 'HS512' } }, /invalid algorithm/],
  ['an algorithm of public keys', { header: { alg: 'ES256' } }, /invalid algorithm/],
  ['the algorithm none, with a signature', { header: { alg: 'none' } }, /invalid/],
  ['another secret', { key: 'another secret that is as long as it must be, at least' }, /invalid signature/],
  ['no expiry', { payload: { exp: undefined } }, /missing or wrong: exp/],
  ['an expiry that is no number', { payload: { exp: 'never' } }, /invalid exp/],
  ['an expiry that is null', { payload: { exp: null } }, /exp/],
  ['an expiry in the past', { payload: { exp: IAT } }, /expired/],
  ['another audience', { payload: { aud: 'somebody else' } }, /audience/],
  ['no audience', { payload: { aud: undefined } }, /missing or wrong: aud/],
  ['several audiences', { payload: { aud: ['shop.example', 'evil.example'] } }, /missing or wrong: aud/],
  ['another network', { payload: { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' } }, /network/],
  ['no network', { payload: { network: undefined } }, /missing or wrong: network/],
  ['another issuer', { payload: { iss: 'somebody else' } }, /issuer/],
  ['no issuer', { payload: { iss: undefined } }, /issuer/],
  ['a time before which it is not good', { payload: { nbf: IAT + 60 } }, /not active/],
  ['no id', { payload: { jti: undefined } }, /jti/],
  ['no session', { payload: { sid: undefined } }, /sid/],
  ['a subject that is no wallet', { payload: { sub: 'user:1' } }, /sub/],
  ['a subject without an address', { payload: { sub: 'wallet:nobody' } }, /sub/],
])('a token with %s is refused', async (_name, change, detail) => {
  const { identity } = openIdentity();
  const proof = await prove(identity, await forged(identity, change));

  expect(proof).toEqual(refused(detail, proof.status === 'refused' ? proof.code : ''));
  expect(JSON.stringify(proof)).not.toContain(SECRET);
});

test('a token of the algorithm none, unsigned, is refused', async () => {
  const { identity } = openIdentity();
  const { header, payload } = partsOf((await signIn(identity)).accessToken);
  const unsigned = [{ ...header, alg: 'none' }, payload].map((it) =>
    Buffer.from(JSON.stringify(it)).toString('base64url'),
  );

  expect(await prove(identity, `${unsigned.join('.')}.`)).toEqual(refused(/signature is required/));
});

test('a public key is no secret: a token signed with its text is refused', async () => {
  const { privateKey, publicKey } = ec();
  const { identity } = openIdentity({ jwtSecret: undefined, keys: [privateKey] });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const token = await forged(identity, { header: { alg: 'HS256' }, key: pem });

  expect(await prove(identity, token)).toEqual(refused(/invalid algorithm/));
});

test('a secret is rotated: tokens of the old one are good while it is kept, and no longer', async () => {
  const next = 'the next secret, which is at least as long as the first';
  const before = openIdentity();
  const during = openIdentity({ jwtSecret: [next, SECRET] });
  const after = openIdentity({ jwtSecret: next });
  const old = (await signIn(before.identity)).accessToken;
  const fresh = (await signIn(during.identity)).accessToken;

  expect(await prove(during.identity, old)).toEqual(proven);
  expect(await prove(after.identity, old)).toEqual(refused(/key that is not, or no longer, in use/));
  expect(await prove(after.identity, fresh)).toEqual(proven);
  expect(partsOf(fresh).header.kid).not.toBe(partsOf(old).header.kid);
});

test('EC keys: tokens verify with the published keys, and only they are published', async () => {
  const [first, second] = [ec(), ec()];
  const pem = first.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const { identity } = openIdentity({ jwtSecret: undefined, keys: [pem, second.publicKey] });
  const { accessToken } = await signIn(identity);
  const { keys } = identity.jwks();

  expect(partsOf(accessToken).header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: keys[0]?.kid });
  expect(keys).toEqual(
    [first, second].map(({ publicKey }) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid: expect.stringMatching(/^[-_A-Za-z0-9]{43}$/),
      alg: 'ES256',
      use: 'sig',
    })),
  );
  expect(jwt.verify(accessToken, first.publicKey, { clockTimestamp: IAT })).toMatchObject({ aud: 'shop.example' });
  expect(await prove(identity, accessToken)).toEqual(proven);
});

test('EC keys are rotated like secrets', async () => {
  const [first, second] = [ec(), ec()];
  const withKeys = (...keys: KeyObject[]) => openIdentity({ jwtSecret: undefined, keys }).identity;
  const old = (await signIn(withKeys(first.privateKey))).accessToken;

  expect(await prove(withKeys(second.privateKey, first.publicKey), old)).toEqual(proven);
  expect(await prove(withKeys(second.privateKey), old)).toEqual(refused(/no longer, in use/));
});

test('secrets are not published', () => {
  expect(openIdentity().identity.jwks()).toEqual({ keys: [] });
});

test('a revoked token is refused, others of the same wallet are not', async () => {
  const { identity } = openIdentity();
  const [one, other] = [await signIn(identity), await signIn(identity)];
  await identity.revoke(one.accessToken);
  await identity.revoke(one.accessToken);

  expect(await prove(identity, one.accessToken)).toEqual(refused(/it was revoked/));
  expect(await prove(identity, other.accessToken)).toEqual(proven);
});

test('where no tokens are issued, an Authorization header is somebody else’s business', async () => {
  const { accessToken } = await signIn(openIdentity().identity);
  const { identity } = openIdentity({ jwtSecret: undefined });

  expect(await prove(identity, accessToken)).toEqual({ status: 'absent' });
});

test('other schemes are left alone; Bearer is known in any letter case', async () => {
  const { identity } = openIdentity();
  const { accessToken } = await signIn(identity);

  expect(await prove(identity, accessToken, 'bearer')).toEqual(proven);
  expect(await prove(identity, accessToken, 'Basic')).toEqual({ status: 'absent' });
  expect(await prove(identity, '')).toEqual({ status: 'absent' });
});

test('beside a token that is not good, SIGN-IN-WITH-X still proves the wallet; a good token spares its nonce', async () => {
  const { identity } = openIdentity();
  const { accessToken } = await signIn(identity);
  const header = signInHeader(alice, signInInfo(await identity.challenge(requestWith({}))));
  const both = (token: string) =>
    identity.prove(requestWith({ authorization: `Bearer ${token}`, 'sign-in-with-x': header }));

  expect(await both(accessToken)).toEqual(proven);
  expect(await both('not-a-token')).toMatchObject({ status: 'proven', wallet: { by: 'siwx' } });
  expect(await both('not-a-token')).toMatchObject({ status: 'refused', code: 'sign_in_replayed' });
});

test('garbage is refused and never throws', async () => {
  const { identity } = openIdentity();
  const { accessToken } = await signIn(identity);
  const part = fc.oneof(
    fc.base64String(),
    fc.json().map((it) => Buffer.from(it).toString('base64url')),
  );
  const jwtLike = fc.tuple(part, part, part).map((parts) => parts.join('.'));
  const cut = fc.nat(accessToken.length - 1).map((at) => accessToken.slice(0, at));
  const flipped = fc
    .nat(accessToken.length - 2)
    .map((at) => accessToken.slice(0, at) + (accessToken[at] === 'A' ? 'B' : 'A') + accessToken.slice(at + 1));
  const printable = fc.stringMatching(/^[!-~]{1,80}$/);
  await fc.assert(
    fc.asyncProperty(fc.oneof(printable, jwtLike, cut.filter(Boolean), flipped), async (token) => {
      expect(await prove(identity, token)).toEqual(refused(/^The access token is not accepted: /));
    }),
    { numRuns: 500 },
  );
});

test('a token that is too long is not looked at', async () => {
  const { identity } = openIdentity();
  expect(await prove(identity, 'a'.repeat(5_000))).toEqual(refused(/longer than 4096/));
});

test.each<[string, IdentityChanges, RegExp]>([
  ['a short secret', { jwtSecret: 'hunter2' }, /"jwtSecret" must be at least 32 bytes long; make one with/],
  ['a short secret in a list', { jwtSecret: [SECRET, 'hunter2'] }, /at least 32 bytes/],
  ['no secret in a list', { jwtSecret: [] }, /"jwtSecret" must be a secret/],
  ['a secret that is a number', { jwtSecret: 42 as never }, /"jwtSecret" must be a secret/],
  ['a secret and keys', { keys: [ec().privateKey] }, /either "jwtSecret" or "keys"/],
  ['a key that is none', { jwtSecret: undefined, keys: ['hunter2'] }, /"keys.0" must be an EC key/],
  [
    'a key of another curve',
    { jwtSecret: undefined, keys: [generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey] },
    /"keys.0" must be an EC key on the curve P-256/,
  ],
  ['a key of another kind', { jwtSecret: undefined, keys: [createSecretKey(Buffer.alloc(32))] }, /EC key/],
  ['a public key to sign with', { jwtSecret: undefined, keys: [ec().publicKey] }, /first of "keys" signs/],
  ['no network', { network: undefined as never }, /"network" is missing: it must be "solana"/],
  ['a domain with a scheme', { domain: 'https://shop.example' }, /"domain" must be a host such as/],
  ['a domain with a path', { domain: 'shop.example/club' }, /"domain" must be a host such as/],
  ['a misspelt option', { jwtSecrets: SECRET } as object, /unknown option "jwtSecrets"; did you mean "jwtSecret"/],
  ['counters that are none', { counters: {} as never }, /"counters" must be counters/],
])('createIdentity refuses %s, at once and without showing it', (_name, options, message) => {
  const make = () => openIdentity(options);
  expect(make).toThrow(message);
  expect(make).not.toThrow(/hunter2|42|PRIVATE/);
});
