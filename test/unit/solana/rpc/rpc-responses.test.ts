import { ResponseShapeError } from '../../../../src/solana/rpc/response-shape-error.js';
import {
  readAccounts,
  readLatestBlockhash,
  readSimulation,
  readStatuses,
  readText,
  readTip,
  readTokenAccounts,
} from '../../../../src/solana/rpc/rpc-responses.js';

const CONTEXT = { slot: 9 };
const ACCOUNT = { lamports: 5, owner: 'owner', data: ['AQID', 'base64'] };
const STATUS = { slot: 3, err: null, confirmations: 1 };

const account = (changes: object) => readAccounts({ value: [{ ...ACCOUNT, ...changes }] }, 1);
const status = (changes: object) => readStatuses({ context: CONTEXT, value: [{ ...STATUS, ...changes }] }, 1);

test.each<[string, () => unknown]>([
  ['result is not an object', () => readLatestBlockhash(null)],
  ['value is not an object', () => readLatestBlockhash({ value: 5 })],
  ['blockhash is not a text', () => readLatestBlockhash({ value: { lastValidBlockHeight: 1 } })],
  ['lastValidBlockHeight is not a whole number', () => readLatestBlockhash({ value: { blockhash: 'h' } })],
  ['result is not an object', () => readTip([])],
  ['absoluteSlot is not a whole number', () => readTip({ blockHeight: 1 })],
  ['blockHeight is not a whole number', () => readTip({ absoluteSlot: 1 })],
  ['result is not an object', () => readAccounts('x', 1)],
  ['value is not a list of 2', () => readAccounts({ value: [null] }, 2)],
  ['value is not a list of 0', () => readAccounts({ value: [null] }, 0)],
  ['value is not a list of 1', () => readAccounts({ value: { length: 1 } }, 1)],
  ['account is not an object', () => readAccounts({ value: ['x'] }, 1)],
  ['owner is not a text', () => account({ owner: 5 })],
  ['data is not a text', () => account({ data: 'AQID' })],
  ['data is not a text', () => account({ data: undefined })],
  ['data is not a text', () => account({ data: ['AQID', 'base58'] })],
  ['data is not a text', () => account({ data: { 0: 'AQID', 1: 'base64' } })],
  ['data is not a text', () => account({ data: [5, 'base64'] })],
  ['result is not an object', () => readTokenAccounts(undefined)],
  ['value is not a list', () => readTokenAccounts({ value: { length: 0 } })],
  ['value[] is not an object', () => readTokenAccounts({ value: [null] })],
  ['value[].account is not an object', () => readTokenAccounts({ value: [{ account: null }] })],
  ['account is not an object', () => readTokenAccounts({ value: [{}] })],
  ['result is not an object', () => readSimulation(null)],
  ['context is not an object', () => readSimulation({ value: { err: null } })],
  ['context.slot is not a whole number', () => readSimulation({ context: {}, value: { err: null } })],
  ['value is not an object', () => readSimulation({ context: CONTEXT, value: [] })],
  ['value.err is missing', () => readSimulation({ context: CONTEXT, value: {} })],
  ['context is not an object', () => readStatuses({ value: [] }, 0)],
  ['value is not a list of 1', () => readStatuses({ context: CONTEXT, value: [] }, 1)],
  ['status is not an object', () => readStatuses({ context: CONTEXT, value: ['x'] }, 1)],
  ['status.err is missing', () => readStatuses({ context: CONTEXT, value: [{ slot: 1 }] }, 1)],
  ['status.slot is not a whole number', () => status({ slot: -1 })],
  ['status.confirmationStatus is unknown', () => status({ confirmationStatus: 'rooted' })],
  ['status.confirmationStatus is unknown', () => status({ confirmationStatus: 'constructor' })],
  ['result is not a text', () => readText({})],
])('what is wrong is named: %s', (message, read) => {
  expect(read).toThrow(new ResponseShapeError(message));
});

test.each([
  [0, 0n],
  [5, 5n],
  ['18446744073709551615', 18_446_744_073_709_551_615n],
])('the lamports %p are read as they are', (lamports, expected) => {
  expect(account({ lamports })).toEqual([{ lamports: expected, owner: 'owner', data: Buffer.from([1, 2, 3]) }]);
});

