import { createApproveInstruction, createInitializeAccount3Instruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js';
import { createMemoryLedger } from '../../../src/storage/ledger/memory-ledger.js';
import { accountOf, move, tokenOf } from '../../helpers/fixtures/native-arena.js';
import { type CreatedBody, useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { buildDraft, type Draft } from '../../helpers/transactions/draft.js';
import { adding, bent, replacing, TRANSFER, without } from '../../helpers/transactions/native-drafts.js';
import { guard, memo } from '../../helpers/transactions/raw-instructions.js';
import { until } from '../../helpers/until.js';

const fixture = useNativeFixture();
let payer: Keypair;
beforeAll(async () => {
  payer = await fixture().sandbox.createWallet({ sol: '10', usdc: '100', usdt: '100' });
});
afterEach(() => fixture().sandbox.faults.clear());

/** A payment, and the transaction with which a wallet would pay it by itself. */
async function scene(wanted: Record<string, unknown> = {}): Promise<{ created: CreatedBody; honest: Draft }> {
  const created = await fixture().create({ payer: payer.publicKey.toBase58(), ...wanted });
  return { created, honest: await fixture().draft(created, payer, payer) };
}

/** One look at the chain: the response is believed for two seconds. */
const statusOf = async ({ payment_id }: CreatedBody) => (await fixture().get(`/payments/${payment_id}`)).body['status'];

/** A memo would have to be signed by what it names. */
const naming = (reference: string): TransactionInstruction => guard(5, [reference]);

describe('a transaction that names the reference and does not pay is not noticed', () => {
  const cases: [string, Record<string, unknown>, (honest: Draft) => Draft][] = [
    ['one unit short', {}, (it) => bent(it, { amount: 499_999n })],
    [
      'in another token',
      {},
      (it) => {
        const [from, to] = [accountOf(fixture(), payer, 'USDT'), accountOf(fixture(), fixture().payTo, 'USDT')];
        const cheap = move(fixture(), { from, to, by: payer, amount: 500_000n }, 'USDT');
        return adding(replacing(it, TRANSFER, cheap), naming(it.instructions[TRANSFER]!.keys[4]!.pubkey.toBase58()));
      },
    ],
    ['to another wallet', {}, (it) => bent(it, { accounts: { 2: accountOf(fixture(), fixture().payer) } })],
    ['without the memo', { memo: 'order 7' }, (it) => without(it, TRANSFER + 1)],
    ['with another memo', { memo: 'order 7' }, (it) => replacing(it, TRANSFER + 1, memo('order 8'))],
    ['one transfer for two equal legs', { split: true }, (it) => without(it, TRANSFER + 1)],
  ];
  test.each(cases)('%s', async (_name, { split, ...wanted }, change) => {
    const half = { recipient: fixture().payTo, bps: 5_000 };
    const { created, honest } = await scene({ ...wanted, ...(split ? { split: [half, half] } : {}) });
    await fixture().sendPast(buildDraft(change(honest)));

    expect(await statusOf(created)).toBe('created');
    expect((await fixture().settle(created.payment_id, buildDraft(honest))).status).toBe(200);
  });

  test('one that failed on the chain', async () => {
    const { created, honest } = await scene();
    await fixture().sendPast(buildDraft(bent(honest, { amount: 10n ** 15n })));
    await fixture().sendPast(buildDraft(adding(honest, move(fixture(), failing()))));

    expect(await statusOf(created)).toBe('created');
  });

  test('one whose money was taken back by a delegate', async () => {
    const seller = await fixture().sandbox.createWallet({ sol: '1', usdc: '10' });
    const recipient = seller.publicKey.toBase58();
    const { created, honest } = await scene({ recipient });
    const account = new PublicKey(accountOf(fixture(), seller));
    const approve = createApproveInstruction(account, payer.publicKey, seller.publicKey, 10n ** 9n);
    const back = move(fixture(), {
      from: account.toBase58(),
      to: accountOf(fixture(), payer),
      by: payer,
      amount: 500_000n,
    });
    await fixture().sendPast(buildDraft({ ...adding(honest, approve, back), signers: [payer, seller] }));

    expect(await statusOf(created)).toBe('created');
  });

  test('one to a token account of the seller that it did not ask to be paid in', async () => {
    const { created, honest } = await scene();
    const { mint, program } = tokenOf(fixture());
    const side = Keypair.generate();
    const instructions = [
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: side.publicKey,
        lamports: 2_039_280,
        space: 165,
        programId: new PublicKey(program),
      }),
      createInitializeAccount3Instruction(side.publicKey, new PublicKey(mint), new PublicKey(fixture().payTo)),
      ...bent(honest, { accounts: { 2: side.publicKey.toBase58() } }).instructions,
    ];
    await fixture().sendPast(buildDraft({ ...honest, instructions, signers: [payer, side] }));

    expect(await statusOf(created)).toBe('created');
  });
});

