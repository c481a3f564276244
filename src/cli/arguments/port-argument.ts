import { UsageError } from '../command.js';

const HIGHEST = 65_535;

/** The port that a flag names; 0 takes a free one. Undefined where it was not given. */
export function portArgument(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= HIGHEST) return Number(text);
  throw new UsageError(`${flag} must be a port number from 0 (a free one) to ${HIGHEST}, not "${text}"`);
}