test.each([[-1], [1.5], [2 ** 53], [['5']], [null], [''], ['x'], ['5x'], ['x5'], ['-5'], ['0x5'], ['1'.repeat(21)]])(
  'lamports that are no amount are refused: %p',
  (lamports) => {
    expect(() => account({ lamports })).toThrow(new ResponseShapeError('lamports is not a whole number'));
  },
);

test('token accounts are read one by one', () => {
  expect(readTokenAccounts({ value: [{ account: ACCOUNT }, { account: { ...ACCOUNT, lamports: 6 } }] })).toEqual([
    { lamports: 5n, owner: 'owner', data: Buffer.from([1, 2, 3]) },
    { lamports: 6n, owner: 'owner', data: Buffer.from([1, 2, 3]) },
  ]);
  expect(readTokenAccounts({ value: [] })).toEqual([]);
});

test('of the logs of a simulation the lines that are text are kept', () => {
  const logs = ['first', 5, null, 'second'];
  expect(readSimulation({ context: CONTEXT, value: { err: 'E', logs } })).toEqual({
    err: 'E',
    logs: ['first', 'second'],
    slot: 9,
  });
  expect(readSimulation({ context: CONTEXT, value: { err: null, logs: 'first' } }).logs).toEqual([]);
});

describe('what a simulation shows beside its outcome', () => {
  const simulated = (value: object, asked = { accounts: ['a', 'b'], innerInstructions: true }) =>
    readSimulation({ context: CONTEXT, value: { err: null, logs: [], ...value } }, asked);
  const bare = { err: null, logs: [], slot: 9 };

  test('the accounts are read in the order asked, null where there is none', () => {
    const [expected] = account({ lamports: 5 });
    expect(simulated({ accounts: [null, ACCOUNT] }).accounts).toEqual([null, expected]);
  });

  test('an instruction counts as a caller when its group holds a call', () => {
    const innerInstructions = [
      { index: 3, instructions: [{ programIdIndex: 1 }] },
      { index: 4, instructions: [] },
      { index: 5, instructions: [{}, {}] },
    ];
    expect(simulated({ innerInstructions }).innerInstructions).toEqual([3, 5]);
    expect(simulated({ innerInstructions: [] }).innerInstructions).toEqual([]);
  });

  test.each([[{}], [{ accounts: null, innerInstructions: null }]])('a node may leave them out: %j', (value) => {
    expect(simulated(value)).toEqual(bare);
  });

  test('what was not asked for is not read', () => {
    const value = { accounts: 'x', innerInstructions: 'x' };
    expect(simulated(value, { accounts: [], innerInstructions: false })).toEqual(bare);
    expect(readSimulation({ context: CONTEXT, value: { ...value, err: null } })).toEqual(bare);
  });

  test.each([
    ['accounts is not a list of 2', { accounts: [null] }],
    ['accounts is not a list of 2', { accounts: {} }],
    ['lamports is not a whole number', { accounts: [null, { ...ACCOUNT, lamports: -1 }] }],
    ['innerInstructions is not a list', { innerInstructions: {} }],
    ['innerInstructions[] is not an object', { innerInstructions: [null] }],
    ['innerInstructions[].index is not a whole number', { innerInstructions: [{ index: '1', instructions: [] }] }],
    ['innerInstructions[].instructions is not a list', { innerInstructions: [{ index: 1 }] }],
  ])('%s: the answer is refused', (message, value) => {
    expect(() => simulated(value)).toThrow(new ResponseShapeError(message));
  });
});

test.each([
  [{ confirmationStatus: 'processed', confirmations: null }, 'processed'],
  [{ confirmationStatus: 'confirmed' }, 'confirmed'],
  [{ confirmationStatus: 'finalized' }, 'finalized'],
  [{ confirmationStatus: null, confirmations: null }, 'finalized'],
  [{ confirmations: 31 }, 'processed'],
])('the commitment of %j is %s', (changes, commitment) => {
  expect(status(changes)).toEqual({ slot: 9, states: [{ slot: 3, err: null, commitment }] });
});