/** More than there is. */
function failing() {
  const [from, to] = [accountOf(fixture(), payer), accountOf(fixture(), fixture().payer)];
  return { from, to, by: payer, amount: 10n ** 15n };
}

describe('one transaction pays one payment', () => {
  test.each(['one after the other', 'at once'])(
    'though it names the references of two, looked at %s',
    async (order) => {
      const one = await scene();
      const other = await scene();
      await fixture().sendPast(buildDraft(adding(one.honest, naming(other.created.reference))));
      const look = [one, other].map(
        ({ created }) =>
          () =>
            statusOf(created),
      );
      const states =
        order === 'at once' ? await Promise.all(look.map((it) => it())) : [await look[0]!(), await look[1]!()];

      expect(states.sort()).toEqual(['created', 'settled']);
    },
  );

  test('though several services look at one ledger at once', async () => {
    const ledger = createMemoryLedger();
    const services = [fixture().facilitatorWith({ ledger }), fixture().facilitatorWith({ ledger })];
    const settled: unknown[] = [];
    for (const it of services) it.on('payment.settled', (event) => settled.push(event));
    const { request } = await services[0]!.createPayment({
      amount: '0.5',
      token: 'USDC',
      recipient: fixture().payTo,
      payer: payer.publicKey.toBase58(),
    });
    const own = await services[1]!.preparePayment(request.id, payer.publicKey.toBase58(), 'payer');
    const transaction = VersionedTransaction.deserialize(own!.transfer.transaction!);
    transaction.sign([payer]);
    const signature = await fixture().sendPast(transaction.serialize());
    await until(async () => {
      const states = await Promise.all(services.map((it) => it.paymentRequest(request.id)));
      return states.every((state) => state?.status === 'settled' && state.signature === signature);
    });

    expect(settled).toHaveLength(1);
  });
});

test('others that name the reference hide nothing, before or after', async () => {
  const { created, honest } = await scene();
  const { blockhash } = await fixture().connection.getLatestBlockhash();
  const noise = (index: number) =>
    fixture().connection.sendRawTransaction(
      buildDraft({ ...honest, blockhash, instructions: [naming(created.reference), memo(`noise ${index}`)] }),
    );
  for (let index = 0; index < 12; index += 1) await noise(index);
  const signature = await fixture().sendPast(buildDraft(honest));
  for (let index = 12; index < 24; index += 1) await noise(index);
  await until(async () => (await statusOf(created)) === 'settled');

  const told = await fixture().get(`/payments/${created.payment_id}`);
  expect(told.body).toMatchObject({ status: 'settled', tx_signature: signature });
});

test('the payer is who paid the leg, whoever moved money in the transaction before', async () => {
  const { created, honest } = await scene();
  const rich = await fixture().sandbox.createWallet({ usdc: '1' });
  const gift = move(fixture(), {
    from: accountOf(fixture(), rich),
    to: accountOf(fixture(), fixture().payer),
    by: rich,
    amount: 9n,
  });
  const instructions = [gift, ...honest.instructions];
  await fixture().sendPast(buildDraft({ ...honest, instructions, signers: [payer, rich] }));
  await until(async () => (await statusOf(created)) === 'settled');

  const told = await fixture().get(`/payments/${created.payment_id}`);
  expect(told.body['payer']).toBe(payer.publicKey.toBase58());
});

test('while the chain cannot be asked, the answer is 503 and not that nothing was paid', async () => {
  const { created, honest } = await scene();
  await fixture().sendPast(buildDraft(honest));
  fixture().sandbox.faults.add({ kind: 'error', method: 'getSignaturesForAddress' });
  const down = await fixture().get(`/payments/${created.payment_id}`);
  fixture().sandbox.faults.clear();
  await until(async () => (await statusOf(created)) === 'settled');

  expect(down).toMatchObject({ status: 503, body: { retryable: true } });
  expect(down.headers.get('retry-after')).not.toBeNull();
});
