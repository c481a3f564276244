import type { WalletIdentity } from '../../../../src/identity/create-identity.js';
import type { Counters } from '../../../../src/storage/counters/counters.js';
import { createMemoryCounters } from '../../../../src/storage/counters/memory-counters.js';
import { codeOf } from '../../../helpers/code-of.js';
import { openIdentity, requestWith } from '../../../helpers/fixtures/identity-fixture.js';
import { walletKey } from '../../../helpers/transactions/wallet-key.js';

const alice = walletKey('alice');
const bob = walletKey('bob');
const DAY_MS = 86_400_000;

async function signIn(identity: WalletIdentity, wallet = alice) {
  const { message, nonce } = await identity.issueChallenge(
    wallet.address,
    'https://shop.example/',
    'https://shop.example/',
  );
  return identity.exchange({ wallet: wallet.address, nonce, signature: wallet.sign(message) });
}

async function statusOf(identity: WalletIdentity, accessToken: string) {
  return (await identity.prove(requestWith({ authorization: `Bearer ${accessToken}` }))).status;
}

test('a refresh token gives the next pair, for the same wallet', async () => {
  const { identity } = openIdentity({ scopes: ['a', 'b'] });
  const first = await signIn(identity);
  const second = await identity.refresh(first.refreshToken);

  expect(first.refreshToken).toMatch(/^trt_[-_A-Za-z0-9]{22}\.[-_A-Za-z0-9]{43}$/);
  expect(second.refreshToken).not.toBe(first.refreshToken);
  expect(second.expiresInSeconds).toBe(900);
  expect(await identity.prove(requestWith({ authorization: `Bearer ${second.accessToken}` }))).toEqual({
    status: 'proven',
    wallet: { address: alice.address, by: 'jwt', scopes: ['a', 'b'] },
  });
});

test('a refresh token that is used again ends its session, with every access token of it', async () => {
  const { identity, advance } = openIdentity();
  const other = await signIn(identity);
  const first = await signIn(identity);
  const second = await identity.refresh(first.refreshToken);
  advance(10_001);
  const third = await identity.refresh(second.refreshToken);

  expect(await codeOf(identity.refresh(first.refreshToken))).toBe('invalid_refresh_token');
  expect(await codeOf(identity.refresh(third.refreshToken))).toBe('invalid_refresh_token');
  for (const { accessToken } of [first, second, third]) expect(await statusOf(identity, accessToken)).toBe('refused');
  expect(await statusOf(identity, other.accessToken)).toBe('proven');
  await identity.refresh(other.refreshToken);
});

test('one refresh token used many times at once, or again within ten seconds, gets the session on, with one next token', async () => {
  const { identity, advance } = openIdentity();
  const { refreshToken } = await signIn(identity);
  const grants = await Promise.all(Array.from({ length: 10 }, () => identity.refresh(refreshToken)));
  advance(10_000);
  const late = await identity.refresh(refreshToken);

  expect(new Set([...grants, late].map((it) => it.refreshToken)).size).toBe(1);
  for (const grant of [...grants, late]) expect(await statusOf(identity, grant.accessToken)).toBe('proven');
  await identity.refresh(late.refreshToken);
});

test('a refresh token that comes again after ten seconds ends the session, whether the next one was used or not', async () => {
  const { identity, advance } = openIdentity();
  const [one, other] = [await signIn(identity), await signIn(identity)];
  const next = await identity.refresh(one.refreshToken);
  const second = await identity.refresh(other.refreshToken);
  advance(5_000);
  const third = await identity.refresh(second.refreshToken);
  advance(5_001);

  expect(await codeOf(identity.refresh(other.refreshToken))).toBe('invalid_refresh_token');
  expect(await codeOf(identity.refresh(third.refreshToken))).toBe('invalid_refresh_token');
  expect(await codeOf(identity.refresh(one.refreshToken))).toBe('invalid_refresh_token');
  expect(await codeOf(identity.refresh(next.refreshToken))).toBe('invalid_refresh_token');
  for (const { accessToken } of [one, other, next, third])
    expect(await statusOf(identity, accessToken)).toBe('refused');
});

test('of three tabs that refresh at once, the one that comes last with the first token gets the session on', async () => {
  const { identity, advance } = openIdentity();
  const first = await signIn(identity);
  const second = await identity.refresh(first.refreshToken);
  const third = await identity.refresh(second.refreshToken);
  advance(10_000);
  const [late, later] = [await identity.refresh(first.refreshToken), await identity.refresh(second.refreshToken)];

  expect([late.refreshToken, later.refreshToken]).toEqual([third.refreshToken, third.refreshToken]);
  for (const { accessToken } of [first, second, third, late, later]) {
    expect(await statusOf(identity, accessToken)).toBe('proven');
  }
  const fourth = await identity.refresh(late.refreshToken);
  expect(await statusOf(identity, fourth.accessToken)).toBe('proven');
  expect((await identity.refresh(first.refreshToken)).refreshToken).toBe(fourth.refreshToken);
});

