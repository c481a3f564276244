import type { SimulationOutcome } from '../rpc/rpc.js';
import type { DecodedTransaction } from '../transaction/transaction.js';

/**
 * Positions of the guards that name the fee payer. In a compiled message it signs and is writable wherever it is named,
 * so that the guard's program could pass its signature on.
 */
export function guardsOnFeePayer({ accounts, instructions, plain }: DecodedTransaction): readonly number[] {
  const [feePayer] = accounts;
  if (feePayer === undefined) return [];
  const found: number[] = [];
  for (const [position, { kind }] of plain.entries()) {
    if (kind === 'guard' && instructions[position]?.accounts.includes(feePayer)) found.push(position);
  }
  return found;
}

/** What a simulation says of guards: that they call no program, that one of them does, or nothing. */
export type GuardProof = 'calls-nobody' | 'calls' | 'not-said';

/** Only the program that owns an account can take its lamports: a guard that calls nobody cannot move the fee payer's. */
export function guardProof(
  guards: readonly number[],
  { innerInstructions }: Pick<SimulationOutcome, 'innerInstructions'>,
): GuardProof {
  if (guards.length === 0) return 'calls-nobody';
  if (innerInstructions === undefined) return 'not-said';
  return guards.some((position) => innerInstructions.includes(position)) ? 'calls' : 'calls-nobody';
}
