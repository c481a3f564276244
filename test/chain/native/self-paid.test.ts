import { createApproveInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import type { Reason } from '../../../src/protocol/reasons.js';
import {
  accountOf,
  creation,
  expectRefused,
  move,
  type NativeAttack,
  tokenOf,
} from '../../helpers/fixtures/native-arena.js';
import { useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { buildDraft, type Draft } from '../../helpers/transactions/draft.js';
import {
  adding,
  bent,
  replacing,
  TRANSFER,
  without,
  withoutReference,
} from '../../helpers/transactions/native-drafts.js';
import { memo, unitLimit, unitPrice } from '../../helpers/transactions/raw-instructions.js';

const fixture = useNativeFixture();
const LEG: Reason = 'invalid_transfer_leg_missing';
const UNSIGNED: Reason = 'invalid_exact_svm_payload_signature_invalid';
const NOT_RECEIVED: Reason = 'invalid_transfer_not_received';

const attacks: [string, Omit<NativeAttack, 'selfPaid'>][] = [
  ['one unit short', { reason: LEG, hostile: (it) => bent(it, { amount: 499_999n }) }],
  [
    'no transfer',
    { reason: LEG, hostile: (it, { created }) => adding(without(it, TRANSFER), memo('x', [created.reference])) },
  ],
  [
    'a transfer to the payer itself',
    { reason: LEG, hostile: (it, { fixture: at, payer }) => bent(it, { accounts: { 2: accountOf(at, payer) } }) },
  ],
  ['no reference', { reason: 'invalid_transfer_reference_missing', hostile: (it) => withoutReference(it) }],
  ['no signature', { reason: UNSIGNED, hostile: (it) => ({ ...it, signers: [] }) }],
  [
    'a key of ours that would have to sign too',
    {
      reason: UNSIGNED,
      hostile: (it, { fixture: at }) =>
        adding(it, memo('x', [{ address: at.feePayer.publicKey.toBase58(), signs: true }])),
    },
  ],
  [
    'our tokens as the payment',
    {
      reason: UNSIGNED,
      hostile: (it, { fixture: at }) => {
        const ours = { 0: accountOf(at, at.secondKey), 3: at.secondKey.publicKey.toBase58() };
        return bent(it, { accounts: ours });
      },
    },
  ],
  [
    'a durable nonce',
    {
      reason: 'invalid_exact_svm_payload_durable_nonce',
      hostile: (it, { payer }) => {
        const noncePubkey = Keypair.generate().publicKey;
        const advance = SystemProgram.nonceAdvance({ noncePubkey, authorizedPubkey: payer.publicKey });
        return { ...it, instructions: [advance, ...it.instructions] };
      },
    },
  ],
  [
    'another memo',
    {
      wanted: { memo: 'order 7' },
      reason: 'invalid_exact_svm_payload_memo_mismatch',
      hostile: (it) => replacing(it, TRANSFER + 1, memo('order 8')),
    },
  ],
  ['less SOL', { wanted: { token: 'SOL', amount: 0.01 }, reason: LEG, hostile: (it) => shortOfSol(it) }],
];

/** A System transfer has its amount four bytes on. */
function shortOfSol(draft: Draft): Draft {
  const transfer = draft.instructions[TRANSFER]!;
  const data = Buffer.from(transfer.data);
  data.writeBigUInt64LE(9_999_999n, 4);
  return replacing(draft, TRANSFER, new TransactionInstruction({ ...transfer, data }));
}

describe('a transaction whose fee the payer pays is refused with', () => {
  test.each(attacks)('%s', (_name, attack) => expectRefused(fixture(), { ...attack, selfPaid: true }));
});

test('what else the payer does in it, and at what fee, is its own business', async () => {
  const payer = await fixture().sandbox.createWallet({ sol: '1', usdc: '10', usdt: '10' });
  const friend = fixture().payer.publicKey.toBase58();
  const created = await fixture().create({ payer: payer.publicKey.toBase58() });
  const honest = await fixture().draft(created, payer, payer);
  const busy = adding(
    replacing(replacing(honest, 0, unitLimit(400_000)), 1, unitPrice(1_000_000n)),
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: fixture().payer.publicKey, lamports: 10_000_000 }),
    creation(fixture(), payer.publicKey.toBase58(), Keypair.generate().publicKey.toBase58()),
    move(
      fixture(),
      { from: accountOf(fixture(), payer, 'USDT'), to: accountOf(fixture(), friend, 'USDT'), by: payer, amount: 7n },
      'USDT',
    ),
  );
  const settled = await fixture().settle(created.payment_id, buildDraft(busy));
  expect(settled).toMatchObject({ status: 200, body: { fee_lamports: 405_000 } });
});

