import { VersionedTransaction } from '@solana/web3.js';
import { createRouter } from '../../src/routers/create-router.js';
import { openTollStand, type TollStand } from '../helpers/toll-stand.js';

describe('payments of our own making', () => {
  let stand: TollStand;
  let url: string;

  beforeAll(async () => {
    stand = await openTollStand();
    url = await stand.serve((app) => app.use(createRouter({ facilitator: stand.facilitator, limits: false })));
  });
  afterAll(() => stand.close());

  const post = async (path: string, body: unknown) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, never> };
  };

  test.each([
    ['USDC', 0.5],
    ['USDT', 0.25],
    ['PYUSD', 1],
    ['SOL', 0.001],
  ])('%s: created, signed, settled, verified', async (token, amount) => {
    const payer = await stand.sandbox.createWallet({ sol: '1', usdc: '10', usdt: '10', pyusd: '10' });
    const created = await post('/create-payment', {
      amount,
      token,
      recipient: stand.payTo,
      payer: payer.publicKey.toBase58(),
    });
    expect(created.status).toBe(200);
    const { payment_id, transaction } = created.body as unknown as {
      payment_id: string;
      transaction: { serialized: string };
    };
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction.serialized, 'base64'));
    signed.sign([payer]);
    const signed_transaction = Buffer.from(signed.serialize()).toString('base64');
    const settled = await post('/settle', { payment_id, signed_transaction });
    expect(settled).toMatchObject({ status: 200, body: { success: true, status: 'confirmed' } });
    const { tx_signature } = settled.body as unknown as { tx_signature: string };
    const verified = await post('/verify', { tx_signature });
    expect(verified).toMatchObject({
      status: 200,
      body: { verified: true, status: 'confirmed', amount, token, from: payer.publicKey.toBase58(), to: stand.payTo },
    });
    expect(await post('/settle', { payment_id, signed_transaction })).toEqual(settled);
  });
});
