import type { PlainInstruction } from './instructions.js';
import type { DecodedTransaction } from './transaction.js';

/** Base fee, in lamports. */
export const LAMPORTS_PER_SIGNATURE = 5_000n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
/** The runtime's allowances where a transaction sets no limit, for each instruction: of a program, and of one built in (SIMD-0170). */
const DEFAULT_UNITS = 200_000;
const DEFAULT_BUILTIN_UNITS = 3_000;
const MAX_UNITS = 1_400_000;

/** Highest fee in lamports that a transaction can cost its fee payer: base fee, and price times unit limit rounded up. */
export function networkFee(requiredSignatures: number, instructions: readonly PlainInstruction[]): bigint {
  const units = BigInt(Math.min(unitLimit(instructions), MAX_UNITS));
  const price = priceOf(instructions);
  const priorityFee = (units * price + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  return BigInt(requiredSignatures) * LAMPORTS_PER_SIGNATURE + priorityFee;
}

/** The same of a transaction. */
export function networkFeeOf({ requiredSignatures, plain }: DecodedTransaction): bigint {
  return networkFee(requiredSignatures, plain);
}

/** The last one counts. */
function priceOf(instructions: readonly PlainInstruction[]): bigint {
  let price = 0n;
  for (const it of instructions) if (it.kind === 'compute-price') price = it.microLamports;
  return price;
}

function unitLimit(instructions: readonly PlainInstruction[]): number {
  let sum = 0;
  for (const it of instructions) {
    if (it.kind === 'compute-limit') return it.units;
    sum += it.kind === 'compute-price' ? DEFAULT_BUILTIN_UNITS : DEFAULT_UNITS;
  }
  return sum;
}
