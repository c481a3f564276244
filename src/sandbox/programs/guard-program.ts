import * as asm from './assembler.js';
import { programFile } from './program-file.js';

/** What the first byte of a guard's data makes the program do. */
export interface GuardProgramOptions {
  /** First byte of a call that is passed on to another program. Default 16. */
  readonly callingByte?: number;
}

const CLOCK_BYTE = 15;
const CALLING_BYTE = 16;
const FIRST_PASSING = 2;
const LAST_PASSING = 10;

/** Lighthouse's "assertion failed", and the code for data that no instruction has. */
const ASSERTION_FAILED = 6400;
const UNKNOWN_INSTRUCTION = 101;

/** An account as the runtime lays it out before the program: where its parts are. */
const SIGNS = 1;
const WRITTEN = 2;
const EXECUTABLE = 3;
const KEY = 8;
const OWNER = 40;
const LAMPORTS = 72;
const DATA_LENGTH = 80;
const DATA = 88;
/** Room to grow that follows the data of an account; the whole is then filled up to a multiple of eight. */
const GROWTH = 10_240;
const NO_DUPLICATE = 0xff;

/** The heap holds what a call to another program is described with: account infos, metas, the instruction. */
const HEAP = 0x3_0000_0000n;
const INFO_BYTES = 56;
const META_BYTES = 16;
const METAS = 4_096;
const INSTRUCTION = 8_192;

/**
 * A stand-in for Lighthouse (`L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95`), which wallets call in the transactions they
 * sign and which cannot be had offline. It looks at the first byte of its data:
 *
 * - 2 to 10, Lighthouse's assertions on accounts: succeeds, whatever is asserted;
 * - 15, an assertion on the clock: fails (error 6400) in a slot above the number in the next eight bytes;
 * - 16 (`callingByte`): calls the program that is its first account, with its further accounts and the rest of its data;
 *   an account that is named twice is passed on once;
 * - anything else fails (error 101).
 */
export function guardProgram({ callingByte = CALLING_BYTE }: GuardProgramOptions = {}): Uint8Array {
  return programFile(
    asm.assemble([
      ...describeAccounts(),
      // r7: length of the data, r8: the data.
      asm.load(7, 8, 0),
      asm.add(8, 8),
      asm.jumpIfEqual(7, 0, 'unknown'),
      asm.loadByte(1, 8, 0),
      asm.jumpIfEqual(1, callingByte, 'call'),
      asm.jumpIfEqual(1, CLOCK_BYTE, 'clock'),
      asm.jumpIfBelow(1, FIRST_PASSING, 'unknown'),
      asm.jumpIfAbove(1, LAST_PASSING, 'unknown'),
      asm.label('pass'),
      asm.set(0, 0),
      asm.exit,
      asm.label('unknown'),
      asm.set(0, UNKNOWN_INSTRUCTION),
      asm.exit,
      ...assertClock(),
      ...callProgram(),
    ]),
  );
}

/**
 * Walks over the accounts and describes each as a call needs it. Before: r1 is where the runtime put the accounts.
 * Afterwards r6 is the number of accounts described and r8 stands behind them, at the length of the data.
 */
function describeAccounts(): asm.Line[] {
  return [
    // r8: the account, r7: how many are left, r3: its info, r4: its meta.
    asm.load(7, 1, 0),
    asm.copy(8, 1),
    asm.add(8, 8),
    asm.set(6, 0),
    asm.setWide(3, HEAP),
    asm.setWide(4, HEAP + BigInt(METAS)),
    asm.label('next account'),
    asm.jumpIfEqual(7, 0, 'accounts end'),
    asm.add(7, -1),
    asm.loadByte(2, 8, 0),
    asm.jumpUnlessEqual(2, NO_DUPLICATE, 'duplicate'),
    ...describeAccount(),
    asm.load(2, 8, DATA_LENGTH),
    asm.add(8, DATA + GROWTH + 7),
    asm.addRegister(8, 2),
    asm.keepBits(8, -8),
    // The epoch in which rent is due.
    asm.add(8, 8),
    asm.jump('next account'),
    asm.label('duplicate'),
    asm.add(8, 8),
    asm.jump('next account'),
    asm.label('accounts end'),
  ];
}

/** The info (key, lamports, length, data, owner, rent epoch, flags) and the meta (key, flags) of the account at r8. */
function describeAccount(): asm.Line[] {
  const pointer = (offset: number, at: number): asm.Line[] => [asm.copy(2, 8), asm.add(2, offset), asm.store(3, at, 2)];
  return [
    ...pointer(KEY, 0),
    asm.store(4, 0, 2),
    ...pointer(LAMPORTS, 8),
    asm.load(2, 8, DATA_LENGTH),
    asm.store(3, 16, 2),
    ...pointer(DATA, 24),
    ...pointer(OWNER, 32),
    asm.loadByte(2, 8, SIGNS),
    asm.storeByte(3, 48, 2),
    asm.storeByte(4, 9, 2),
    asm.loadByte(2, 8, WRITTEN),
    asm.storeByte(3, 49, 2),
    asm.storeByte(4, 8, 2),
    asm.loadByte(2, 8, EXECUTABLE),
    asm.storeByte(3, 50, 2),
    asm.add(3, INFO_BYTES),
    asm.add(4, META_BYTES),
    asm.add(6, 1),
  ];
}

/** The clock is written to the stack; the slot is its first field. */
function assertClock(): asm.Line[] {
  return [
    asm.label('clock'),
    asm.jumpIfBelow(7, 9, 'unknown'),
    asm.copy(1, 10),
    asm.add(1, -40),
    asm.callRuntime('sol_get_clock_sysvar'),
    asm.load(1, 10, -40),
    asm.load(2, 8, 1),
    asm.jumpIfAboveRegister(1, 2, 'too late'),
    asm.jump('pass'),
    asm.label('too late'),
    asm.set(0, ASSERTION_FAILED),
    asm.exit,
  ];
}

/** The instruction (program, metas, their number, data, its length) is for the first account, which is no account of the call. */
function callProgram(): asm.Line[] {
  return [
    asm.label('call'),
    asm.jumpIfEqual(6, 0, 'unknown'),
    asm.setWide(1, HEAP + BigInt(INSTRUCTION)),
    asm.setWide(2, HEAP),
    asm.load(3, 2, 0),
    asm.store(1, 0, 3),
    asm.setWide(3, HEAP + BigInt(METAS + META_BYTES)),
    asm.store(1, 8, 3),
    asm.copy(3, 6),
    asm.add(3, -1),
    asm.store(1, 16, 3),
    asm.add(8, 1),
    asm.store(1, 24, 8),
    asm.add(7, -1),
    asm.store(1, 32, 7),
    asm.copy(3, 6),
    asm.set(4, 0),
    asm.set(5, 0),
    asm.callRuntime('sol_invoke_signed_c'),
    asm.exit,
  ];
}
