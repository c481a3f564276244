import { type CompleteSIWxInfo, formatSIWSMessage } from '@x402/extensions/sign-in-with-x';
import fc from 'fast-check';
import {
  buildSiwsMessage,
  MAX_SIWS_LENGTH,
  parseSiwsMessage,
  type SiwsMessage,
} from '../../../../src/identity/sign-in/siws-message.js';
import { addressOf } from '../../../../src/protocol/address.js';
import { anyText } from '../../../helpers/any-text.js';

const MESSAGE: SiwsMessage = {
  domain: 'shop.example:8443',
  address: 'BSmWDgE9ex6dZYbiTsJGcwMEgFp8q4aWh92hdErQPeVW',
  statement: 'Sign in to the shop.',
  uri: 'https://shop.example:8443/club',
  version: '1',
  chainId: 'devnet',
  nonce: 'abcdefgh12345678',
  issuedAt: '2026-01-02T03:04:05.678Z',
  expirationTime: '2026-01-02T03:09:05.678Z',
};

const TEXT = `shop.example:8443 wants you to sign in with your Solana account:
BSmWDgE9ex6dZYbiTsJGcwMEgFp8q4aWh92hdErQPeVW

Sign in to the shop.

URI: https://shop.example:8443/club
Version: 1
Chain ID: devnet
Nonce: abcdefgh12345678
Issued At: 2026-01-02T03:04:05.678Z
Expiration Time: 2026-01-02T03:09:05.678Z`;

const time = fc
  .date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })
  .map((it) => it.toISOString());
const uri = fc.webUrl({ withFragments: true, withQueryParameters: true });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const messages: fc.Arbitrary<SiwsMessage> = fc
  .record({
    domain: fc.webAuthority({ withPort: true }).filter((it) => /^[-.:A-Za-z0-9]+$/.test(it)),
    address: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressOf),
    statement: optional(fc.string({ minLength: 1, maxLength: 80 })),
    uri,
    version: fc.constant('1'),
    chainId: fc.constantFrom('mainnet', 'devnet', 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1'),
    nonce: fc.stringMatching(/^[A-Za-z0-9]{8,40}$/),
    issuedAt: time,
    expirationTime: optional(time),
    notBefore: optional(time),
    requestId: optional(fc.stringMatching(/^[!-~]{1,40}$/)),
    resources: optional(fc.array(uri, { minLength: 1, maxLength: 3 })),
  })
  .map((it) => Object.fromEntries(Object.entries(it).filter(([, value]) => value !== undefined)) as typeof it);

test('the text of a message is that of Sign In With Solana, to the letter', () => {
  expect(buildSiwsMessage(MESSAGE)).toBe(TEXT);
});

test('what is built is read back as it was', () => {
  fc.assert(
    fc.property(messages, (message) => {
      expect(parseSiwsMessage(buildSiwsMessage(message))).toEqual({ ok: true, value: message });
    }),
  );
});

test('the text is the one that the official formatter makes', () => {
  fc.assert(
    fc.property(messages, ({ address, chainId, resources, ...info }) => {
      const official = { ...info, resources, chainId: `solana:${chainId}`, type: 'ed25519' } as CompleteSIWxInfo;
      expect(buildSiwsMessage({ ...info, address, chainId, resources })).toBe(formatSIWSMessage(official, address));
    }),
  );
});

test('a text that is read is exactly what its fields make, whatever was changed in it', () => {
  let accepted = 0;
  const piece = fc.oneof(
    fc.constantFrom('\n', '\n\n', 'URI: x', 'Nonce: ', ' ', 'Resources:', '- a', '\r'),
    fc.string(),
  );
  fc.assert(
    fc.property(messages, fc.nat(), fc.nat(20), piece, (message, at, removed, inserted) => {
      const text = buildSiwsMessage(message);
      const position = at % text.length;
      const changed = text.slice(0, position) + inserted + text.slice(position + removed);
      const reading = parseSiwsMessage(changed);
      if (reading.ok) accepted += 1;
      if (reading.ok) expect(buildSiwsMessage(reading.value)).toBe(changed);
    }),
    { numRuns: 2_000 },
  );
  expect(accepted).toBeGreaterThan(0);
});

test('garbage is refused with a sentence, and never throws', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const reading = parseSiwsMessage(text);
      expect(reading).toEqual({ ok: false, detail: expect.stringMatching(/^(the message|its|there is) /) });
    }),
  );
});

test.each([
  ['a field of another kind in a statement', { statement: 'hello\n\nURI: https://evil.example' }, /version is missing/],
  ['a statement that rings', { statement: 'Sign in\u0007' }, /statement must be one line/],
  ['a statement with half a character', { statement: 'Sign in \ud83d' }, /statement must be one line/],
  ['a statement that is too long', { statement: 'a'.repeat(1_025) }, /statement must be one line/],
  ['a line break in the domain', { domain: 'shop.example\nevil.example' }, /first line/],
  ['an address of the wrong length', { address: 'abc' }, /address "abc"/],
  ['a lower-cased address', { address: MESSAGE.address.toLowerCase() }, /address/],
  ['another version', { version: '2' }, /version "2"/],
  ['a short nonce', { nonce: 'abc' }, /nonce "abc"/],
  ['a nonce with a line break', { nonce: 'abcdefgh\nIssued At: x' }, /issuedAt "x/],
  ['a time that is none', { issuedAt: 'yesterday' }, /issuedAt "yesterday"/],
  ['a day that is none', { issuedAt: '2026-13-40T00:00:00Z' }, /issuedAt/],
  ['a URI with a space', { uri: 'https://shop.example/a b' }, /uri/],
  ['a missing nonce', { nonce: '' }, /nonce is missing/],
])('%s is refused', (_name, change, detail) => {
  const reading = parseSiwsMessage(buildSiwsMessage({ ...MESSAGE, ...change }));
  expect(reading).toEqual({ ok: false, detail: expect.stringMatching(detail) });
});

test('a message that is too long is not looked at', () => {
  expect(parseSiwsMessage(TEXT + ' '.repeat(MAX_SIWS_LENGTH))).toEqual({
    ok: false,
    detail: 'the message is longer than 8192 characters',
  });
});
