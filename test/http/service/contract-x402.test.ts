import type { Keypair } from '@solana/web3.js';
import type { Terms } from '../../../src/protocol/types.js';
import { encodeFacilitatorRequest } from '../../../src/protocol/wire/remote.js';
import { useContractFixture } from '../../helpers/fixtures/contract-fixture.js';
import { offeredTerms, payTerms } from '../../helpers/transactions/core-payments.js';
import { signPayment } from '../../helpers/transactions/payments.js';

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

const fixture = useContractFixture();
let payer: Keypair;

beforeAll(async () => {
  payer = await fixture().sandbox.createWallet({ usdc: '100' });
});

async function request(change: Partial<Terms> = {}) {
  const { server, seller, sandbox } = fixture();
  const terms = await offeredTerms(server.facilitator, seller);
  return encodeFacilitatorRequest(await payTerms({ sandbox, payer }, terms), { ...terms, ...change });
}

const post = (path: string, body: unknown) => fixture().ask('POST', path, body);

test('GET /supported names each kind in both versions', async () => {
  const { body } = await fixture().ask('GET', '/supported');
  expect(body).toMatchObject({
    kinds: [
      { x402Version: 2, scheme: 'exact', network: DEVNET, extra: { feePayer: expect.any(String) } },
      { x402Version: 1, scheme: 'exact', network: 'solana-devnet', extra: { feePayer: expect.any(String) } },
    ],
    signers: { 'solana:*': [expect.any(String)] },
  });
});

test('POST /verify and POST /settle take the payments of other servers, and move the money once', async () => {
  const asked = await request();
  const verified = await post('/verify', asked);
  expect(verified).toMatchObject({ status: 200, body: { isValid: true, payer: payer.publicKey.toBase58() } });
  const settled = await post('/settle', asked);
  expect(settled).toMatchObject({ status: 200, body: { success: true, network: DEVNET } });
  const again = await post('/settle', asked);
  expect(again).toMatchObject({ status: 200, body: { success: false, errorReason: 'duplicate_settlement' } });
  const looked = await post('/verify', { tx_signature: settled.body['transaction'] });
  expect(looked.body).toMatchObject({ verified: true, amount: 0.01, token: 'USDC', to: fixture().seller });
});

test('a payment of other terms is a business answer', async () => {
  const asked = await request({ amount: 1n });
  expect(await post('/verify', asked)).toMatchObject({
    status: 200,
    body: { isValid: false, invalidReason: 'invalid_exact_svm_payload_amount_mismatch' },
  });
  expect(await post('/settle', asked)).toMatchObject({ status: 200, body: { success: false, transaction: '' } });
});

test.each(['/verify', '/settle'])('POST %s is 400 for what has neither shape', async (path) => {
  const { status, body } = await post(path, { paymentPayload: {} });
  expect([status, body['code']]).toEqual([400, 'invalid_request']);
});

test('the demo route is asked for, paid and answered', async () => {
  const { server, sandbox, document } = fixture();
  const url = `${server.url}/demo`;
  const unpaid = await fixture().ask('GET', '/demo');
  expect(unpaid.status).toBe(402);
  expect(document.paths['/demo']?.['get']?.responses).toHaveProperty('402');
  const { v2 } = await signPayment({ sandbox, payer }, url);
  const paid = await fixture().ask('GET', '/demo', undefined, v2);
  expect(paid).toMatchObject({ status: 200, body: { payer: payer.publicKey.toBase58() } });
  const used = await fixture().ask('GET', '/demo', undefined, { 'payment-signature': 'nonsense' });
  expect([used.status, used.body['code']]).toEqual([400, 'invalid_payment_header']);
});
