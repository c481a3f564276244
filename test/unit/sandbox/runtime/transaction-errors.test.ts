import {
  describeTransactionError,
  INSTRUCTION_ERRORS,
  TRANSACTION_ERRORS,
} from '../../../../src/sandbox/runtime/transaction-errors.js';

test.each([
  ['BlockhashNotFound', 'Blockhash not found'],
  ['AccountNotFound', 'Attempt to debit an account but found no record of a prior credit.'],
  [{ InstructionError: [2, { Custom: 6001 }] }, 'Error processing Instruction 2: custom program error: 0x1771'],
  [
    { InstructionError: [0, 'InvalidAccountData'] },
    'Error processing Instruction 0: invalid account data for instruction',
  ],
  [
    { InsufficientFundsForRent: { account_index: 1 } },
    'Transaction results in an account (1) with insufficient funds for rent',
  ],
  [{ DuplicateInstruction: 3 }, 'Transaction contains a duplicate instruction (3) that is not allowed'],
])('%j reads as the runtime prints it', (err, text) => {
  expect(describeTransactionError(err)).toBe(text);
});

test('names stand at the numbers the runtime gives them', () => {
  const at = (table: typeof TRANSACTION_ERRORS, indexes: number[]) => indexes.map((index) => table[index]?.[0]);
  expect(at(TRANSACTION_ERRORS, [0, 7, 22, 34])).toEqual([
    'AccountInUse',
    'BlockhashNotFound',
    'AddressLookupTableNotFound',
    'CommitCancelled',
  ]);
  expect(at(INSTRUCTION_ERRORS, [0, 19, 31, 52])).toEqual([
    'GenericError',
    'NotEnoughAccountKeys',
    'MissingAccount',
    'BorshIoError',
  ]);
});
