import { Keypair } from '@solana/web3.js';
import { createPaymentRequests } from '../../../../src/facilitator/requests/payment-requests.js';
import { KNOWN_TOKENS } from '../../../../src/protocol/networks/tokens.js';
import { createMintPolicy } from '../../../../src/solana/accounts/mint-policy.js';
import { createBlockhashCache } from '../../../../src/solana/confirmation/blockhash-cache.js';
import {
  FEE_PAYER_ADDRESS,
  NETWORK,
  newRequest,
  openPaymentService,
  paying,
} from '../../../helpers/fixtures/payment-service-fixture.js';

/** A request that is kept, and the payments of a facilitator that prepare it. */
async function open() {
  const fixture = openPaymentService();
  const hash = { blockhash: Keypair.generate().publicKey.toBase58(), lastValidBlockHeight: 150 };
  const rpc = { ...fixture.parts.rpc, getLatestBlockhash: async () => hash };
  const requests = createPaymentRequests({
    ...fixture.parts,
    rpc,
    tokens: KNOWN_TOKENS[NETWORK],
    blockhashes: createBlockhashCache({ rpc }),
    confirmMint: async () => undefined,
    mintPolicy: createMintPolicy({ rpc, allowedMints: new Set(), trustedMints: new Set() }),
    feePayer: FEE_PAYER_ADDRESS,
  });
  const request = newRequest(fixture.now());
  await fixture.ledger.savePaymentRequest(request);
  const { decoded, payer } = paying(request);
  const { messageHash: id, blockhash } = decoded;
  const terms = {
    scheme: 'transfer',
    network: NETWORK,
    asset: request.token.mint,
    amount: request.amount,
    payTo: request.payTo,
    maxTimeoutSeconds: 60,
  } as const;
  const claim = { id, binding: 'x', payer, terms, blockhash, lease: 'its', leaseMs: 30_000 };
  const attach = async (): Promise<void> => {
    await fixture.ledger.claim(claim);
    await fixture.ledger.attachAttempt(request.id, id);
  };
  const prepare = (by: 'facilitator' | 'payer' = 'facilitator') => requests.preparePayment(request.id, payer, by);
  return { ...fixture, requests, request, payer, claim, attach, prepare };
}

test('a request is prepared for any payer, at our cost or its own; an unknown one is not', async () => {
  const { requests, request, payer, prepare } = await open();
  for (const [by, feePayer] of [
    ['facilitator', FEE_PAYER_ADDRESS],
    ['payer', payer],
  ] as const) {
    expect(await prepare(by)).toMatchObject({ request: { id: request.id }, transfer: { from: payer, feePayer } });
  }
  expect(await requests.preparePayment('pay_none', payer, 'payer')).toBeUndefined();
  expect(await requests.settleRequest('pay_none', new Uint8Array())).toEqual({ status: 'not_found' });
});

test('a request whose transaction is on its way gives none to sign', async () => {
  const { prepare, attach, ledger, claim } = await open();
  await attach();
  const onItsWay = {
    code: 'payment_in_progress',
    message: 'A transaction for this payment is on its way; ask again in a moment what has become of it.',
    context: { retryAfterSeconds: 2 },
  };
  await expect(prepare()).rejects.toMatchObject(onItsWay);
  await ledger.recordBroadcast(claim.id, claim.lease, { signature: 'sent' });
  await expect(prepare()).rejects.toMatchObject(onItsWay);
});

test('a request that is settled is not paid again', async () => {
  const { prepare, attach, ledger, claim } = await open();
  await attach();
  await ledger.recordOutcome(claim.id, claim.lease, { state: 'confirmed', slot: 3, signature: 'sent' });
  await expect(prepare()).rejects.toMatchObject({
    code: 'payment_already_settled',
    message: 'This payment is settled already.',
  });
});

test('a request is prepared up to the very end of its time', async () => {
  const { prepare, advance, request } = await open();
  await advance(60_000);
  expect((await prepare())?.request.id).toBe(request.id);
  await advance(1);
  await expect(prepare()).rejects.toMatchObject({
    code: 'payment_expired',
    message: 'The time for this payment is over; create a new one.',
  });
});
