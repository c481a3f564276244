import { withTransfer } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

test.each([
  ['one unit less', true, (amount: bigint) => amount - 1n],
  ['one unit more', true, (amount: bigint) => amount + 1n],
  ['nothing', true, () => 0n],
  ['the same plus 2^32', false, (amount: bigint) => amount + 2n ** 32n],
  ['the largest number there is', false, () => 2n ** 64n - 1n],
])('a transfer of %s is refused', (_name, wouldLand, amountOf) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_amount_mismatch',
    hostile: (honest, { transfer }) =>
      withTransfer(honest, transferChecked({ ...transfer, amount: amountOf(transfer.amount) })),
    wouldLand,
  }),
);
