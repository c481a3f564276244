import { PublicKey } from '@solana/web3.js';
import {
  NEUTRAL_POINT,
  respelled,
  signatureByNobody,
  signWithoutNonce,
} from '../../helpers/transactions/forged-signatures.js';
import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();
const reason = 'invalid_exact_svm_payload_signature_invalid';

const PAYER_SLOT = 65;
const MESSAGE = PAYER_SLOT + 64;

function withPayerSignature(transaction: Buffer, signature: Uint8Array): Buffer {
  return Buffer.concat([transaction.subarray(0, PAYER_SLOT), signature, transaction.subarray(MESSAGE)]);
}

test('a wallet for which anybody can sign pays nothing', () =>
  arena().refuses({
    reason,
    hostile: (honest, { fixture, terms, transfer }) => {
      const authority = new PublicKey(NEUTRAL_POINT).toBase58();
      const source = fixture.sandbox.fundToken(authority, terms.asset, terms.amount);
      return {
        ...withTransfer(honest, transferChecked({ ...transfer, source, authority })),
        signers: [],
        changeBytes: (it) => withPayerSignature(it, signatureByNobody()),
      };
    },
  }));

test('a signature with the nonce zero is refused, as the chain would', () =>
  arena().refuses({
    reason,
    hostile: (honest, { payer }) => ({
      ...honest,
      changeBytes: (it) =>
        withPayerSignature(it, signWithoutNonce(payer.secretKey.subarray(0, 32), it.subarray(MESSAGE))),
    }),
  }));

test('a good signature in another spelling is refused', () =>
  arena().refuses({
    reason,
    hostile: (honest) => ({
      ...honest,
      changeBytes: (it) => withPayerSignature(it, respelled(it.subarray(PAYER_SLOT, MESSAGE))),
    }),
  }));
