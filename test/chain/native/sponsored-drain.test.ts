import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import type { Reason } from '../../../src/protocol/reasons.js';
import {
  accountOf,
  creation,
  expectRefused,
  type NativeAttack,
  type NativeScene,
} from '../../helpers/fixtures/native-arena.js';
import { useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { adding, bent, replacing, signedBy, TRANSFER } from '../../helpers/transactions/native-drafts.js';
import { guard, memo } from '../../helpers/transactions/raw-instructions.js';

const fixture = useNativeFixture();
const OURS: Reason = 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds';
const key = (address: string) => new PublicKey(address);
const feePayerOf = ({ fixture: at }: NativeScene) => at.feePayer.publicKey.toBase58();
const wallet = ({ payer }: NativeScene) => payer.publicKey.toBase58();

const attacks: [string, NativeAttack][] = [
  ['our fee payer in a memo', { reason: OURS, hostile: (it, scene) => adding(it, memo('x', [feePayerOf(scene)])) }],
  [
    'our fee payer as signer of a guard',
    { reason: OURS, hostile: (it, scene) => adding(it, guard(5, [{ address: feePayerOf(scene), signs: true }])) },
  ],
  [
    'our fee payer as authority of the transfer',
    {
      reason: OURS,
      hostile: (it, scene) => adding(bent(it, { accounts: { 3: feePayerOf(scene) } }), signedBy(scene.payer)),
    },
  ],
  [
    'our SOL on the way to the payer',
    {
      reason: OURS,
      hostile: (it, scene) =>
        adding(
          it,
          SystemProgram.transfer({ fromPubkey: key(feePayerOf(scene)), toPubkey: key(wallet(scene)), lamports: 1 }),
        ),
    },
  ],
  [
    'our SOL in place of the payer’s',
    {
      wanted: { token: 'SOL' },
      reason: OURS,
      hostile: (it, scene) => adding(bent(it, { accounts: { 0: feePayerOf(scene) } }), signedBy(scene.payer)),
    },
  ],
  [
    'our token account as source, through a delegate',
    {
      reason: OURS,
      hostile: (it, scene) => bent(it, { accounts: { 0: accountOf(scene.fixture, scene.fixture.secondKey) } }),
    },
  ],
  [
    'a token account created at our cost',
    { reason: OURS, hostile: (it, scene) => adding(it, creation(fixture(), feePayerOf(scene), scene.fixture.payTo)) },
  ],
  [
    'another key of ours inside',
    { reason: OURS, hostile: (it, scene) => adding(it, memo('x', [scene.fixture.secondKey.publicKey.toBase58()])) },
  ],
  [
    'another key of ours as the payer',
    {
      reason: OURS,
      hostile: (it, scene) => {
        const second = scene.fixture.secondKey.publicKey.toBase58();
        return { ...bent(it, { accounts: { 0: accountOf(scene.fixture, second), 3: second } }), signers: [] };
      },
    },
  ],
  [
    'a key of ours as third signer',
    {
      reason: 'invalid_exact_svm_payload_excessive_signers',
      hostile: (it, scene) =>
        adding(it, memo('x', [{ address: scene.fixture.secondKey.publicKey.toBase58(), signs: true }])),
    },
  ],
  [
    'a third signer',
    {
      reason: 'invalid_exact_svm_payload_excessive_signers',
      hostile: (it) => {
        const third = Keypair.generate();
        const signed = adding(it, memo('x', [{ address: third.publicKey.toBase58(), signs: true }]));
        return { ...signed, signers: [...it.signers, third] };
      },
    },
  ],
  [
    'an authority that is not the payer',
    {
      // A delegate that signs in the payer's place, named second; the payer signs nothing.
      reason: 'invalid_exact_svm_payload_excessive_signers',
      hostile: (it) => {
        const signer = Keypair.generate();
        const signed = adding(it, memo('x', [{ address: signer.publicKey.toBase58(), signs: true }]));
        const transfer = signed.instructions[TRANSFER]!;
        const keys = transfer.keys.map((meta) => ({ ...meta, isSigner: false }));
        const unsigned = new TransactionInstruction({ ...transfer, keys });
        return { ...replacing(signed, TRANSFER, unsigned), signers: [signer] };
      },
    },
  ],
];

describe('what would cost us money is refused', () => {
  test.each(attacks)('%s', (_name, attack) => expectRefused(fixture(), attack));
});
