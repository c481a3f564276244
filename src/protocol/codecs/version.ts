import { shown } from '../../lib/parsed.js';
import { type Unreadable, unreadable } from '../wire/terms.js';

/** A version of x402. */
export type WireVersion = 1 | 2;

/** What an object of the wire gives as its version, unchecked. */
export function versionOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, 'x402Version') : undefined;
}

/** The fault of an object of the wire that is of another version than expected, or undefined. */
export function versionFault(value: unknown, expected: WireVersion): Unreadable | undefined {
  const version = versionOf(value);
  if (version === expected) return undefined;
  if (typeof value !== 'object' || value === null)
    return unreadable('invalid_payload', `expected an object, not ${shown(value)}`);
  return unreadable('invalid_x402_version', `x402Version must be ${expected} here, not ${shown(version)}`);
}
