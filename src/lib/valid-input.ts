import type { z } from 'zod';
import { type FieldFault, TollhouseError } from '../errors/errors.js';
import { mistakeIn } from './options.js';
import { unknownField } from './unknown-fields.js';

/**
 * Checks what a program gave to a function of ours, as an endpoint checks a body: a misspelt field without effect would sell
 * or spend without the limit that somebody believes to have set.
 * @param where - the function that was called
 * @throws TollhouseError `validation_failed` with every fault at once; an unknown field is told with the one that was
 * probably meant
 */
export function validInput<S extends z.ZodType>(where: string, schema: S, input: unknown): z.output<S> {
  const mistake = mistakeIn(where, input);
  if (mistake !== undefined) throw new TollhouseError('validation_failed', `${where}: ${mistake}.`);
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => faultsOf(issue, schema, input));
  const told = errors.map(({ pointer, detail }) => `${pointer || 'what was given'}: ${detail}`).join('; ');
  throw new TollhouseError('validation_failed', `${where}: ${told}${told.endsWith('?') ? '' : '.'}`, { errors });
}

function faultsOf(issue: z.core.$ZodIssue, schema: z.ZodType, input: unknown): readonly FieldFault[] {
  const { path, code, message } = issue;
  if (code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      pointer: pointerTo([...path, key]),
      code: 'unknown',
      detail: unknownField(schema, path, key),
    }));
  }
  const value = path.reduce<unknown>((whole, key) => Reflect.get(Object(whole), key), input);
  return [{ pointer: pointerTo(path), code: value === undefined ? 'required' : code, detail: message }];
}

function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
}
