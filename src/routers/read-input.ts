import type { z } from 'zod';
import { type ErrorCode, type FieldFault, TollhouseError } from '../errors.js';

/**
 * Checks what a request brings against its schema. Throws with every field at fault, named by its JSON pointer.
 *
 * @param code - `invalid_request` (400) on the contract's own endpoints, `validation_failed` (422) under `/api/v1`
 *   (service.md §1)
 */
export function readInput<S extends z.ZodType>(
  schema: S,
  value: unknown,
  code: Extract<ErrorCode, 'invalid_request' | 'validation_failed'> = 'invalid_request',
): z.output<S> {
  const result = schema.safeParse(value ?? {});
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => faultsOf(issue, value));
  const detail = errors.map(({ pointer, detail: what }) => `${pointer === '' ? 'the request' : pointer} ${what}`).join('; ');
  throw new TollhouseError(code, detail, { errors });
}

function faultsOf(issue: z.core.$ZodIssue, value: unknown): FieldFault[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ pointer: pointerOf([...path, key]), code: 'unknown', detail: 'is not a field here' }));
  }
  const missing = issue.code === 'invalid_type' && valueAt(value, path) === undefined;
  return [{ pointer: pointerOf(path), code: missing ? 'required' : issue.code, detail: missing ? `is missing: it ${issue.message}` : issue.message }];
}

function pointerOf(path: readonly string[]): string {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, part) => Reflect.get(Object(at), part), value);
}
