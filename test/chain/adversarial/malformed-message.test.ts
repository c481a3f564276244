import { useArena } from '../../helpers/transactions/hostile.js';

const arena = useArena();

// Legacy message: signers, read-only signers, read-only others, number of accounts, accounts.
const [REQUIRED, READONLY_SIGNED, READONLY_UNSIGNED, ACCOUNTS, FIRST_ACCOUNT] = [0, 1, 2, 3, 4];

function changed(message: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(message);
  copy.writeUInt8(value, at);
  return copy;
}

function firstInstruction(message: Buffer): number {
  return FIRST_ACCOUNT + 32 * message.readUInt8(ACCOUNTS) + 32 + 1;
}

/** The key of one account in place of another one. */
function repeated(message: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.from(message);
  message.copy(copy, FIRST_ACCOUNT + 32 * to, FIRST_ACCOUNT + 32 * from, FIRST_ACCOUNT + 32 * (from + 1));
  return copy;
}

const MALFORMED: readonly [string, (message: Buffer) => Buffer][] = [
  ['an account twice', (it) => repeated(it, 2, 3)],
  ['the fee payer a second time, as an account that is only read', (it) => repeated(it, 0, 4)],
  ['the payer a second time', (it) => repeated(it, 1, 4)],
  ['no required signature', (it) => changed(it, REQUIRED, 0)],
  ['fewer required signatures than there are', (it) => changed(it, REQUIRED, 1)],
  ['more required signatures than there are', (it) => changed(it, REQUIRED, 3)],
  ['a fee payer that is not writable', (it) => changed(it, READONLY_SIGNED, 2)],
  ['more read-only accounts than accounts', (it) => changed(it, READONLY_UNSIGNED, 200)],
  ['an instruction of the fee payer as its program', (it) => changed(it, firstInstruction(it), 0)],
  ['an instruction of a program that it does not name', (it) => changed(it, firstInstruction(it), 99)],
];

test.each(MALFORMED)('a message with %s is refused', (_name, changeMessage) =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_transaction_could_not_be_decoded',
    twin: (honest) => ({ ...honest, version: 'legacy' }),
    hostile: (honest) => ({ ...honest, changeMessage }),
  }),
);

test('an instruction with an account that the message does not name is refused', () =>
  arena().refuses({
    reason: 'invalid_exact_svm_payload_transaction_could_not_be_decoded',
    twin: (honest) => ({ ...honest, version: 'legacy' }),
    hostile: (honest) => ({
      ...honest,
      // Limit: 3 + 5 bytes, price: 3 + 9 bytes; then the transfer's program, its four accounts.
      changeMessage: (it) => changed(it, firstInstruction(it) + 8 + 12 + 2, 99),
    }),
  }));
