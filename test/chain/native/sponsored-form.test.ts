import {
  AuthorityType,
  createApproveInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createSetAuthorityInstruction,
} from '@solana/spl-token';
import { AddressLookupTableAccount, Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import type { Reason } from '../../../src/protocol/reasons.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import { accountOf, expectRefused, type NativeAttack } from '../../helpers/fixtures/native-arena.js';
import { useNativeFixture } from '../../helpers/fixtures/native-fixture.js';
import { adding, replacing, TRANSFER, without } from '../../helpers/transactions/native-drafts.js';
import { guard, instruction, memo, unitLimit, unitPrice } from '../../helpers/transactions/raw-instructions.js';

const fixture = useNativeFixture();
const UNKNOWN: Reason = 'invalid_exact_svm_payload_unknown_optional_instruction';
const key = (address: string) => new PublicKey(address);

const attacks: [string, NativeAttack][] = [
  [
    'an account handed over to the payer',
    {
      reason: UNKNOWN,
      hostile: (it, { fixture: at, payer }) => {
        const account = key(accountOf(at, payer));
        const heir = at.payer.publicKey;
        return adding(it, createSetAuthorityInstruction(account, payer.publicKey, AuthorityType.AccountOwner, heir));
      },
    },
  ],
  [
    'an account closed',
    {
      reason: UNKNOWN,
      hostile: (it, { fixture: at, payer }) =>
        adding(it, createCloseAccountInstruction(key(accountOf(at, payer)), payer.publicKey, payer.publicKey)),
    },
  ],
  [
    'an approval',
    {
      reason: UNKNOWN,
      hostile: (it, { fixture: at, payer }) =>
        adding(it, createApproveInstruction(key(accountOf(at, payer)), at.payer.publicKey, payer.publicKey, 1n)),
    },
  ],
  [
    'a burn',
    {
      reason: UNKNOWN,
      hostile: (it, { fixture: at, payer }) =>
        adding(
          it,
          createBurnInstruction(key(accountOf(at, payer)), key(at.facilitator.tokens[0]!.mint), payer.publicKey, 1n),
        ),
    },
  ],
  [
    'a program that nobody knows',
    { reason: UNKNOWN, hostile: (it) => adding(it, instruction(PROGRAMS.lighthouse, [], [0])) },
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
    'a lookup table',
    {
      reason: 'invalid_exact_svm_payload_address_lookup_tables',
      hostile: (it, scene) => ({ ...it, lookupTables: [tableOf(accountOf(scene.fixture, scene.fixture.payTo))] }),
    },
  ],
  [
    'a fee over the cap',
    {
      reason: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
      hostile: (it) => replacing(replacing(it, 0, unitLimit(1_400_000)), 1, unitPrice(1_000_000n)),
    },
  ],
  [
    'a compute price without a limit',
    {
      reason: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
      hostile: (it) => without(replacing(it, 1, unitPrice(1_000_000n)), 0),
    },
  ],
  [
    'two compute prices',
    {
      reason: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction',
      hostile: (it) => adding(it, unitPrice(1n)),
    },
  ],
  [
    'too many instructions',
    {
      reason: 'invalid_exact_svm_payload_transaction_instructions_length',
      hostile: (it) => adding(it, ...Array.from({ length: 22 }, () => guard(5))),
    },
  ],
  [
    'no signature',
    { reason: 'invalid_exact_svm_payload_signature_invalid', hostile: (it) => ({ ...it, signers: [] }) },
  ],
  [
    'a signature over other bytes',
    {
      reason: 'invalid_exact_svm_payload_signature_invalid',
      hostile: (it) => ({
        ...it,
        changeBytes: (bytes) => {
          // The first byte of the payer's signature, after ours.
          bytes[1 + 64] = bytes[1 + 64]! ^ 1;
          return bytes;
        },
      }),
    },
  ],
  [
    'bytes after its end',
    {
      reason: 'invalid_exact_svm_payload_transaction_could_not_be_decoded',
      hostile: (it) => ({ ...it, changeBytes: (bytes) => Buffer.concat([bytes, Buffer.of(0)]) }),
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
  [
    'a memo too many',
    {
      wanted: { memo: 'order 7' },
      reason: 'invalid_exact_svm_payload_memo_count',
      hostile: (it) => adding(it, memo('x')),
    },
  ],
  [
    'no memo',
    {
      wanted: { memo: 'order 7' },
      reason: 'invalid_exact_svm_payload_memo_count',
      hostile: (it) => without(it, TRANSFER + 1),
    },
  ],
];

describe('what has no business in a payment is refused', () => {
  test.each(attacks)('%s', (_name, attack) => expectRefused(fixture(), attack));
});

function tableOf(address: string): AddressLookupTableAccount {
  const state = { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 };
  return new AddressLookupTableAccount({
    key: Keypair.generate().publicKey,
    state: { ...state, addresses: [key(address)] },
  });
}
