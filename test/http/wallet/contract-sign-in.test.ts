import { useContractFixture } from '../../helpers/fixtures/contract-fixture.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const fixture = useContractFixture();
const wallet = walletKey('contract');
const post = (path: string, body: unknown) => fixture().ask('POST', `/api/v1/auth${path}`, body);

async function signIn() {
  const { body } = await post('/challenge', { wallet: wallet.address });
  const { message, nonce } = body as { message: string; nonce: string };
  return { wallet: wallet.address, nonce, signature: wallet.sign(message) };
}

test('a challenge is signed, tokens are given, renewed and taken back', async () => {
  const granted = await post('/token', await signIn());
  expect(granted).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 900 } });
  const renewed = await post('/refresh', { refresh_token: granted.body['refresh_token'] });
  expect(renewed.status).toBe(200);
  expect((await post('/revoke', { token: renewed.body['refresh_token'] })).status).toBe(204);
  const over = await post('/refresh', { refresh_token: renewed.body['refresh_token'] });
  expect([over.status, over.body['code']]).toEqual([401, 'invalid_refresh_token']);
});

test('a signature is good once', async () => {
  const signed = await signIn();
  expect((await post('/token', signed)).status).toBe(200);
  const again = await post('/token', signed);
  expect([again.status, again.body['code']]).toEqual([401, 'sign_in_replayed']);
});

test.each([
  ['/challenge', { wallet: 'nobody' }, '/wallet'],
  ['/token', { wallet: wallet.address }, '/nonce'],
  ['/refresh', {}, '/refresh_token'],
  ['/revoke', { token: '' }, '/token'],
])('POST /api/v1/auth%s is 422 for %j, and points to the field', async (path, body, pointer) => {
  const answer = await post(path, body);
  expect([answer.status, answer.body['code']]).toEqual([422, 'validation_failed']);
  expect(answer.body['errors']).toContainEqual(expect.objectContaining({ pointer }));
});
