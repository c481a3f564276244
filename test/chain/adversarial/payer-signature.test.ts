import { Keypair } from '@solana/web3.js';
import { signatureBy } from '../../helpers/transactions/draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

const FEE_PAYER_SLOT = 1;
const PAYER_SLOT = FEE_PAYER_SLOT + 64;
const MESSAGE = PAYER_SLOT + 64;
const LAST_SCALAR_BYTE = MESSAGE - 1;

function withPayerSignature(transaction: Buffer, signature: Uint8Array): Buffer {
  return Buffer.concat([transaction.subarray(0, PAYER_SLOT), signature, transaction.subarray(MESSAGE)]);
}

function flipped(transaction: Buffer, at: number): Buffer {
  const changed = Buffer.from(transaction);
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
  return changed;
}

const SPOILED: readonly [string, (transaction: Buffer) => Uint8Array][] = [
  ['missing', (it) => withPayerSignature(it, new Uint8Array(64))],
  ["another key's", (it) => withPayerSignature(it, signatureBy(Keypair.generate(), it.subarray(MESSAGE)))],
  ['changed in its first bit', (it) => flipped(it, PAYER_SLOT)],
  ['changed in its last byte', (it) => flipped(it, LAST_SCALAR_BYTE)],
  [
    'in the slot of the fee payer',
    (it) =>
      Buffer.concat([it.subarray(0, 1), it.subarray(PAYER_SLOT, MESSAGE), Buffer.alloc(64), it.subarray(MESSAGE)]),
  ],
  ['over a message that was changed afterwards', (it) => flipped(it, it.length - 2)],
];

test.each(SPOILED)("a payer's signature that is %s is refused", (_name, changeBytes) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_signature_invalid',
    hostile: (honest) => ({ ...honest, changeBytes }),
  }),
);

test("the payer's signature over another transaction is refused", () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_signature_invalid',
    hostile: (honest, { payer }) => ({
      ...honest,
      changeBytes: (it) => withPayerSignature(it, signatureBy(payer, Buffer.from('another transaction'))),
    }),
  }));
