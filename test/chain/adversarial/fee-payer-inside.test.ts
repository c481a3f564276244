import type { Reason } from '../../../src/protocol/reasons.js';
import { PROGRAMS } from '../../../src/solana/transaction/programs.js';
import type { Draft } from '../../helpers/transactions/draft.js';
import { withBudget, withLast, withMemo, withTransfer } from '../../helpers/transactions/honest-draft.js';
import { type Scene, useArena } from '../../helpers/transactions/hostile.js';
import { guard, instruction, memo, transferChecked, unitPrice } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

type Spoil = (honest: Draft, key: string, scene: Scene) => Draft;

/** The payer must sign something, or the fee payer is the only signer. */
function payerSigns({ transfer }: Scene) {
  return memo('signed', [{ address: transfer.authority, signs: true }]);
}

const OURS: Reason = 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds';

const PLACES: readonly [string, Spoil][] = [
  [
    'authority of the transfer',
    (honest, authority, scene) => {
      const source = scene.fixture.sandbox.fundToken(authority, scene.terms.asset, scene.terms.amount);
      const transfer = transferChecked({ ...scene.transfer, source, authority });
      return withMemo(withTransfer(honest, transfer), payerSigns(scene));
    },
  ],
  [
    'authority of a transfer from the account of the payer, as its delegate',
    (honest, authority, scene) =>
      withMemo(withTransfer(honest, transferChecked({ ...scene.transfer, authority })), payerSigns(scene)),
  ],
  [
    'further account of the transfer',
    (honest, key, { transfer }) => {
      const { keys, data } = transferChecked(transfer);
      const accounts = keys.map(({ pubkey, isSigner, isWritable }) => ({
        address: pubkey.toBase58(),
        signs: isSigner,
        written: isWritable,
      }));
      return withTransfer(honest, instruction(transfer.program, [...accounts, key], data));
    },
  ],
  [
    'source of the transfer',
    (honest, source, { transfer }) => withTransfer(honest, transferChecked({ ...transfer, source })),
  ],
  ['signer of a memo', (honest, address) => withMemo(honest, memo('mine', [{ address, signs: true }]))],
  ['account of a memo', (honest, key) => withMemo(honest, memo('mine', [key]))],
  [
    'account of a compute budget instruction',
    (honest, key) => withBudget(honest, instruction(PROGRAMS.computeBudget, [key], unitPrice(1n).data)),
  ],
];

test.each(PLACES)('the fee payer as %s is refused', (_name, spoil) =>
  arena().refuses({
    reason: OURS,
    hostile: (honest, scene) => spoil(honest, scene.terms.feePayer!, scene),
  }),
);

const GUARDED: readonly [string, Spoil][] = [
  ['account of a wallet guard', (honest, key) => withLast(honest, guard(5, [key]))],
  [
    'account of a wallet guard beside the fee payer',
    (honest, key, { terms }) => withLast(honest, guard(5, [terms.feePayer!, key])),
  ],
];

test.each([...PLACES.filter(([name]) => name !== 'signer of a memo' && !name.startsWith('authority')), ...GUARDED])(
  'another key of ours as %s is refused',
  (_name, spoil) =>
    arena().refuses({
      reason: OURS,
      hostile: (honest, scene) => spoil(honest, scene.secondKey.publicKey.toBase58(), scene),
    }),
);

test('another key of ours as the payer is refused, even where it has signed', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
    hostile: (honest, { fixture, secondKey, terms, transfer }) => {
      const authority = secondKey.publicKey.toBase58();
      const source = fixture.sandbox.fundToken(authority, terms.asset, terms.amount);
      const signed = { ...honest, signers: [secondKey] };
      return withTransfer(signed, transferChecked({ ...transfer, source, authority }));
    },
    wouldLand: true,
  }));

test('the fee payer as a program is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_transaction_could_not_be_decoded',
    hostile: (honest, { terms }) => withLast(honest, instruction(terms.feePayer!, [], [])),
  }));

test('another key of ours as a program is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_unknown_optional_instruction',
    hostile: (honest, { secondKey }) => withLast(honest, instruction(secondKey.publicKey.toBase58(), [], [])),
  }));
