import { createPublicKey, verify } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import { withTransfer } from '../../helpers/honest-draft.js';
import { useArena } from '../../helpers/hostile.js';
import { transferChecked } from '../../helpers/raw-instructions.js';

const arena = useArena();

const PAYER_SLOT = 65;
const MESSAGE = PAYER_SLOT + 64;
/** The neutral point of the curve: as a public key, the same signature of it is good for every message. */
const NEUTRAL = Buffer.from('01'.padEnd(64, '0'), 'hex');
const FORGED = Buffer.concat([NEUTRAL, Buffer.alloc(32)]);

test('a wallet for which anybody can sign pays nothing', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_signature_invalid',
    hostile: (honest, { stand, terms, transfer }) => {
      const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), NEUTRAL]);
      const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
      expect(verify(null, Buffer.from('whatever'), key, FORGED)).toBe(true);

      const authority = new PublicKey(NEUTRAL).toBase58();
      const source = stand.sandbox.fundToken(authority, terms.asset, terms.amount);
      return {
        ...withTransfer(honest, transferChecked({ ...transfer, source, authority })),
        signers: [],
        changeBytes: (it) => Buffer.concat([it.subarray(0, PAYER_SLOT), FORGED, it.subarray(MESSAGE)]),
      };
    },
  }));