test('nine tokens that were used within ten seconds get the session on, and one before them ends it', async () => {
  const { identity } = openIdentity();
  const tokens = [(await signIn(identity)).refreshToken];
  for (let n = 0; n < 10; n += 1) tokens.push((await identity.refresh(tokens.at(-1)!)).refreshToken);
  const current = tokens.at(-1)!;

  for (const token of tokens.slice(1, -1)) expect((await identity.refresh(token)).refreshToken).toBe(current);
  expect(await codeOf(identity.refresh(tokens[0]!))).toBe('invalid_refresh_token');
  expect(await codeOf(identity.refresh(current))).toBe('invalid_refresh_token');
});

test('a wallet has fifty sessions: one more ends that of its own that was not used for longest', async () => {
  const { identity, advance } = openIdentity();
  const sessions = [];
  for (let n = 0; n < 50; n += 1) sessions.push(await signIn(identity));
  const [first, second] = sessions;
  const used = await identity.refresh(first!.refreshToken);
  await signIn(identity);
  advance(10_001);

  await identity.refresh(used.refreshToken);
  expect(await codeOf(identity.refresh(second!.refreshToken))).toBe('invalid_refresh_token');
});

test.each(['refreshToken', 'accessToken'] as const)(
  'revoking everywhere by its %s ends all sessions of a wallet, and nobody else’s',
  async (kind) => {
    const { identity } = openIdentity();
    const sessions = await Promise.all(Array.from({ length: 5 }, () => signIn(identity)));
    const other = await signIn(identity, bob);
    await identity.revoke(sessions[0]![kind], { everywhere: true });

    for (const { refreshToken, accessToken } of sessions) {
      expect(await statusOf(identity, accessToken)).toBe('refused');
      expect(await codeOf(identity.refresh(refreshToken))).toBe('invalid_refresh_token');
    }
    expect(await statusOf(identity, other.accessToken)).toBe('proven');
    await identity.refresh(other.refreshToken);
    expect(await statusOf(identity, (await signIn(identity)).accessToken)).toBe('proven');
  },
);

test('revoking everywhere by what is no good token changes nothing', async () => {
  const { identity, advance } = openIdentity();
  const session = await signIn(identity);
  for (const token of ['', 'trt_', `trt_${'A'.repeat(22)}.${'A'.repeat(43)}`]) {
    await identity.revoke(token, { everywhere: true });
  }
  const { accessToken: old } = session;
  advance(16 * 60_000);
  await identity.revoke(old, { everywhere: true });

  await identity.refresh(session.refreshToken);
});

test('a session ends when its time is over, however often it was refreshed', async () => {
  const { identity, advance } = openIdentity({ sessionMs: 2 * DAY_MS });
  const first = await signIn(identity);
  advance(1.5 * DAY_MS);
  const second = await identity.refresh(first.refreshToken);
  advance(0.5 * DAY_MS);

  expect(await codeOf(identity.refresh(second.refreshToken))).toBe('invalid_refresh_token');
});

test('revoking a refresh token ends its session', async () => {
  const { identity } = openIdentity();
  const first = await signIn(identity);
  const second = await identity.refresh(first.refreshToken);
  await identity.revoke(second.refreshToken);

  for (const { accessToken } of [first, second]) expect(await statusOf(identity, accessToken)).toBe('refused');
  expect(await codeOf(identity.refresh(second.refreshToken))).toBe('invalid_refresh_token');
});

test('what is no refresh token of ours gives nothing, and revoking it changes nothing', async () => {
  const { identity } = openIdentity();
  const { accessToken, refreshToken } = await signIn(identity);
  const strange = ['', 'trt_', refreshToken.slice(0, -1), accessToken, `trt_${'A'.repeat(22)}.${'A'.repeat(43)}`];
  for (const token of strange) expect(await codeOf(identity.refresh(token))).toBe('invalid_refresh_token');
  for (const token of strange.filter((it) => it !== accessToken)) await identity.revoke(token);

  expect(await statusOf(identity, accessToken)).toBe('proven');
  await identity.refresh(refreshToken);
});

test('the store holds nothing that its reader could use', async () => {
  const written: string[] = [];
  const memory = createMemoryCounters();
  const counters: Counters = {
    ...memory,
    put: (key, value, ttlMs) => {
      written.push(key, value);
      return memory.put(key, value, ttlMs);
    },
    replace: (key, expected, value, ttlMs) => {
      written.push(key, value);
      return memory.replace(key, expected, value, ttlMs);
    },
  };
  const { identity } = openIdentity({ counters, now: Date.now });
  const first = await signIn(identity);
  const second = await identity.refresh(first.refreshToken);
  const secrets = [first, second].flatMap(({ refreshToken, accessToken }) => [
    ...refreshToken.slice('trt_'.length).split('.'),
    accessToken,
  ]);

  expect(written.some((it) => it.startsWith('session:'))).toBe(true);
  for (const secret of secrets) expect(written.join('\n')).not.toContain(secret);
});
