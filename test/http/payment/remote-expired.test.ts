import { VersionedTransaction } from '@solana/web3.js';
import express, { type Express } from 'express';
import { remoteFacilitator } from '../../../src/facilitator/remote/remote-facilitator.js';
import type { RemoteFacilitatorOptions } from '../../../src/facilitator/remote/remote-options.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { toCaip2 } from '../../../src/protocol/networks/networks.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { referenceFacilitator } from '../../helpers/http/official-servers.js';
import { type RpcProxy, startRpcProxy } from '../../helpers/nodes/rpc-proxy.js';
import { confirmed, sendToChain } from '../../helpers/transactions/direct-transfer.js';
import { receiptOf, type SignedPayment, signPayment } from '../../helpers/transactions/payments.js';

const NETWORK = toCaip2('solana-devnet');
/** What clients sign again for. */
const PLAIN = 'it is too late';

/** A facilitator that finds every payment good until it is told that all are too late. */
function foreignApp(feePayer: string, says: { verify: object; settle: object }): (app: Express) => void {
  return (app) => {
    app.get('/supported', (_req, res) => {
      const kinds = [{ x402Version: 2, scheme: 'exact', network: NETWORK, extra: { feePayer } }];
      res.json({ kinds, extensions: [], signers: { 'solana:*': [feePayer] } });
    });
    app.post('/verify', (_req, res) => void res.json(says.verify));
    app.post('/settle', (_req, res) => void res.json(says.settle));
  };
}

const TOO_LATE = [
  ['invalid_exact_svm_blockhash_expired', PLAIN],
  ['invalid_exact_svm_transaction_expired', PLAIN],
  ['transaction_simulation_failed', 'Simulation failed: "BlockhashNotFound"'],
  ['transaction_simulation_failed', 'This transaction has already been processed'],
] as const;

