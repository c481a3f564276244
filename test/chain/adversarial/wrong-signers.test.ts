import { Keypair } from '@solana/web3.js';
import { withLast, withTransfer } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { memo, transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();
const third = Keypair.generate();
const signature = memo('me too', [{ address: third.publicKey.toBase58(), signs: true }]);
const reason = 'invalid_exact_svm_payload_excessive_signers';

test('a third signer is refused, even where it has signed', () =>
  arena().refuses({
    reason,
    hostile: (honest) => ({ ...withLast(honest, signature), signers: [...honest.signers, third] }),
    wouldLand: true,
  }));

test('a third signer who has not signed is refused', () =>
  arena().refuses({ reason, hostile: (honest) => withLast(honest, signature) }));

test('a transaction that nobody but the fee payer signs is refused', () =>
  arena().refuses({ reason, hostile: (honest) => withTransfer(honest) }));

test('a transfer by somebody who does not sign is refused', () =>
  arena().refuses({
    reason,
    hostile: (honest, { transfer }) => {
      const { keys, ...rest } = transferChecked({ ...transfer, authority: third.publicKey.toBase58() });
      const unsigned = { ...rest, keys: keys.map((key) => ({ ...key, isSigner: false })) };
      const payerSigns = memo('not for this', [{ address: transfer.authority, signs: true }]);
      return withLast(withTransfer(honest, unsigned), payerSigns);
    },
  }));
