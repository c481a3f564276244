import { useContractFixture } from '../../helpers/fixtures/contract-fixture.js';

const fixture = useContractFixture();

afterEach(() => fixture().sandbox.faults.clear());

async function outage(method: string, path: string, body?: unknown) {
  const answer = await fixture().ask(method, path, body);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answer.body['retryable']).toBe(true);
  return [answer.status, answer.body['code']];
}

test('while the chain is out of reach, every answer that needs it is 503 to retry, and health says so', async () => {
  const { sandbox, seller, server } = fixture();
  const payer = await sandbox.createWallet({ usdc: '5' });
  const created = await fixture().create(payer);
  const wallet = payer.publicKey.toBase58();
  const { mint } = server.facilitator.tokens[0]!;
  sandbox.faults.add({ kind: 'disconnect' });

  const asked = { amount: 1, token: 'USDC', recipient: seller, payer: wallet };
  expect(await outage('POST', '/create-payment', asked)).toEqual([503, 'payment_backend_unavailable']);
  const lookup = { tx_signature: '5'.repeat(87) };
  expect(await outage('POST', '/verify', lookup)).toEqual([503, 'chain_unavailable']);
  const settled = await fixture().settle(payer, created);
  expect([settled.status, settled.body['code']]).toEqual([503, 'payment_backend_unavailable']);
  const check = { wallet, token: mint, min_balance: 1 };
  expect(await outage('POST', '/token-gate/check-access', check)).toEqual([503, 'chain_unavailable']);
  expect(await outage('GET', `/token-gate/get-tier?wallet=${wallet}`)).toEqual([503, 'chain_unavailable']);
  expect(await outage('GET', '/readyz')).toEqual([503, 'not_ready']);
  expect(await outage('GET', '/wallet-status')).toEqual([503, 'chain_unavailable']);
  expect(await outage('GET', '/discovery')).toEqual([503, 'payment_backend_unavailable']);
  expect(await outage('GET', '/demo')).toEqual([503, 'payment_backend_unavailable']);
  expect(await fixture().ask('GET', '/health')).toMatchObject({
    status: 200,
    body: {
      status: 'degraded',
      networks: { 'solana-devnet': 'down' },
      facilitation: { status: 'disabled', wallet: expect.any(String) },
    },
  });

  sandbox.faults.clear();
  let again = await fixture().settle(payer, created);
  while (again.status === 503) again = await fixture().settle(payer, created);
  expect(again).toMatchObject({ status: 200, body: { success: true } });
});
