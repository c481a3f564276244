import { ACCOUNT_SIZE, AccountLayout, AccountState } from '@solana/spl-token';
import { Keypair } from '@solana/web3.js';
import type { Reason } from '../../../src/protocol/reasons.js';
import { accountOf, tokenOf } from '../../helpers/fixtures/native-arena.js';
import {
  type CreatedBody,
  type NativeFixture,
  signCreated,
  useNativeFixture,
} from '../../helpers/fixtures/native-fixture.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import { TRANSFER, without } from '../../helpers/transactions/native-drafts.js';
import { until } from '../../helpers/until.js';

const fixture = useNativeFixture();
const short = useNativeFixture({}, { maxBlockhashAgeBlocks: 150 });
const addressOf = ({ publicKey }: Keypair): string => publicKey.toBase58();
const newAddress = (): string => addressOf(Keypair.generate());

/** Where a token account names its owner. */
const OWNER_OFFSET = 32;

interface Lack {
  readonly at?: NativeFixture;
  readonly created: CreatedBody;
  readonly transaction: Uint8Array;
  readonly reason: Reason;
  /** What the sentence must say. */
  readonly says: RegExp;
  /** Mends what is lacking. */
  readonly mend: () => void | Promise<void>;
}

/** Expects the lack to be told with its reason and a sentence, at no cost; and the payment to be good when it is mended. */
async function expectLack({ at = fixture(), created, transaction, reason, says, mend }: Lack): Promise<void> {
  const { sandbox, feePayer } = at;
  const before = sandbox.balance(addressOf(feePayer));
  const refused = await at.settle(created.payment_id, transaction);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_transaction', reason, retryable: false } });
  expect(refused.body['detail']).toMatch(says);
  expect(sandbox.balance(addressOf(feePayer))).toBe(before);
  expect((await at.get(`/payments/${created.payment_id}`)).body['status']).toBe('created');
  await mend();
}

async function expectSettles({ payment_id }: CreatedBody, transaction: Uint8Array, at = fixture()): Promise<void> {
  expect(await at.settle(payment_id, transaction)).toMatchObject({ status: 200, body: { success: true } });
}

