import { TollhouseError } from '../../src/errors/errors.js';

/** The code of the TollhouseError that a promise rejects with; fails for anything else. */
export async function codeOf(promise: unknown): Promise<string> {
  const outcome = await Promise.resolve(promise).catch((reason: unknown) => reason);
  if (outcome instanceof TollhouseError) return outcome.code;
  throw new Error(`expected a TollhouseError, got ${String(outcome)}`);
}