describe('a payment that another facilitator calls too late', () => {
  let fixture: TollFixture;
  let proxy: RpcProxy;
  let elsewhere: string;
  let runs = 0;
  const says = { verify: {}, settle: {} };
  const closers: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    fixture = await openTollFixture();
    proxy = await startRpcProxy(fixture.sandbox.rpcUrl);
    elsewhere = await fixture.serve(foreignApp(fixture.feePayer.publicKey.toBase58(), says));
  });
  beforeEach(() => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    runs = 0;
    proxy.decide = () => 'pass';
    Object.assign(says, { verify: { isValid: true }, settle: {} });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const close of closers.splice(0)) await close();
  });
  afterAll(async () => {
    await fixture.close();
    await proxy.close();
  });

  /** A shop whose books know nothing. */
  async function openShop(more: Partial<RemoteFacilitatorOptions> = { rpcUrl: proxy.url }): Promise<string> {
    const { tokens, network } = fixture.facilitator;
    const facilitator = remoteFacilitator({ url: elsewhere, network, tokens, ledger: createMemoryLedger(), ...more });
    closers.push(facilitator.close);
    const url = await fixture.serve((app) => {
      app.get('/report', requirePayment({ facilitator, payTo: fixture.payTo, price: '$0.01' }), (_req, res) => {
        runs += 1;
        res.send('paid');
      });
    });
    return `${url}/report`;
  }

  async function land({ transaction: bytes }: SignedPayment): Promise<string> {
    const transaction = VersionedTransaction.deserialize(bytes);
    transaction.sign([fixture.feePayer]);
    const signature = await sendToChain(fixture.sandbox, transaction.serialize());
    await confirmed(fixture.sandbox, signature);
    return signature;
  }

  async function bring(url: string, { v2 }: SignedPayment) {
    const answer = await fetch(url, { headers: v2 });
    const { code, error, detail } = JSON.parse(await answer.text());
    const { transaction } = answer.headers.has('payment-response') ? receiptOf(answer) : {};
    return { status: answer.status, code, error, detail: String(detail), transaction };
  }

  const refuse = (invalidReason: string, invalidMessage: string = PLAIN) => {
    says.verify = { isValid: false, invalidReason, invalidMessage };
  };

  test.each(TOO_LATE)('and that has landed is told as paid: %s, %s', async (reason, message) => {
    const url = await openShop();
    const payment = await signPayment(fixture, url);
    const signature = await land(payment);
    fixture.sandbox.expireBlockhashes();
    refuse(reason, message);
    const told = await bring(url, payment);
    expect(told).toMatchObject({ status: 402, code: 'payment_already_used', error: 'duplicate_settlement' });
    expect(told.transaction).toBe(signature);
    expect(told.detail).toContain('do not sign again');
    expect(runs).toBe(0);
  });

  test('and that has landed and failed is told as failed', async () => {
    const url = await openShop();
    const payer = await fixture.sandbox.createWallet({ usdc: '0' });
    const payment = await signPayment({ ...fixture, payer }, url);
    const signature = await land(payment);
    fixture.sandbox.expireBlockhashes();
    refuse('invalid_exact_svm_blockhash_expired');
    const failed = { status: 402, code: 'payment_failed', error: 'invalid_exact_svm_transaction_failed' };
    expect(await bring(url, payment)).toMatchObject({ ...failed, transaction: signature });
  });

  test('and that has not landed is told to be signed again', async () => {
    const url = await openShop();
    const payment = await signPayment(fixture, url);
    fixture.sandbox.expireBlockhashes();
    refuse('invalid_exact_svm_blockhash_expired');
    const told = await bring(url, payment);
    expect(told).toMatchObject({ status: 402, error: 'invalid_exact_svm_blockhash_expired', detail: PLAIN });
  });

  test('is neither called paid nor unpaid while the chain cannot be asked, or its node does not know yet that it is too late', async () => {
    const url = await openShop();
    const payment = await signPayment(fixture, url);
    refuse('invalid_exact_svm_blockhash_expired');
    const behind = await bring(url, payment);
    fixture.sandbox.expireBlockhashes();
    proxy.decide = () => ({ status: 500, body: 'away' });
    const away = await bring(url, payment);
    for (const told of [behind, away]) {
      expect(told).toMatchObject({ status: 503, code: 'payment_backend_unavailable' });
      expect(told.detail).toContain('do not sign again');
    }
  });

  test('is told with what to look for before it is signed again, where the chain is not asked', async () => {
    const url = await openShop({});
    const payment = await signPayment(fixture, url);
    await land(payment);
    refuse('invalid_exact_svm_blockhash_expired');
    const told = await bring(url, payment);
    expect(told).toMatchObject({ status: 402, error: 'invalid_exact_svm_blockhash_expired' });
    expect(told.detail).toMatch(
      /^it is too late .*whether this transaction has landed before is not known here.*first/,
    );
  });

  test.each(['invalid_exact_svm_blockhash_expired', 'invalid_exact_svm_transaction_expired'])(
    'as it settles it, %s, and that has landed by that, is served',
    async (errorReason) => {
      const url = await openShop();
      const payment = await signPayment(fixture, url);
      await land(payment);
      says.settle = { success: false, errorReason, errorMessage: PLAIN, transaction: '', network: NETWORK };
      fixture.sandbox.expireBlockhashes();
      const answer = await fetch(url, { headers: payment.v2 });
      expect([answer.status, runs]).toEqual([200, 1]);
    },
  );

  test('by the reference facilitator, and that has landed, is told as paid', async () => {
    const app = await referenceFacilitator(fixture.feePayer, fixture.sandbox.rpcUrl, NETWORK);
    const url = await openShop({
      url: await fixture.serve((it) => it.use(express.Router().use(app))),
      rpcUrl: proxy.url,
    });
    const payment = await signPayment(fixture, url);
    const signature = await land(payment);
    const told = [await bring(url, payment)];
    fixture.sandbox.expireBlockhashes();
    told.push(await bring(url, payment));
    expect(told.map((it) => [it.status, it.error, it.transaction])).toEqual(
      told.map(() => [402, 'duplicate_settlement', signature]),
    );
  });
});
