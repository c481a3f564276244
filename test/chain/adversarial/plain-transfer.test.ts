import { createTransferInstruction } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

test('a plain Transfer of the right amount is refused, for it names no mint', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_unknown_optional_instruction',
    hostile: (honest, { transfer }) => {
      const { source, destination, authority, amount } = transfer;
      const [from, to, owner] = [new PublicKey(source), new PublicKey(destination), new PublicKey(authority)];
      return withTransfer(honest, createTransferInstruction(from, to, owner, amount));
    },
    wouldLand: true,
  }));
