import { createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import type { Reason } from '../../../src/protocol/reasons.js';
import { buildDraft } from '../../helpers/draft.js';
import {
  accountOf,
  creation,
  expectRefused,
  move,
  type NativeAttack,
  type NativeScene,
} from '../../helpers/native-arena.js';
import { adding, bent, replacing, signedBy, TRANSFER, without, withoutReference } from '../../helpers/native-drafts.js';
import { useNativeStand } from '../../helpers/native-stand.js';
import { guard, memo } from '../../helpers/raw-instructions.js';

const stand = useNativeStand();
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
    { reason: LEG, hostile: (it, scene) => bent(it, { accounts: { 2: accountOf(scene.stand, scene.payer) } }) },
  ],
  [
    'to another wallet',
    {
      reason: LEG,
      hostile: (it, scene) => bent(it, { accounts: { 2: accountOf(scene.stand, scene.stand.payer) } }),
    },
  ],
  [
    'of another token',
    {
      reason: LEG,
      hostile: (it, scene) => {
        const { stand: at, payer } = scene;
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
      hostile: (it, { stand: at, payer, created }) => {
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
      hostile: (it, { stand: at, payer }) => {
        const [from, to] = [accountOf(at, payer, 'USDT'), accountOf(at, at.payer, 'USDT')];
        return adding(it, move(at, { from, to, by: payer, amount: 1n }, 'USDT'));
      },
    },
  ],
  [
    'a transfer of SOL beside it',
    {
      reason: OTHER,
      hostile: (it, { stand: at, payer }) =>
        adding(it, SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: at.payer.publicKey, lamports: 1 })),
    },
  ],
  [
    'a token account for a friend',
    {
      reason: UNKNOWN,
      hostile: (it, scene) => adding(it, creation(stand(), wallet(scene), scene.stand.payer.publicKey.toBase58())),
    },
  ],
  [
    'a token account of another token for the seller',
    {
      reason: UNKNOWN,
      hostile: (it, scene) => adding(it, creation(stand(), wallet(scene), scene.stand.payTo, 'USDT')),
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
  test.each(attacks)('%s', (_name, attack) => expectRefused(stand(), attack));
});

describe('of a split', () => {
  async function split(): Promise<Record<string, unknown>> {
    const other = (await stand().sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
    const { payTo } = stand();
    return {
      split: [
        { recipient: payTo, bps: 2_500 },
        { recipient: payTo, bps: 2_500 },
        { recipient: other, bps: 5_000 },
      ],
    };
  }

  test('one transfer does not pay two equal legs', async () =>
    expectRefused(stand(), { wanted: await split(), reason: LEG, hostile: (it) => without(it, TRANSFER + 1) }));

  test('one transfer of the sum does not pay two legs', async () =>
    expectRefused(stand(), {
      wanted: await split(),
      reason: LEG,
      hostile: (it) => bent(without(it, TRANSFER + 1), { amount: 250_000n }),
    }));

  test('no leg may be missing', async () =>
    expectRefused(stand(), { wanted: await split(), reason: LEG, hostile: (it) => without(it, TRANSFER + 2) }));

  test('one leg cannot be paid out of another, by a delegate of its recipient', async () => {
    const wanted = await split();
    await expectRefused(stand(), {
      wanted,
      reason: LEG,
      hostile: (it, { stand: at, payer, created }) => {
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
  const created = await stand().create();
  const honest = await stand().draft(created);
  const guarded = { ...honest, instructions: [guard(2), ...honest.instructions, guard(10), memo('from my wallet')] };
  expect((await stand().settle(created.payment_id, buildDraft(guarded))).status).toBe(200);
});

test('a legacy message is as good as a version 0 one', async () => {
  const created = await stand().create();
  const legacy = { ...(await stand().draft(created)), version: 'legacy' as const };
  expect((await stand().settle(created.payment_id, buildDraft(legacy))).status).toBe(200);
});
