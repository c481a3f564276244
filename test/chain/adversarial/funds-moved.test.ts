import { createTransferInstruction } from '@solana/spl-token';
import { Connection, type Keypair, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { associatedTokenAddress } from '../../../src/solana/transaction/associated-token.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { headerV2, paymentOf, refusalOf, useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

/** Moves everything that a payer has to somebody else, as the payer can at any time. */
async function empty(payer: Keypair, mint: string): Promise<void> {
  const { sandbox, payTo } = arena().fixture;
  const owner = payer.publicKey.toBase58();
  const [from, to] = [owner, payTo].map((it) => new PublicKey(associatedTokenAddress(it, mint, PROGRAMS.token)));
  const move = createTransferInstruction(from!, to!, payer.publicKey, sandbox.tokenBalance(owner, mint));
  const connection = new Connection(sandbox.rpcUrl, 'confirmed');
  await sendAndConfirmTransaction(connection, new Transaction().add(move), [payer]);
}

test('a payer who moves the money between verify and settle is not settled, and costs nothing', async () => {
  const { fixture, facilitator } = arena();
  const payer = await fixture.sandbox.createWallet({ usdc: '1', sol: '1' });
  const terms = arena().terms();
  const { draft } = await arena().honest(terms, payer);
  const payment = paymentOf(buildDraft(draft), terms);
  expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: true });
  await empty(payer, terms.asset);

  const before = fixture.sandbox.balance(terms.feePayer!);
  const settlement = await facilitator.settle(payment, terms);
  expect(settlement).toMatchObject({ status: 'failed', reason: 'insufficient_funds' });
  expect(settlement).not.toHaveProperty('signature');
  expect(before - fixture.sandbox.balance(terms.feePayer!)).toBe(0n);

  fixture.sandbox.fundToken(payer.publicKey.toBase58(), terms.asset, terms.amount);
  expect(await facilitator.settle(payment, terms)).toMatchObject({ status: 'settled' });
});

test('a payer who moves the money while the handler works gets nothing of its answer', async () => {
  const { fixture, facilitator } = arena();
  const payer = await fixture.sandbox.createWallet({ usdc: '1', sol: '1' });
  const terms = arena().terms();
  const url = await fixture.serve((app) => {
    const price = { asset: terms.asset, amount: terms.amount };
    app.get('/', requirePayment({ facilitator, price, payTo: terms.payTo }), async (_req, res) => {
      await empty(payer, terms.asset);
      res.setHeader('X-Secret', 'in a header').json({ secret: 'in the body' });
    });
  });
  const { draft } = await arena().honest(terms, payer);
  const before = fixture.sandbox.balance(terms.feePayer!);
  const answer = await fetch(url, { headers: headerV2(buildDraft(draft), terms) });
  expect(answer.headers.get('X-Secret')).toBeNull();
  expect(await answer.clone().text()).not.toContain('in the body');
  expect(await refusalOf(answer)).toEqual({ status: 402, reason: 'insufficient_funds' });
  expect(before - fixture.sandbox.balance(terms.feePayer!)).toBe(0n);
});

test('a payer who moved the money away does not get the handler to run again', async () => {
  const { fixture, facilitator } = arena();
  const payer = await fixture.sandbox.createWallet({ usdc: '1', sol: '1' });
  const terms = arena().terms();
  let runs = 0;
  const url = await fixture.serve((app) => {
    const price = { asset: terms.asset, amount: terms.amount };
    app.get('/', requirePayment({ facilitator, price, payTo: terms.payTo }), async (_req, res) => {
      runs += 1;
      if (runs === 1) await empty(payer, terms.asset);
      res.json({ runs });
    });
  });
  const { draft } = await arena().honest(terms, payer);
  const headers = headerV2(buildDraft(draft), terms);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    expect(await refusalOf(await fetch(url, { headers }))).toEqual({ status: 402, reason: 'insufficient_funds' });
  }
  expect(runs).toBe(1);
});
