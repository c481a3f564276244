import { badOption, TollhouseError } from '../../errors/errors.js';
import { errorText } from '../../lib/error-text.js';
import type { MaybePromise } from '../../lib/maybe-promise.js';

/** Calls a function that was given as an option; what it throws says which one it was. */
export async function askOption<T>(where: string, name: string, ask: () => MaybePromise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw optionFault(where, name, error);
  }
}

/**
 * The error for a function given as an option that threw: it names the option, and its stack is that of the thrower's own
 * code. An error that says how it is to be answered, by a status or as one of ours, is left as it is.
 */
export function optionFault(where: string, name: string, error: unknown): unknown {
  const { status, statusCode, message = errorText(error), stack = '' } = readError(error);
  if (error instanceof TollhouseError || status !== undefined || statusCode !== undefined) return error;
  const fault = new TollhouseError('bad_option', badOption(where, `the function "${name}" threw: ${message}`).message, {
    param: name,
    cause: error,
  });
  const calls = stack.split('\n').filter((line) => /^\s+at /.test(line));
  if (calls.length > 0) fault.stack = `${fault.name}: ${fault.message}\n${calls.join('\n')}`;
  return fault;
}

interface ReadError {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly message?: string;
  readonly stack?: string;
}

function readError(error: unknown): ReadError {
  return error instanceof Error ? error : {};
}
