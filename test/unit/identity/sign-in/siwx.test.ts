import { parseSIWxHeader, validateSIWxMessage, verifySIWxSignature } from '@x402/extensions/sign-in-with-x';
import fc from 'fast-check';
import type { WalletIdentity } from '../../../../src/identity/create-identity.js';
import type { Proof } from '../../../../src/identity/types.js';
import { createMemoryCounters } from '../../../../src/storage/counters/memory-counters.js';
import { anyText } from '../../../helpers/any-text.js';
import { codeOf } from '../../../helpers/code-of.js';
import { NOON, openIdentity, requestWith } from '../../../helpers/fixtures/identity-fixture.js';
import { signInHeader, signInInfo, walletKey } from '../../../helpers/transactions/wallet-key.js';

const URL_ASKED = 'https://shop.example/club?x=1';
const alice = walletKey('alice');
const bob = walletKey('bob');

async function infoFor(identity: WalletIdentity, url = URL_ASKED) {
  return signInInfo(await identity.challenge(requestWith({}, url)));
}

async function prove(identity: WalletIdentity, header: string, url = URL_ASKED): Promise<Proof> {
  return identity.prove(requestWith({ 'sign-in-with-x': header }, url));
}

const refused = (detail: RegExp, code = 'invalid_sign_in') => ({
  status: 'refused',
  code,
  detail: expect.stringMatching(detail),
});

const proven = (address: string) => ({ status: 'proven', wallet: { address, by: 'siwx', scopes: [] } });

