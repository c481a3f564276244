import { portNumber } from '../../server/configuration/port-number.js';
import { UsageError } from '../command.js';

/** The port that a flag names; 0 takes a free one. Undefined where it was not given. */
export function portArgument(flag: string, text: string | undefined): number | undefined {
  const read = portNumber.optional().safeParse(text);
  if (read.success) return read.data;
  throw new UsageError(`${flag} must be ${read.error.issues[0]?.message}`);
}
