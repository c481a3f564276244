import { Connection } from '@solana/web3.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { CreatedMint } from '../../../src/sandbox/tokens/create-mint.js';
import { buildPaymentTransaction } from '../../../src/solana/building/payment-transaction.js';
import { openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { askTerms, carry } from '../../helpers/transactions/payments.js';

const SENTENCE = 'The token keeps a fee of every transfer, so that the recipient would get less than the price';
let fixture: TollFixture;

beforeAll(async () => {
  fixture = await openTollFixture();
});
afterAll(() => fixture.close());

/** A mint that the operator trusts and allows, and a service that takes it. */
async function serviceFor(basisPoints: number) {
  const { sandbox, payer, payTo, facilitator: plain } = fixture;
  const minted = sandbox.createMint({ extensions: { transferFee: { basisPoints, maximumFee: 10n ** 9n } } });
  const { mint } = minted;
  sandbox.fundToken(payer.publicKey.toBase58(), mint, 5_000_000n);
  sandbox.fundToken(payTo, mint, 0n);
  const tokens = [...plain.tokens, { symbol: 'FEE', ...minted }];
  const facilitator = fixture.facilitatorWith({ tokens, allowMints: [mint] });
  const url = await fixture.serve((app) => {
    app.get('/paid', requirePayment({ facilitator, price: '1 FEE', payTo }), (_req, res) => void res.send('goods'));
    app.use(createRouter({ facilitator, limits: false }));
  });
  return { url, minted };
}

async function create(url: string, token: string, more: object = {}) {
  const body = JSON.stringify({ amount: 1, token, recipient: fixture.payTo, ...more });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/create-payment`, { method: 'POST', headers, body });
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
}

/** Pays for the route as x402's client does. */
async function pay(url: string, { program, decimals }: CreatedMint): Promise<Response> {
  const [accepted] = (await askTerms(`${url}/paid`)).accepts;
  const { asset, amount, payTo, extra } = accepted!;
  const transaction = buildPaymentTransaction({
    payer: fixture.payer,
    feePayer: String(extra?.['feePayer']),
    asset,
    tokenProgram: program,
    decimals,
    amount: BigInt(amount),
    payTo,
    blockhash: (await new Connection(fixture.sandbox.rpcUrl).getLatestBlockhash('confirmed')).blockhash,
  });
  return fetch(`${url}/paid`, { headers: carry(transaction, accepted!).v2 });
}

const held = ({ mint }: CreatedMint) => fixture.sandbox.tokenBalance(fixture.payTo, mint);

describe('a mint that keeps a fee, though it is allowed', () => {
  test('is refused where a payment is asked for, with a sentence', async () => {
    const { url, minted } = await serviceFor(1_000);
    const half = { recipient: fixture.payTo, bps: 5_000 };
    for (const more of [{}, { payer: fixture.payer.publicKey.toBase58() }, { split: [half, half] }]) {
      for (const token of ['FEE', minted.mint]) {
        const { status, body } = await create(url, token, more);
        expect([status, body['code']]).toEqual([400, 'invalid_token']);
        expect(body['detail']).toContain(SENTENCE);
      }
    }
  });

  test('is refused at a gate, with a sentence, and nothing is sent', async () => {
    const { url, minted } = await serviceFor(1_000);
    fixture.sandbox.resetCalls();
    const answer = await pay(url, minted);
    const body = (await answer.json()) as Readonly<Record<string, unknown>>;
    expect([answer.status, body['error']]).toEqual([402, 'invalid_exact_svm_mint_transfer_fee']);
    expect(JSON.stringify(body)).toContain(SENTENCE);
    expect(fixture.sandbox.calls.sendTransaction ?? 0).toBe(0);
    expect(held(minted)).toBe(0n);
  });
});

describe('and its twin, of a fee of nothing', () => {
  test('can be asked for and is settled', async () => {
    const { url, minted } = await serviceFor(0);
    const created = await create(url, 'FEE', { payer: fixture.payer.publicKey.toBase58() });
    expect(created.status).toBe(200);
    const answer = await pay(url, minted);
    expect([answer.status, await answer.text()]).toEqual([200, 'goods']);
    expect(held(minted)).toBe(1_000_000n);
  });
});
