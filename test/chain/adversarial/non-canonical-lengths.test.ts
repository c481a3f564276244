import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

// Legacy message: three bytes of header, then the number of accounts.
const ACCOUNT_COUNT = 3;

function lengthened(bytes: Buffer, at: number, ...tail: number[]): Buffer {
  const count = bytes.readUInt8(at);
  return Buffer.concat([bytes.subarray(0, at), Buffer.of(count | 0x80, ...tail), bytes.subarray(at + 1)]);
}

function instructionCount(message: Buffer): number {
  return ACCOUNT_COUNT + 1 + 32 * message.readUInt8(ACCOUNT_COUNT) + 32;
}

const SPELLINGS: readonly [string, readonly number[]][] = [
  ['two bytes', [0]],
  ['three bytes', [0x80, 0]],
  ['three bytes beyond 65,535', [0x80, 0x04]],
  ['four bytes', [0x80, 0x80, 0]],
];

describe.each(SPELLINGS)('a length in %s is refused', (_name, tail) => {
  const reason = 'invalid_exact_svm_payload_transaction_could_not_be_decoded';
  const twin = <T extends object>(honest: T) => ({ ...honest, version: 'legacy' as const });

  test('number of signatures, whose first byte then reads as that of a later version', () =>
    arena().refuses({
      reason: 'invalid_exact_svm_payload_transaction_version_unsupported',
      twin,
      hostile: (honest) => ({ ...honest, changeBytes: (it) => lengthened(it, 0, ...tail) }),
    }));

  test.each([
    ['accounts', () => ACCOUNT_COUNT],
    ['instructions', instructionCount],
    // The first instruction: its program, then the number of its accounts.
    ["an instruction's accounts", (message: Buffer) => instructionCount(message) + 2],
  ] as const)('number of %s', (_what, position) =>
    arena().refuses({
      reason,
      twin,
      hostile: (honest) => ({ ...honest, changeMessage: (it) => lengthened(it, position(it), ...tail) }),
    }),
  );
});