test('a challenge is for the address of the request, fresh each time, and ends after five minutes', async () => {
  const { identity } = openIdentity();
  const { extensions } = await identity.challenge(requestWith({}));
  const again = await infoFor(identity);

  expect(extensions).toEqual({
    'sign-in-with-x': {
      info: {
        domain: 'shop.example',
        uri: 'https://shop.example/club',
        version: '1',
        nonce: expect.stringMatching(/^[A-Za-z0-9]{40,60}$/),
        issuedAt: '2026-01-02T03:04:05.678Z',
        expirationTime: '2026-01-02T03:09:05.678Z',
        statement: 'Sign in with your wallet. This costs nothing.',
      },
      supportedChains: [
        { chainId: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', type: 'ed25519', signatureScheme: 'siws' },
      ],
      schema: expect.objectContaining({ type: 'object', required: expect.arrayContaining(['nonce', 'signature']) }),
    },
  });
  expect(again.nonce).not.toBe(signInInfo({ extensions }).nonce);
});

test('a signed challenge proves the wallet, letter case and all, once', async () => {
  const { identity } = openIdentity();
  const header = signInHeader(alice, await infoFor(identity));

  expect(await prove(identity, header)).toEqual(proven(alice.address));
  expect(await prove(identity, header)).toEqual(refused(/nonce was used before/, 'sign_in_replayed'));
});

test('of one proof sent many times at once exactly one is taken', async () => {
  const { identity } = openIdentity();
  const header = signInHeader(alice, await infoFor(identity));
  const proofs = await Promise.all(Array.from({ length: 20 }, () => prove(identity, header)));

  expect(proofs.filter(({ status }) => status === 'proven')).toHaveLength(1);
});

test('a used nonce stays used for as long as any proof with it could be accepted, under another wallet too', async () => {
  const { identity, advance } = openIdentity();
  const info = { ...(await infoFor(identity)), issuedAt: new Date(NOON + 29_000).toISOString() };
  const { expirationTime: _, ...open } = info;
  expect(await prove(identity, signInHeader(alice, open))).toEqual(proven(alice.address));

  expect(await prove(identity, signInHeader(bob, open))).toEqual(refused(/nonce was used/, 'sign_in_replayed'));
  advance(5 * 60_000 - 1);
  expect(await prove(identity, signInHeader(alice, open))).toEqual(refused(/nonce was used/, 'sign_in_replayed'));
  advance(1);
  expect(await prove(identity, signInHeader(alice, open))).toEqual(refused(/more than 5 minutes ago/));
  advance(29_000);
  expect(await prove(identity, signInHeader(alice, open))).toEqual(refused(/it expired at 2026-01-02T03:09:34.678Z/));
});

test('a refused proof leaves its nonce to the one that it belongs to', async () => {
  const { identity } = openIdentity();
  const info = await infoFor(identity);
  const forged = signInHeader(bob, info, { address: alice.address });

  expect(await prove(identity, forged)).toEqual(refused(/signature is not that of/));
  expect(await prove(identity, signInHeader(alice, info))).toEqual(proven(alice.address));
});

test('at a loopback host that only the request names, a proof is good whatever port it was signed for', async () => {
  const { identity } = openIdentity();
  const at = (url: string, headers = {}) => ({ ...requestWith(headers, url), baseUrl: undefined });
  const info = signInInfo(await identity.challenge(at('http://127.0.0.1:4000/club')));
  const signed = { 'sign-in-with-x': signInHeader(alice, info) };

  expect(info.domain).toBe('127.0.0.1:4000');
  expect(await identity.prove(at('http://127.0.0.1:5000/other', signed))).toEqual(refused(/for the path/));
  expect(await identity.prove(at('http://localhost:4000/club', signed))).toEqual(refused(/for the domain/));
  expect(await identity.prove(at('http://127.0.0.1/club', signed))).toEqual(proven(alice.address));
  expect(await identity.prove(at('http://127.0.0.1:4000/club', signed))).toEqual(
    refused(/used before/, 'sign_in_replayed'),
  );
});

test('a loopback host that is configured is named with its port', async () => {
  const { identity } = openIdentity({ domain: '127.0.0.1:4000' });
  const other = { domain: '127.0.0.1:5000', uri: 'http://127.0.0.1:5000/club' };
  const info = { ...(await infoFor(identity, 'http://127.0.0.1:4000/club')), ...other };

  expect(await prove(identity, signInHeader(alice, info), 'http://127.0.0.1:4000/club')).toEqual(
    refused(/for the domain/),
  );
});

test.each([
  ['for another domain', { domain: 'evil.example' }, /for the domain "evil.example"; this one is "shop.example"/],
  ['for the domain in other letters', { domain: 'SHOP.example' }, /for the domain/],
  ['for a URI of another site', { uri: 'https://evil.example/club' }, /URI is of "https:\/\/evil.example"/],
  ['for a URI without TLS', { uri: 'http://shop.example/club' }, /URI is of "http:\/\/shop.example"/],
  ['for a URI with a user in it', { uri: 'https://shop.example@evil.example/' }, /is not an address/],
  ['for another path', { uri: 'https://shop.example/cheap' }, /for the path "\/cheap"; this takes "\/club"/],
  ['for a URI that is none', { uri: 'club' }, /is not an address/],
  ['for another cluster', { chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }, /for the chain/],
  ['issued in the future', { issuedAt: '2026-01-02T03:04:36.000Z' }, /issued in the future/],
  ['issued too long ago', { issuedAt: '2026-01-02T02:59:05.678Z' }, /expired at 2026-01-02T03:04:05.678Z/],
  ['expired', { expirationTime: '2026-01-02T03:04:05.678Z' }, /expired at 2026-01-02T03:04:05.678Z/],
  ['not valid yet', { notBefore: '2026-01-02T03:04:05.679Z' }, /not valid before/],
  ['with a time that is none', { issuedAt: 'now' }, /issuedAt "now" is not valid/],
  ['with an expiry that is none', { expirationTime: 'never' }, /expirationTime "never" is not valid/],
  ['with a nonce that is too short', { nonce: 'abc' }, /nonce "abc"/],
  ['in another version', { version: '2' }, /version "2"/],
])('a good signature over a proof %s is refused', async (_name, change, detail) => {
  const { identity } = openIdentity();
  const header = signInHeader(alice, { ...(await infoFor(identity)), ...change });

  expect(await prove(identity, header)).toEqual(refused(detail));
});

test.each([
  ['without a signature', { signature: undefined }, /signature: a text/],
  ['with an empty signature', { signature: '' }, /not base58 of 64 bytes/],
  ['signed by somebody else', { address: bob.address }, /signature is not that of/],
  ['for a lower-cased address', { address: alice.address.toLowerCase() }, /address|signature is not that of/],
  [
    'for the address of no one, which anybody can sign for',
    { address: '1'.repeat(32) },
    /signature is not that of 1111/,
  ],
  ['with another statement than was signed', { statement: 'Something else' }, /signature is not that of/],
  ['with another expiry than was signed', { expirationTime: '2026-01-02T03:04:50Z' }, /signature is not that of/],
  ['with another nonce than was signed', { nonce: 'abcdefgh' }, /signature is not that of/],
  ['of another kind of wallet', { type: 'eip191' }, /only Solana wallets/],
  ['with lines smuggled into a field', { statement: 'hi\n\nURI: https://evil.example' }, /version is missing/],
  ['with a number for a text', { nonce: 12345678 }, /nonce: a text/],
])('a proof %s is refused', async (_name, sent, detail) => {
  const { identity } = openIdentity();
  const header = signInHeader(alice, await infoFor(identity), sent);

  expect(await prove(identity, header)).toEqual(refused(detail));
});

test('a proof for the site as a whole is good for each of its paths that takes one, and for no other', async () => {
  const { identity } = openIdentity();
  const header = signInHeader(alice, { ...(await infoFor(identity)), uri: 'https://shop.example/' });
  const asked = { ...requestWith({ 'sign-in-with-x': header }), method: 'GET' };

  expect(await identity.prove(asked)).toEqual(refused(/for the path "\/"; this takes "\/club"/));
  expect(await identity.prove({ ...asked, scope: 'site' })).toEqual(proven(alice.address));
});

test('optional fields may be there, be null, or be missing', async () => {
  const { identity } = openIdentity();
  const { statement: _, expirationTime: __, ...bare } = await infoFor(identity);
  const nulls = { statement: null, expirationTime: null, notBefore: null, requestId: null, resources: null };
  expect(await prove(identity, signInHeader(alice, bare, nulls))).toEqual(proven(alice.address));

  const full = {
    ...(await infoFor(identity)),
    notBefore: '2026-01-02T03:04:05Z',
    requestId: 'request-1',
    resources: ['https://shop.example/club', 'ipfs://anything'],
  };
  expect(await prove(identity, signInHeader(alice, full, { more: 'is ignored' }))).toEqual(proven(alice.address));
});

test('with a domain set, neither the host of the request nor its port says what a sign-in is for', async () => {
  const { identity } = openIdentity({ domain: 'Shop.Example' });
  const atEvil = 'https://evil.example:8443/club';
  const info = await infoFor(identity, atEvil);
  expect(info).toMatchObject({ domain: 'shop.example', uri: 'https://shop.example/club' });
  expect(await prove(identity, signInHeader(alice, info), atEvil)).toEqual(proven(alice.address));

  const baited = { ...info, nonce: 'abcdefgh1', domain: 'evil.example:8443', uri: atEvil };
  expect(await prove(identity, signInHeader(alice, baited), atEvil)).toEqual(refused(/for the domain/));
});

test('a path too long for a message is challenged as the site', async () => {
  const { identity } = openIdentity();
  const url = `https://shop.example/${'a'.repeat(3_000)}`;
  const info = await infoFor(identity, url);

  expect(info.uri).toBe('https://shop.example/');
  expect(await prove(identity, signInHeader(alice, info), url)).toEqual(proven(alice.address));
});

test('a request whose address cannot be read is refused, and challenged not at all', async () => {
  const { identity } = openIdentity();
  const header = signInHeader(alice, await infoFor(identity));

  expect(await prove(identity, header, 'http://bad host/club')).toEqual(refused(/look at the Host header/));
  expect(await codeOf(identity.challenge(requestWith({}, 'http://bad host/club')))).toBe('invalid_request');
});

test('the official server code takes the proofs that we take', async () => {
  const { identity } = openIdentity({ now: Date.now, counters: createMemoryCounters() });
  const header = signInHeader(alice, await infoFor(identity));
  const payload = parseSIWxHeader(header);

  expect(await validateSIWxMessage(payload, new URL(URL_ASKED))).toEqual({ isValid: true });
  expect(await verifySIWxSignature(payload)).toEqual({ isValid: true, payer: alice.address });
  expect(await prove(identity, header)).toEqual(proven(alice.address));
});

test('a header that is too long is refused before it is decoded', async () => {
  const { identity } = openIdentity();

  expect(await prove(identity, 'A'.repeat(20_000))).toEqual(refused(/longer than 16384 bytes/));
});

test('garbage is refused and never throws', async () => {
  const { identity } = openIdentity();
  const good = signInHeader(alice, await infoFor(identity));
  const json = fc.json().map((it) => Buffer.from(it).toString('base64'));
  const cut = fc.nat(good.length - 1).map((at) => good.slice(0, at));
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), anyText(), json, cut), async (header) => {
      expect(await prove(identity, header)).toEqual(refused(/^SIGN-IN-WITH-X: /));
    }),
    { numRuns: 500 },
  );
});

