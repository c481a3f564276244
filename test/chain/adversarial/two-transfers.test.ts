import { withLast } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { transferChecked } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

test.each([
  ['the same one again', {}],
  ['one of another amount', { amount: 1n }],
])('two transfers are refused: %s', (_name, changes) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_no_transfer_instruction',
    hostile: (honest, { transfer }) => withLast(honest, transferChecked({ ...transfer, ...changes })),
    wouldLand: true,
  }),
);
