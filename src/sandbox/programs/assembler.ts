/**
 * A small assembler for sBPF, the machine code of Solana's programs. An instruction is eight bytes: the operation, the
 * registers (the source in the high half of the byte, the destination in the low one), a signed 16-bit offset and a signed
 * 32-bit number, little endian. Jumps count in instructions, from the one behind the jump.
 */

/** r0 holds results, r1 to r5 arguments (a call may change them all), r6 to r9 survive calls, r10 ends the stack frame. */
export type Register = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;

/** One line of a program. */
export type Line =
  | { readonly label: string }
  | { readonly syscall: string }
  | { readonly wide: bigint; readonly into: Register }
  | {
      readonly operation: number;
      readonly into?: Register;
      readonly from?: Register;
      readonly offset?: number;
      readonly number?: number;
      readonly to?: string;
    };

/** Machine code, and where in it (in bytes) the calls into the runtime are, which the loader fills in. */
export interface MachineCode {
  readonly bytes: Uint8Array;
  readonly syscalls: readonly { readonly at: number; readonly name: string }[];
}

const INSTRUCTION_BYTES = 8;
const LOAD_WIDE = 0x18;
const CALL = 0x85;

/** A place to jump to. */
export const label = (name: string): Line => ({ label: name });
/** Goes on at a label. */
export const jump = (to: string): Line => ({ operation: 0x05, to });
/** Goes on at a label if a register holds a number. */
export const jumpIfEqual = (into: Register, number: number, to: string): Line => ({
  operation: 0x15,
  into,
  number,
  to,
});
/** Goes on at a label if a register holds another number. */
export const jumpUnlessEqual = (into: Register, number: number, to: string): Line => ({
  operation: 0x55,
  into,
  number,
  to,
});
/** Goes on at a label if a register, without a sign, is above a number. */
export const jumpIfAbove = (into: Register, number: number, to: string): Line => ({
  operation: 0x25,
  into,
  number,
  to,
});
/** Goes on at a label if a register, without a sign, is below a number. */
export const jumpIfBelow = (into: Register, number: number, to: string): Line => ({
  operation: 0xa5,
  into,
  number,
  to,
});
/** Goes on at a label if a register, without a sign, is above another. */
export const jumpIfAboveRegister = (into: Register, from: Register, to: string): Line => ({
  operation: 0x2d,
  into,
  from,
  to,
});
/** Sets a register to a number of 32 bits. */
export const set = (into: Register, number: number): Line => ({ operation: 0xb7, into, number });
/** Sets a register to a number of 64 bits. */
export const setWide = (into: Register, wide: bigint): Line => ({ wide, into });
/** Copies a register. */
export const copy = (into: Register, from: Register): Line => ({ operation: 0xbf, into, from });
/** Adds a number. */
export const add = (into: Register, number: number): Line => ({ operation: 0x07, into, number });
/** Adds a register. */
export const addRegister = (into: Register, from: Register): Line => ({ operation: 0x0f, into, from });
/** Keeps the bits that a number has; a negative one is extended to 64 bits. */
export const keepBits = (into: Register, number: number): Line => ({ operation: 0x57, into, number });
/** Loads a byte of memory, at a register plus an offset. */
export const loadByte = (into: Register, from: Register, offset: number): Line => ({
  operation: 0x71,
  into,
  from,
  offset,
});
/** Loads eight bytes. */
export const load = (into: Register, from: Register, offset: number): Line => ({ operation: 0x79, into, from, offset });
/** Stores a byte, at a register plus an offset. */
export const storeByte = (into: Register, offset: number, from: Register): Line => ({
  operation: 0x73,
  into,
  from,
  offset,
});
/** Stores eight bytes. */
export const store = (into: Register, offset: number, from: Register): Line => ({
  operation: 0x7b,
  into,
  from,
  offset,
});
/** Calls the runtime: arguments in r1 to r5, the result in r0. */
export const callRuntime = (name: string): Line => ({ syscall: name });
/** Ends the program; r0 is 0 for success, any other number is the error. */
export const exit: Line = { operation: 0x95 };

/** Turns lines into machine code. */
export function assemble(lines: readonly Line[]): MachineCode {
  const labels = placesOf(lines);
  const encoded: Buffer[] = [];
  const syscalls: { at: number; name: string }[] = [];
  for (const line of lines) {
    const position = encoded.length;
    if ('label' in line) continue;
    if ('syscall' in line) syscalls.push({ at: position * INSTRUCTION_BYTES, name: line.syscall });
    encoded.push(...encode(line, position, labels));
  }
  return { bytes: Buffer.concat(encoded), syscalls };
}

function placesOf(lines: readonly Line[]): ReadonlyMap<string, number> {
  const labels = new Map<string, number>();
  let position = 0;
  for (const line of lines) {
    if ('label' in line) labels.set(line.label, position);
    else position += 'wide' in line ? 2 : 1;
  }
  return labels;
}

function encode(
  line: Exclude<Line, { readonly label: string }>,
  position: number,
  labels: ReadonlyMap<string, number>,
): Buffer[] {
  // -1 marks a call that the loader resolves by the name beside it.
  if ('syscall' in line) return [instruction({ operation: CALL, number: -1 })];
  if ('wide' in line) {
    const [low, high] = [BigInt.asIntN(32, line.wide), BigInt.asIntN(32, line.wide >> 32n)].map(Number);
    return [
      instruction({ operation: LOAD_WIDE, into: line.into, number: low ?? 0 }),
      instruction({ operation: 0, number: high ?? 0 }),
    ];
  }
  if (line.to === undefined) return [instruction(line)];
  const target = labels.get(line.to);
  if (target === undefined) throw new Error(`no label "${line.to}"`);
  return [instruction({ ...line, offset: target - position - 1 })];
}

interface Encoded {
  readonly operation: number;
  readonly into?: Register;
  readonly from?: Register;
  readonly offset?: number;
  readonly number?: number;
}

function instruction({ operation, into = 0, from = 0, offset = 0, number = 0 }: Encoded): Buffer {
  const bytes = Buffer.alloc(INSTRUCTION_BYTES);
  bytes.writeUInt8(operation, 0);
  bytes.writeUInt8((from << 4) | into, 1);
  bytes.writeInt16LE(offset, 2);
  bytes.writeInt32LE(number, 4);
  return bytes;
}
