import type { Keypair } from '@solana/web3.js';
import { guardProgram } from '../../src/sandbox/programs/guard-program.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { PROGRAMS } from '../../src/solana/transaction/programs.js';
import { type Account, instruction } from '../helpers/transactions/raw-instructions.js';
import { upgradeProgram } from '../helpers/transactions/upgrade-program.js';
import { call, lamports, send, sign } from './sandbox-client.js';

let sandbox: Sandbox;
let payer: Keypair;
let friend: Keypair;

beforeAll(async () => {
  sandbox = await startSandbox({ slotMs: 0 });
  payer = await sandbox.createWallet({ sol: '1', usdc: '1' });
  friend = await sandbox.createWallet({ sol: '1' });
});
afterAll(() => sandbox.close());

const textOf = ({ publicKey }: Keypair) => publicKey.toBase58();
const lighthouse = (accounts: readonly Account[], data: ArrayLike<number>) =>
  instruction(PROGRAMS.lighthouse, accounts, data);
const signing = () => ({ address: textOf(payer), signs: true, written: true });
const until = (slot: number) => {
  const data = Buffer.alloc(9, 15);
  data.writeBigUInt64LE(BigInt(slot), 1);
  return lighthouse([], data);
};
/** A transfer of SOL by the System program, called by the guard program on a first byte. */
const moving = (first: number, amount: number) => {
  const { data } = lamports(payer, friend.publicKey, amount);
  return lighthouse([PROGRAMS.system, signing(), { address: textOf(friend), written: true }], [first, ...data]);
};

async function simulate(...instructions: Parameters<typeof sign>[2]) {
  const { wire } = await sign(sandbox, [payer], instructions);
  const options = { encoding: 'base64', commitment: 'processed', innerInstructions: true };
  const { result } = await call(sandbox, 'simulateTransaction', [wire, options]);
  return result.value;
}

test.each([2, 3, 4, 5, 6, 7, 8, 9, 10])('an assertion on accounts, %i, passes and calls nobody', async (first) => {
  const token = { address: textOf(friend), written: true };
  for (const accounts of [[], [textOf(friend)], [signing(), token, signing(), PROGRAMS.system]]) {
    expect(await simulate(lighthouse(accounts, [first, 1, 2]))).toMatchObject({ err: null, innerInstructions: [] });
  }
});

test.each([[[]], [[0]], [[1]], [[11]], [[14]], [[15, 1]], [[17]], [[255]]])('data %j is no guard', async (data) => {
  expect((await simulate(lighthouse([], data))).err).toEqual({ InstructionError: [0, { Custom: 101 }] });
});

test('an assertion on the clock passes, and the same transaction fails two slots later at the cost of its fee', async () => {
  const { wire, signature } = await sign(sandbox, [payer], [until(sandbox.slot() + 1)]);
  const options = { encoding: 'base64', commitment: 'processed' };
  const outcome = async () => (await call(sandbox, 'simulateTransaction', [wire, options])).result.value.err;
  expect(await outcome()).toBeNull();
  sandbox.advanceSlots();
  expect(await outcome()).toBeNull();
  sandbox.advanceSlots();
  const failed = { InstructionError: [0, { Custom: 6400 }] };
  expect(await outcome()).toEqual(failed);
  const before = sandbox.balance(textOf(payer));
  expect((await send(sandbox, wire, { skipPreflight: true })).result).toBe(signature);
  const { result } = await call(sandbox, 'getSignatureStatuses', [[signature]]);
  expect(result.value[0].err).toEqual(failed);
  expect(before - sandbox.balance(textOf(payer))).toBe(5_000n);
});

test('a call of another program takes effect, and the simulation shows whose call it was', async () => {
  const value = await simulate(lighthouse([], [5]), moving(16, 1_000));
  expect(value).toMatchObject({ err: null, innerInstructions: [{ index: 1, instructions: [{ program: 'system' }] }] });
  const before = sandbox.balance(textOf(friend));
  expect((await send(sandbox, (await sign(sandbox, [payer], [moving(16, 1_000)])).wire)).error).toBeUndefined();
  expect(sandbox.balance(textOf(friend)) - before).toBe(1_000n);
});

test('a call without a program to call is no guard', async () => {
  expect((await simulate(lighthouse([], [16]))).err).toEqual({ InstructionError: [0, { Custom: 101 }] });
});

test('the program can be exchanged for one that calls on another byte', async () => {
  expect((await simulate(moving(5, 1_000))).innerInstructions).toEqual([]);
  const takeBack = upgradeProgram(sandbox, PROGRAMS.lighthouse, guardProgram({ callingByte: 5 }));
  expect((await simulate(moving(5, 1_000))).innerInstructions).toMatchObject([{ index: 0 }]);
  takeBack();
  expect((await simulate(moving(5, 1_000))).innerInstructions).toEqual([]);
});
