import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import type { Reason } from '../../../src/protocol/reasons.js';
import {
  accountOf,
  creation,
  expectRefused,
  move,
  type NativeAttack,
  type NativeScene,
} from '../../helpers/fixtures/native-arena.js';
import { useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { buildDraft } from '../../helpers/transactions/draft.js';
import {
  adding,
  bent,
  replacing,
  signedBy,
  TRANSFER,
  without,
  withoutReference,
} from '../../helpers/transactions/native-drafts.js';
import { guard, memo } from '../../helpers/transactions/raw-instructions.js';

const fixture = useNativeFixture();
const UNKNOWN: Reason = 'invalid_exact_svm_payload_unknown_optional_instruction';
const LEG: Reason = 'invalid_transfer_leg_missing';
const OTHER: Reason = 'invalid_transfer_other_transfer';
const key = (address: string) => new PublicKey(address);
const wallet = ({ payer }: NativeScene) => payer.publicKey.toBase58();

const attacks: [string, NativeAttack][] = [
  ['one unit short', { reason: LEG, hostile: (it) => bent(it, { amount: 499_999n }) }],
  ['one unit more', { reason: LEG, hostile: (it) => bent(it, { amount: 500_001n }) }],
  [
    'no transfer',
    {
      reason: LEG,
      hostile: (it, { created, payer }) =>
        adding(without(it, TRANSFER), memo('x', [created.reference]), signedBy(payer)),
    },
  ],
  [
    'to the payer itself',
    { reason: LEG, hostile: (it, scene) => bent(it, { accounts: { 2: accountOf(scene.fixture, scene.payer) } }) },
  ],
  [
    'to another wallet',
    {
      reason: LEG,
      hostile: (it, scene) => bent(it, { accounts: { 2: accountOf(scene.fixture, scene.fixture.payer) } }),
    },
  ],
  [
    'of another token',
    {
      reason: LEG,
      hostile: (it, scene) => {
        const { fixture: at, payer } = scene;
        const [from, to] = [accountOf(at, payer, 'USDT'), accountOf(at, at.payTo, 'USDT')];
        const cheap = move(at, { from, to, by: payer, amount: 500_000n }, 'USDT');
        return adding(replacing(it, TRANSFER, cheap), memo('x', [scene.created.reference]));
      },
    },
  ],
  [
    'as a Transfer that names no mint',
    {
      reason: UNKNOWN,
      hostile: (it, { fixture: at, payer, created }) => {
        const [from, to] = [key(accountOf(at, payer)), key(accountOf(at, at.payTo))];
        const plain = createTransferInstruction(from, to, payer.publicKey, 500_000n);
        return adding(replacing(it, TRANSFER, plain), memo('x', [created.reference]));
      },
    },
  ],
  ['a second transfer of the same', { reason: OTHER, hostile: (it) => adding(it, it.instructions[TRANSFER]!) }],
  [
    'a transfer beside it to a friend, of another token',
    {
      reason: OTHER,
      hostile: (it, { fixture: at, payer }) => {
        const [from, to] = [accountOf(at, payer, 'USDT'), accountOf(at, at.payer, 'USDT')];
        return adding(it, move(at, { from, to, by: payer, amount: 1n }, 'USDT'));
      },
    },
  ],
  [
    'a transfer of SOL beside it',
    {
      reason: OTHER,
      hostile: (it, { fixture: at, payer }) =>
        adding(it, SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: at.payer.publicKey, lamports: 1 })),
    },
  ],
  [
    'a token account for a friend',
    {
      reason: UNKNOWN,
      hostile: (it, scene) => adding(it, creation(fixture(), wallet(scene), scene.fixture.payer.publicKey.toBase58())),
    },
  ],
  [
    'a token account of another token for the seller',
    {
      reason: UNKNOWN,
      hostile: (it, scene) => adding(it, creation(fixture(), wallet(scene), scene.fixture.payTo, 'USDT')),
    },
  ],
  ['the reference left out', { reason: 'invalid_transfer_reference_missing', hostile: (it) => withoutReference(it) }],
  [
    'the reference of another payment',
    {
      reason: 'invalid_transfer_reference_missing',
      hostile: (it) => bent(it, { accounts: { 4: Keypair.generate().publicKey.toBase58() } }),
    },
  ],
];

describe('what does not pay, or does more, is refused', () => {
  test.each(attacks)('%s', (_name, attack) => expectRefused(fixture(), attack));
});

describe('of a split', () => {
  async function split(): Promise<Record<string, unknown>> {
    const other = (await fixture().sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
    const { payTo } = fixture();
    return {
      split: [
        { recipient: payTo, bps: 2_500 },
        { recipient: payTo, bps: 2_500 },
        { recipient: other, bps: 5_000 },
      ],
    };
  }

  test('one transfer does not pay two equal legs', async () =>
    expectRefused(fixture(), { wanted: await split(), reason: LEG, hostile: (it) => without(it, TRANSFER + 1) }));

  test('one transfer of the sum does not pay two legs', async () =>
    expectRefused(fixture(), {
      wanted: await split(),
      reason: LEG,
      hostile: (it) => bent(without(it, TRANSFER + 1), { amount: 250_000n }),
    }));

  test('no leg may be missing', async () =>
    expectRefused(fixture(), { wanted: await split(), reason: LEG, hostile: (it) => without(it, TRANSFER + 2) }));

  test('one leg cannot be paid out of another, by a delegate of its recipient', async () => {
    const wanted = await split();
    await expectRefused(fixture(), {
      wanted,
      reason: LEG,
      hostile: (it, { fixture: at, payer, created }) => {
        const last = it.instructions[TRANSFER + 2]!;
        const through = move(at, {
          from: accountOf(at, created.transaction.to),
          to: last.keys[2]!.pubkey.toBase58(),
          by: payer,
          amount: 250_000n,
        });
        return replacing(it, TRANSFER + 2, through);
      },
    });
  });
});

test('wallet guards before and behind the transfer, and a memo where none is asked for, are welcome', async () => {
  const created = await fixture().create();
  const honest = await fixture().draft(created);
  const guarded = { ...honest, instructions: [guard(2), ...honest.instructions, guard(10), memo('from my wallet')] };
  expect((await fixture().settle(created.payment_id, buildDraft(guarded))).status).toBe(200);
});

test('a legacy message is as good as a version 0 one', async () => {
  const created = await fixture().create();
  const legacy = { ...(await fixture().draft(created)), version: 'legacy' as const };
  expect((await fixture().settle(created.payment_id, buildDraft(legacy))).status).toBe(200);
});
