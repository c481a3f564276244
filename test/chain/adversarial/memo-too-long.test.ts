import { withLast, withMemo } from '../../helpers/transactions/honest-draft.js';
import { useArena } from '../../helpers/transactions/hostile.js';
import { memo } from '../../helpers/transactions/raw-instructions.js';

const arena = useArena();

test.each([
  ['in ASCII', 'x'],
  ['in letters of two bytes', 'é'],
])('a memo of 256 bytes is good, a longer one is refused: %s', (_name, letter) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_memo_too_long',
    twin: (honest) => withMemo(honest, memo(letter.repeat(256 / Buffer.byteLength(letter)))),
    hostile: (honest) => withMemo(honest, memo(`${letter.repeat(256 / Buffer.byteLength(letter))}x`)),
  }),
);

test('a second memo that is too long is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_memo_too_long',
    hostile: (honest) => withLast(honest, memo('x'.repeat(257))),
    wouldLand: true,
  }));