describe('money that is taken back in the same transaction is not paid', () => {
  const AMOUNT = 500_000n;

  /** A seller who lets the payer draw on its tokens. */
  async function scene() {
    const { sandbox, connection } = fixture();
    const payer = await sandbox.createWallet({ sol: '1', usdc: '10' });
    const seller = await sandbox.createWallet({ sol: '1', usdc: '10' });
    const approval = createApproveInstruction(
      new PublicKey(accountOf(fixture(), seller)),
      payer.publicKey,
      seller.publicKey,
      1_000_000n,
    );
    const { blockhash } = await connection.getLatestBlockhash();
    const feePayer = seller.publicKey.toBase58();
    await fixture().sendPast(
      buildDraft({ version: 0, feePayer, blockhash, instructions: [approval], signers: [seller] }),
    );
    const created = await fixture().create({ recipient: feePayer, payer: payer.publicKey.toBase58() });
    const honest = await fixture().draft(created, payer, payer);
    const back = move(fixture(), {
      from: accountOf(fixture(), seller),
      to: accountOf(fixture(), payer),
      by: payer,
      amount: AMOUNT,
    });
    const held = () => sandbox.tokenBalance(feePayer, tokenOf(fixture()).mint);
    return { payer, created, honest, back, held };
  }

  test.each(['after it', 'before it'])('by a delegate, %s', async (when) => {
    const { created, honest, back, held } = await scene();
    const { instructions } = honest;
    const hostile = {
      ...honest,
      instructions: when === 'after it' ? [...instructions, back] : [back, ...instructions],
    };
    const before = held();
    const answer = await fixture().settle(created.payment_id, buildDraft(hostile));
    const again = await fixture().settle(created.payment_id, buildDraft(hostile));
    const told = await fixture().get(`/payments/${created.payment_id}`);

    expect(answer).toMatchObject({ status: 500, body: { code: 'blockchain_error', reason: NOT_RECEIVED } });
    expect(again.body).toMatchObject({ code: 'blockchain_error', reason: NOT_RECEIVED, detail: answer.body['detail'] });
    expect(again.body['tx_signature']).toBe(answer.body['tx_signature']);
    expect(told.body).toMatchObject({ status: 'failed', reason: NOT_RECEIVED });
    expect(held()).toBe(before);

    const settled = await fixture().settle(created.payment_id, buildDraft(honest));
    expect(settled.status).toBe(200);
    expect(held() - before).toBe(AMOUNT);
  });

  test('by the seller itself, who signs too', async () => {
    const { sandbox } = fixture();
    const payer = await sandbox.createWallet({ sol: '1' });
    const seller = await sandbox.createWallet({ sol: '1' });
    const created = await fixture().create({
      token: 'SOL',
      amount: 0.1,
      recipient: seller.publicKey.toBase58(),
      payer: payer.publicKey.toBase58(),
    });
    const honest = await fixture().draft(created, payer, payer);
    const back = SystemProgram.transfer({
      fromPubkey: seller.publicKey,
      toPubkey: payer.publicKey,
      lamports: 100_000_000,
    });
    const hostile = { ...adding(honest, back), signers: [payer, seller] };

    const answer = await fixture().settle(created.payment_id, buildDraft(hostile));
    expect(answer.body).toMatchObject({ code: 'blockchain_error', reason: NOT_RECEIVED });
    expect((await fixture().settle(created.payment_id, buildDraft(honest))).status).toBe(200);
  });

  test('but a seller who pays the network fee has received the amount', async () => {
    const { sandbox } = fixture();
    const payer = await sandbox.createWallet({ sol: '1' });
    const seller = await sandbox.createWallet({ sol: '1' });
    const created = await fixture().create({
      token: 'SOL',
      amount: 0.1,
      recipient: seller.publicKey.toBase58(),
      payer: payer.publicKey.toBase58(),
    });
    const draft = await fixture().draft(created, payer, seller);

    expect((await fixture().settle(created.payment_id, buildDraft(draft))).status).toBe(200);
  });
});