describe.each([
  ['we pay the fee', false],
  ['the payer pays the fee', true],
])('%s', (_name, selfPaid) => {
  const draftOf = (created: CreatedBody, payer: Keypair) =>
    fixture().draft(created, payer, selfPaid ? payer : undefined);
  const sol = selfPaid ? { sol: '1' } : {};

  test('a payer with one unit too little', async () => {
    const payer = await fixture().sandbox.createWallet({ ...sol, usdc: '0.499999' });
    const created = await fixture().create({ payer: addressOf(payer) });
    const transaction = buildDraft(await draftOf(created, payer));
    const mend = () => void fixture().sandbox.fundToken(addressOf(payer), tokenOf(fixture()).mint, 1n);
    await expectLack({ created, transaction, reason: 'insufficient_funds', says: /top up the account/, mend });
    await expectSettles(created, transaction);
  });

  test('a payer without a token account', async () => {
    const payer = await fixture().sandbox.createWallet(sol);
    const created = await fixture().create({ payer: addressOf(payer) });
    const transaction = buildDraft(await draftOf(created, payer));
    const mend = () => void fixture().sandbox.fundToken(addressOf(payer), tokenOf(fixture()).mint, 500_000n);
    const reason = 'invalid_exact_svm_payer_token_account_missing';
    await expectLack({ created, transaction, reason, says: /no token account for this token/, mend });
    await expectSettles(created, transaction);
  });

  test('a payer with too little SOL', async () => {
    const payer = await fixture().sandbox.createWallet({ sol: '0.4' });
    const created = await fixture().create({ token: 'SOL', payer: addressOf(payer) });
    const transaction = buildDraft(await draftOf(created, payer));
    const mend = () => fixture().sandbox.airdrop(addressOf(payer), 10n ** 9n);
    await expectLack({ created, transaction, reason: 'insufficient_funds', says: /top up the account/, mend });
    await expectSettles(created, transaction);
  });

  test('a payer who would be left with less SOL than an account must hold', async () => {
    const payer = await fixture().sandbox.createWallet({ sol: '0.5001' });
    const created = await fixture().create({ token: 'SOL', payer: addressOf(payer) });
    const transaction = buildDraft(await draftOf(created, payer));
    const mend = () => fixture().sandbox.airdrop(addressOf(payer), 10n ** 9n);
    const says = selfPaid ? /enough SOL for the payment and its network fee/ : /less SOL than an account must hold/;
    await expectLack({ created, transaction, reason: 'insufficient_funds', says, mend });
    await expectSettles(created, transaction);
  });

  test('a payer whose tokens are frozen', async () => {
    const { sandbox } = fixture();
    const payer = await sandbox.createWallet({ ...sol, usdc: '1' });
    const address = accountOf(fixture(), payer);
    const account = sandbox.account(address)!;
    const data = Buffer.alloc(ACCOUNT_SIZE);
    AccountLayout.encode({ ...AccountLayout.decode(account.data), state: AccountState.Frozen }, data);
    sandbox.setAccount(address, { ...account, data });
    const created = await fixture().create({ payer: addressOf(payer) });
    const transaction = buildDraft(await draftOf(created, payer));
    const mend = () => sandbox.setAccount(address, account);
    const reason = 'invalid_exact_svm_transaction_simulation_failed';
    await expectLack({ created, transaction, reason, says: /frozen/, mend });
    await expectSettles(created, transaction);
  });

  test('a recipient without a token account, where the transaction does not create it', async () => {
    const payer = await fixture().sandbox.createWallet({ ...sol, usdc: '1' });
    const recipient = newAddress();
    const created = await fixture().create({ recipient, payer: addressOf(payer) });
    const transaction = buildDraft(without(await draftOf(created, payer), TRANSFER));
    const mend = () => void fixture().sandbox.fundToken(recipient, tokenOf(fixture()).mint, 0n);
    const reason = 'invalid_exact_svm_recipient_token_account_missing';
    await expectLack({ created, transaction, reason, says: /must be created before it can be paid/, mend });
    await expectSettles(created, transaction);
  });

  test('the last of several recipients without a token account', async () => {
    const payer = await fixture().sandbox.createWallet({ ...sol, usdc: '1' });
    const [recipient, last] = [fixture().payTo, newAddress()];
    const split = [recipient, last].map((it) => ({ recipient: it, bps: 5_000 }));
    const created = await fixture().create({ recipient, split, payer: addressOf(payer) });
    const transaction = buildDraft(without(await draftOf(created, payer), TRANSFER));
    const mend = () => void fixture().sandbox.fundToken(last, tokenOf(fixture()).mint, 0n);
    const reason = 'invalid_exact_svm_recipient_token_account_missing';
    await expectLack({ created, transaction, reason, says: /must be created before it can be paid/, mend });
    await expectSettles(created, transaction);
  });

  test('a recipient without a token account, and a payer without the SOL to create it', async () => {
    const payer = await fixture().sandbox.createWallet({ sol: '0.0015', usdc: '1' });
    const recipient = newAddress();
    const created = await fixture().create({ recipient, payer: addressOf(payer) });
    const transaction = buildDraft(await draftOf(created, payer));
    const mend = () => void fixture().sandbox.airdrop(addressOf(payer), 10n ** 9n);
    const reason = 'invalid_exact_svm_recipient_token_account_missing';
    await expectLack({
      created,
      transaction,
      reason,
      says: /does not hold the SOL that its creation costs.*Top up SOL/,
      mend,
    });
    await expectSettles(created, transaction);
  });

  test('a recipient without SOL who is sent less than an account must hold', async () => {
    const payer = await fixture().sandbox.createWallet({ sol: '1' });
    const recipient = newAddress();
    const created = await fixture().create({ token: 'SOL', amount: 0.0005, recipient, payer: addressOf(payer) });
    const transaction = buildDraft(await draftOf(created, payer));
    const mend = () => fixture().sandbox.airdrop(recipient, 10n ** 6n);
    const reason = 'invalid_exact_svm_transaction_simulation_failed';
    await expectLack({ created, transaction, reason, says: /holds no SOL yet.*larger first payment/, mend });
    await expectSettles(created, transaction);
  });

  test('a blockhash that has expired', async () => {
    const at = short();
    const payer = await at.sandbox.createWallet({ ...sol, usdc: '1' });
    const created = await at.create({ payer: addressOf(payer) });
    const draft = await at.draft(created, payer, selfPaid ? payer : undefined);
    const mend = () => undefined;
    at.sandbox.expireBlockhashes();
    const reason = 'invalid_exact_svm_blockhash_expired';
    await expectLack({
      at,
      created,
      transaction: buildDraft(draft),
      reason,
      says: /sign again with a recent one/,
      mend,
    });
    const { blockhash } = await at.connection.getLatestBlockhash();
    await expectSettles(created, buildDraft({ ...draft, blockhash }), at);
  });
});

