import { withLast } from '../../helpers/honest-draft.js';
import { useArena } from '../../helpers/hostile.js';
import { transferChecked } from '../../helpers/raw-instructions.js';

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
