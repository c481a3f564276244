import { withLast, withTransfer } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { guard, memo } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();
const reason = 'invalid_exact_svm_payload_transaction_instructions_length';

test('twelve instructions are good, thirteen are refused', () =>
  arena().refuses({
    reason,
    twin: (honest) => withLast(honest, ...[3, 4, 5, 6, 7, 8, 9, 10].map((it) => guard(it))),
    hostile: (honest) => withLast(honest, memo('one more')),
    wouldLand: true,
  }));

test('a transaction without an instruction is refused', () =>
  arena().refuses({
    reason,
    twin: (honest) => ({ ...honest, version: 'legacy' }),
    hostile: (honest) => ({
      ...honest,
      changeMessage: (it) => Buffer.concat([it.subarray(0, 4 + 32 * it.readUInt8(3) + 32), Buffer.of(0)]),
    }),
  }));

test('a crowd of transfers does not get past the count', () =>
  arena().refuses({
    reason,
    hostile: (honest) => {
      const [transfer] = honest.instructions.slice(2, 3);
      return withTransfer(honest, ...Array.from({ length: 13 }, () => transfer!));
    },
  }));
