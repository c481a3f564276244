import type { SimulationOutcome } from '../rpc/rpc.js';
import { readInstruction } from '../transaction/instructions.js';
import type { DecodedTransaction } from '../transaction/transaction.js';

/**
 * Positions of the guards that name the fee payer. In a compiled message it signs and is writable wherever it is named,
 * so that the guard's program could pass its signature on.
 */
export function guardsOnFeePayer({ accounts, instructions }: DecodedTransaction): readonly number[] {
  const [feePayer] = accounts;
  if (feePayer === undefined) return [];
  return instructions.flatMap((it, position) =>
    it.accounts.includes(feePayer) && readInstruction(it).kind === 'guard' ? [position] : [],
  );
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
