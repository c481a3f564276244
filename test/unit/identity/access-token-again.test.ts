import type { WalletIdentity } from '../../../src/identity/create-identity.js';
import { openIdentity, requestWith } from '../../helpers/fixtures/identity-fixture.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const alice = walletKey('alice');
const TOKEN_MS = 15 * 60_000;

async function acceptedToken(identity: WalletIdentity): Promise<string> {
  const { message, nonce } = await identity.issueChallenge(
    alice.address,
    'https://shop.example/',
    'https://shop.example/',
  );
  const grant = await identity.exchange({ wallet: alice.address, nonce, signature: alice.sign(message) });
  expect(await prove(identity, grant.accessToken)).toMatchObject({ status: 'proven' });
  return grant.accessToken;
}

function prove(identity: WalletIdentity, token: string) {
  return identity.prove(requestWith({ authorization: `Bearer ${token}` }));
}

describe('an access token that was accepted before', () => {
  test('is accepted up to its last millisecond and refused from then on', async () => {
    const { identity, advance, now } = openIdentity();
    const token = await acceptedToken(identity);
    const issuedAt = Math.floor(now() / 1_000) * 1_000;
    advance(issuedAt + TOKEN_MS - 1 - now());
    expect(await prove(identity, token)).toMatchObject({ status: 'proven' });
    advance(1);
    expect(await prove(identity, token)).toMatchObject({ status: 'refused', code: 'token_expired' });
  });

  test('is refused once it was revoked', async () => {
    const { identity } = openIdentity();
    const token = await acceptedToken(identity);
    await identity.revoke(token);
    expect(await prove(identity, token)).toMatchObject({ status: 'refused', code: 'invalid_access_token' });
  });

  test('vouches for no other token with the same beginning', async () => {
    const { identity } = openIdentity();
    const token = await acceptedToken(identity);
    const last = token.endsWith('A') ? 'B' : 'A';
    const forged = `${token.slice(0, -2)}${last}${last}`;
    expect(await prove(identity, forged)).toMatchObject({ status: 'refused', code: 'invalid_access_token' });
  });
});