test.each([
  ['the recipient', 0],
  ['the last of several recipients', 1],
])('%s whose token account was given to another wallet since', async (_who, lost) => {
  const { sandbox, payTo } = fixture();
  const seller = await sandbox.createWallet({ usdc: '0' });
  const split = [addressOf(seller), payTo].map((it) => ({ recipient: it, bps: 5_000 }));
  if (lost === 1) split.reverse();
  const created = await fixture().create({ recipient: split[0]!.recipient, split });
  const transaction = buildDraft(await fixture().draft(created));
  const account = accountOf(fixture(), seller);
  const state = sandbox.account(account)!;
  const data = Uint8Array.from(state.data);
  data.set(fixture().payer.publicKey.toBytes(), OWNER_OFFSET);
  sandbox.setAccount(account, { ...state, data });
  const mend = () => sandbox.setAccount(account, state);
  const reason = 'invalid_exact_svm_recipient_token_account_not_owned';
  await expectLack({ created, transaction, reason, says: /belongs to another wallet now/, mend });
  await expectSettles(created, transaction);
});

test('a payer who pays the fee without any SOL', async () => {
  const payer = await fixture().sandbox.createWallet({ usdc: '1' });
  const created = await fixture().create({ payer: addressOf(payer) });
  const transaction = buildDraft(await fixture().draft(created, payer, payer));
  const mend = () => fixture().sandbox.airdrop(addressOf(payer), 10n ** 9n);
  const says = /does not hold enough SOL for the payment and its network fee/;
  await expectLack({ created, transaction, reason: 'insufficient_funds', says, mend });
  await expectSettles(created, transaction);
});

test('our own fee payer being empty is our fault: 503, and the same transaction is good afterwards', async () => {
  const { sandbox, feePayer } = short();
  const created = await short().create();
  const transaction = buildDraft(await short().draft(created));
  const account = sandbox.account(addressOf(feePayer))!;
  sandbox.setAccount(addressOf(feePayer), { ...account, lamports: 1n });
  const down = await short().settle(created.payment_id, transaction);
  sandbox.setAccount(addressOf(feePayer), account);

  expect(down).toMatchObject({ status: 503, body: { code: 'payment_backend_unavailable', retryable: true } });
  const { blockhash } = await short().connection.getLatestBlockhash();
  const fresh = buildDraft({ ...(await short().draft(created)), blockhash });
  await expectSettles(created, fresh, short());
});

test('while the chain cannot be asked nothing is created and nothing is settled: 503, and nothing was paid', async () => {
  const { sandbox } = fixture();
  const created = await fixture().create();
  const transaction = buildDraft(await fixture().draft(created));
  const before = sandbox.tokenBalance(fixture().payTo, tokenOf(fixture()).mint);
  sandbox.faults.add({ kind: 'error' });
  const wanted = { amount: 1, token: 'USDC', recipient: fixture().payTo };
  const answers = [
    await fixture().post('/create-payment', wanted),
    await fixture().settle(created.payment_id, transaction),
  ];
  sandbox.faults.clear();

  for (const { status, body } of answers) expect([status, body['code']]).toEqual([503, 'payment_backend_unavailable']);
  expect(sandbox.tokenBalance(fixture().payTo, tokenOf(fixture()).mint)).toBe(before);
  await expectSettles(created, transaction);
});

test('when the chain falls silent after the money has moved, the answer is that it is on its way, and then what it cost', async () => {
  const { sandbox } = fixture();
  const created = await fixture().create();
  const transaction = buildDraft(await fixture().draft(created));
  const before = sandbox.tokenBalance(fixture().payTo, tokenOf(fixture()).mint);
  sandbox.faults.add({ kind: 'error', method: 'getTransaction' });
  const silent = await fixture().settle(created.payment_id, transaction);
  sandbox.faults.clear();

  expect(silent).toMatchObject({ status: 503, body: { code: 'settlement_pending', tx_signature: expect.any(String) } });
  expect(sandbox.tokenBalance(fixture().payTo, tokenOf(fixture()).mint) - before).toBe(500_000n);
  const settled = await fixture().settle(created.payment_id, transaction);
  expect(settled).toMatchObject({ status: 200, body: { tx_signature: silent.body['tx_signature'] } });
  expect(sandbox.tokenBalance(fixture().payTo, tokenOf(fixture()).mint) - before).toBe(500_000n);
});

test('a payment whose caller went away is resolved for whoever asks after it', async () => {
  const hurried = fixture().facilitatorWith({ settleTimeoutMs: 100 });
  const { request, transfer } = await hurried.createPayment({
    amount: '0.5',
    token: 'USDC',
    recipient: fixture().payTo,
    payer: addressOf(fixture().payer),
  });
  const created = { transaction: { serialized: Buffer.from(transfer.transaction!).toString('base64') } };
  fixture().sandbox.pauseSlots();
  const pending = await hurried.settleRequest(request.id, signCreated(created as CreatedBody, fixture().payer));
  fixture().sandbox.resumeSlots();

  expect(pending.status).toBe('pending');
  await until(async () => (await hurried.paymentRequest(request.id))?.status === 'settled');
});