test('any change to a signed payload is refused', async () => {
  const { identity } = openIdentity();
  const payload = JSON.parse(Buffer.from(signInHeader(alice, await infoFor(identity)), 'base64').toString());
  const names = Object.keys(payload);
  const value = fc.oneof(fc.string(), fc.constant(null), fc.integer(), fc.constant(bob.address));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), value, async (name, changed) => {
      fc.pre(changed !== payload[name]);
      const header = Buffer.from(JSON.stringify({ ...payload, [name]: changed })).toString('base64');
      expect(await prove(identity, header)).toMatchObject({ status: 'refused', code: 'invalid_sign_in' });
    }),
  );
});

test('without a proof there is none; a store that is gone lets nobody in', async () => {
  const { identity } = openIdentity();
  expect(await identity.prove(requestWith({}))).toEqual({ status: 'absent' });

  const full = openIdentity({ counters: createMemoryCounters({ maxMarks: 1, now: () => NOON }) });
  expect(await prove(full.identity, signInHeader(alice, await infoFor(full.identity)))).toEqual(proven(alice.address));
  const next = signInHeader(bob, await infoFor(full.identity));
  expect(await codeOf(prove(full.identity, next))).toBe('store_unavailable');
});

describe('a sign-in that is given back since a payment is asked for', () => {
  const nonceOf = async (identity: WalletIdentity) => (await infoFor(identity)).nonce;

  async function givenBack() {
    const { identity } = openIdentity();
    const header = signInHeader(alice, await infoFor(identity));
    const { use } = await identity.inspect!(requestWith({ 'sign-in-with-x': header }, URL_ASKED));
    expect(await use?.take()).toBeUndefined();
    const next = await nonceOf(identity);
    await use?.giveBack(next);
    const recall = (nonce: string, url = URL_ASKED) => identity.recall!(nonce, requestWith({}, url));
    return { identity, header, next, recall };
  }

  test('is known once by the challenge that comes with the 402, at the same address', async () => {
    const { identity, next, recall } = await givenBack();
    expect((await recall(next, 'https://shop.example/other')).proof.status).toBe('absent');
    expect((await recall(await nonceOf(identity))).proof.status).toBe('absent');
    const [one, other] = [await recall(next), await recall(next)];
    expect(one.proof).toEqual(proven(alice.address));

    expect(await one.use?.take()).toBeUndefined();
    expect(await other.use?.take()).toMatchObject({ code: 'sign_in_replayed' });
    expect((await recall(next)).proof.status).toBe('absent');
  });

  test('is passed on to one challenge and not from that to the next, so that it ends', async () => {
    const { identity, next, recall } = await givenBack();
    const { use } = await recall(next);
    await use?.take();
    const later = await nonceOf(identity);
    await use?.giveBack(later);

    expect((await recall(later)).proof.status).toBe('absent');
    expect((await recall(next)).proof).toEqual(proven(alice.address));
  });

  /** One header that was asked to pay several times, each time with another challenge. */
  async function askedOften(times: number) {
    const { identity, advance } = openIdentity();
    const header = signInHeader(alice, await infoFor(identity));
    const inspect = () => identity.inspect!(requestWith({ 'sign-in-with-x': header }, URL_ASKED));
    const recall = (nonce: string) => identity.recall!(nonce, requestWith({}, URL_ASKED));
    const names: string[] = [];
    const ask = async (): Promise<void> => {
      const { use } = await inspect();
      expect(await use?.take()).toBeUndefined();
      names.push(await nonceOf(identity));
      await use?.giveBack(names.at(-1));
    };
    for (let n = 0; n < times; n += 1) await ask();
    return { identity, advance, inspect, recall, names, ask };
  }

  test('has one use under all the challenges that came with its 402s, free again where that is given back', async () => {
    const { inspect, recall, names } = await askedOften(3);
    const [first, ...others] = await Promise.all([...names.map(recall), inspect()]);
    expect(await first?.use?.take()).toBeUndefined();
    for (const { use } of others) expect(await use?.take()).toMatchObject({ code: 'sign_in_replayed' });
    for (const name of names) expect((await recall(name)).proof.status).toBe('absent');
    expect((await inspect()).proof).toMatchObject({ code: 'sign_in_replayed' });

    await first?.use?.giveBack();
    for (const name of names) expect((await recall(name)).proof).toEqual(proven(alice.address));
    const again = await inspect();
    expect(await again.use?.take()).toBeUndefined();
    expect((await recall(names[2] ?? '')).proof.status).toBe('absent');
  });

  test('is taken by one of many that come at once under its names', async () => {
    const { inspect, recall, names } = await askedOften(5);
    const all = await Promise.all([...names, ...names].map(recall).concat([inspect(), inspect()]));
    const refusals = await Promise.all(all.map(({ use }) => use?.take()));
    expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(1);
  });

  test('is good under no challenge six minutes after its first use, however often and late it was given back', async () => {
    const { advance, recall, names, ask } = await askedOften(1);
    advance(4 * 60_000);
    await ask();
    advance(119_999);
    const late = await recall(names[1] ?? '');
    expect(await late.use?.take()).toBeUndefined();
    await late.use?.giveBack();
    const last = await recall(names[1] ?? '');
    expect(last.proof).toEqual(proven(alice.address));
    advance(1);
    expect(await last.use?.take()).toMatchObject({ code: 'sign_in_replayed' });
    expect((await recall(names[1] ?? '')).proof.status).toBe('absent');
  });

  test('leaves the new challenge to whoever signs it, once', async () => {
    const { identity } = openIdentity();
    const [first, second] = [await infoFor(identity), await infoFor(identity)];
    const { use } = await identity.inspect!(requestWith({ 'sign-in-with-x': signInHeader(alice, first) }, URL_ASKED));
    await use?.take();
    await use?.giveBack(second.nonce);

    expect(await prove(identity, signInHeader(alice, second))).toEqual(proven(alice.address));
    expect(await prove(identity, signInHeader(alice, second))).toMatchObject({ code: 'sign_in_replayed' });
    expect((await identity.recall!(second.nonce, requestWith({}, URL_ASKED))).proof.status).toBe('absent');
  });
});
