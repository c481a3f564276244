import type { z } from 'zod';
import { badOption, type TollhouseError } from './errors.js';
import { nearest } from './nearest.js';

/**
 * Checks what somebody typed as options against a strict schema and answers them frozen, defaults filled in.
 * Throws `bad_option` with every fault at once: an unknown name with the one that was probably meant, a wrong value
 * with what it must be.
 * @param where - the function that was called, for the message
 */
export function resolveOptions<S extends z.ZodObject>(where: string, schema: S, input: unknown): Readonly<z.output<S>> {
  const result = schema.safeParse(input ?? {});
  if (result.success) return Object.freeze(result.data);
  throw optionsError(where, Object.keys(schema.shape), result.error.issues, input);
}

function optionsError(
  where: string,
  known: readonly string[],
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
): TollhouseError {
  const faults = issues.flatMap((issue) => describe(issue, known, input));
  const param = issues.find((issue) => issue.path.length > 0)?.path[0];
  return badOption(where, faults.join('; '), param === undefined ? undefined : String(param));
}

function describe(issue: z.core.$ZodIssue, known: readonly string[], input: unknown): string[] {
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    return issue.keys.map((key) => unknownOption(key, known));
  }
  if (issue.path.length === 0) return [`the options must be an object (${issue.message})`];
  const name = issue.path.join('.');
  const missing = issue.path.length === 1 && isMissing(input, String(issue.path[0]));
  return [
    missing ? `option "${name}" is missing: it must be ${issue.message}` : `option "${name}" must be ${issue.message}`,
  ];
}

function unknownOption(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  if (meant !== undefined) return `unknown option "${key}"; did you mean "${meant}"?`;
  return `unknown option "${key}"; the options are ${known.join(', ')}`;
}

function isMissing(input: unknown, name: string): boolean {
  return Reflect.get(Object(input), name) === undefined;
}
