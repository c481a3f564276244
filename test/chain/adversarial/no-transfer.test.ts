import { withMemo, withTransfer } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { memo } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

test('a transaction that the payer signs and that moves nothing is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_no_transfer_instruction',
    hostile: (honest, { transfer }) => {
      const signed = memo('I promise to pay', [{ address: transfer.authority, signs: true }]);
      return withTransfer(withMemo(honest, signed));
    },
    wouldLand: true,
  }));
