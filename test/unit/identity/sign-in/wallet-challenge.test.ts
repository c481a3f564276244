import bs58 from 'bs58';
import fc from 'fast-check';
import { parseSiwsMessage } from '../../../../src/identity/sign-in/siws-message.js';
import { anyText } from '../../../helpers/any-text.js';
import { codeOf } from '../../../helpers/code-of.js';
import { openIdentity, requestWith } from '../../../helpers/fixtures/identity-fixture.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const URL_ASKED = 'https://shop.example:8443/api/v1/auth/challenge';
const alice = walletKey('alice');
const bob = walletKey('bob');

test('a challenge is a Sign In With Solana text for the site and the wallet', async () => {
  const { identity } = openIdentity();
  const { message, nonce, expiresAt } = await identity.issueChallenge(alice.address, URL_ASKED, URL_ASKED);

  expect(message).toBe(`shop.example:8443 wants you to sign in with your Solana account:
${alice.address}

Sign in with your wallet. This costs nothing.

URI: https://shop.example:8443
Version: 1
Chain ID: devnet
Nonce: ${nonce}
Issued At: 2026-01-02T03:04:05.678Z
Expiration Time: 2026-01-02T03:09:05.678Z`);
  expect(new Date(expiresAt).toISOString()).toBe('2026-01-02T03:09:05.678Z');
});

test.each([
  ['solana', 'mainnet'],
  ['solana-devnet', 'devnet'],
  ['solana-testnet', 'testnet'],
] as const)(
  'on %s the message names %s, the configured host and the configured statement',
  async (network, chainId) => {
    const { identity } = openIdentity({ network, domain: 'shop.example', statement: 'Come in.' });
    const { message } = await identity.issueChallenge(alice.address, 'http://10.0.0.7:3000/api/v1/auth/challenge');

    expect(parseSiwsMessage(message)).toMatchObject({
      ok: true,
      value: { domain: 'shop.example', uri: 'http://shop.example', chainId, statement: 'Come in.' },
    });
  },
);

test.each([
  ['base58', (signature: string) => signature],
  ['base64', (signature: string) => Buffer.from(bs58.decode(signature)).toString('base64')],
])('a signature in %s is taken', async (_name, write) => {
  const { identity } = openIdentity();
  const { message, nonce } = await identity.issueChallenge(alice.address, URL_ASKED, URL_ASKED);
  const signature = write(alice.sign(message));

  expect(await identity.exchange({ wallet: alice.address, nonce, signature })).toMatchObject({ expiresInSeconds: 900 });
});

test('a challenge is answered once, however many answers arrive together', async () => {
  const { identity } = openIdentity();
  const { message, nonce } = await identity.issueChallenge(alice.address, URL_ASKED, URL_ASKED);
  const answer = { wallet: alice.address, nonce, signature: alice.sign(message) };
  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => identity.exchange(answer)));

  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await codeOf(identity.exchange(answer))).toBe('sign_in_replayed');
});

test('a challenge can be answered for five minutes, and not replayed afterwards', async () => {
  const { identity, advance } = openIdentity();
  const [used, late] = [
    await identity.issueChallenge(alice.address, URL_ASKED, URL_ASKED),
    await identity.issueChallenge(alice.address, URL_ASKED, URL_ASKED),
  ].map(({ message, nonce }) => ({ wallet: alice.address, nonce, signature: alice.sign(message) }));
  advance(299_999);
  await identity.exchange(used!);
  advance(1);

  expect(await codeOf(identity.exchange(used!))).toBe('invalid_sign_in');
  expect(await codeOf(identity.exchange(late!))).toBe('invalid_sign_in');
});

test('an answer by anybody else, to anything else, is refused and leaves the challenge open', async () => {
  const { identity } = openIdentity();
  const { message, nonce } = await identity.issueChallenge(alice.address, URL_ASKED, URL_ASKED);
  const good = { wallet: alice.address, nonce, signature: alice.sign(message) };
  const wrong = [
    { ...good, signature: bob.sign(message) },
    { ...good, wallet: bob.address, signature: bob.sign(message) },
    { ...good, wallet: bob.address, signature: bob.sign(message.replace(alice.address, bob.address)) },
    { ...good, signature: alice.sign(`${message} `) },
    { ...good, signature: alice.sign(message.replace('shop.example:8443', 'evil.example')) },
    { ...good, signature: '' },
    { ...good, nonce: 'abcdefgh' },
    { ...good, wallet: '1'.repeat(32) },
  ];
  for (const answer of wrong) expect(await codeOf(identity.exchange(answer))).toBe('invalid_sign_in');

  expect(await identity.exchange(good)).toHaveProperty('accessToken');
});

test('garbage is refused and never breaks', async () => {
  const { identity } = openIdentity();
  const text = anyText();
  await fc.assert(
    fc.asyncProperty(text, text, text, async (wallet, nonce, signature) => {
      expect(await codeOf(identity.exchange({ wallet, nonce, signature }))).toBe('invalid_sign_in');
    }),
  );
});

test('without a secret or keys there is nothing to sign in for, and the error says what there is', async () => {
  const { identity } = openIdentity({ jwtSecret: undefined });
  const calls = [
    identity.issueChallenge(alice.address, URL_ASKED, URL_ASKED),
    identity.exchange({ wallet: alice.address, nonce: 'abcdefgh', signature: '' }),
    identity.refresh('trt_'),
    identity.revoke('trt_'),
  ];
  for (const call of calls) {
    await expect(call).rejects.toMatchObject({
      code: 'not_configured',
      message: expect.stringMatching(/SIGN-IN-WITH-X/),
    });
  }
  expect(await identity.challenge(requestWith({}))).toHaveProperty('extensions');
});
