import type { z } from 'zod';
import { type FieldFault, TollhouseError } from '../errors.js';

/**
 * Checks the body of a request under `/api/v1` against a schema.
 * @throws TollhouseError `validation_failed` with every fault at once (service.md §1)
 */
export function readBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const errors = result.error.issues.map((issue) => faultOf(issue, body));
  const detail = errors.map((it) => `${it.pointer || 'the body'}: ${it.detail}`).join('; ');
  throw new TollhouseError('validation_failed', `The body is not valid. ${detail}.`, { errors });
}

function faultOf({ path, code, message }: z.core.$ZodIssue, body: unknown): FieldFault {
  const value = path.reduce<unknown>((whole, key) => Reflect.get(Object(whole), key), body);
  const pointer = path.map((key) => `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
  return { pointer, code: value === undefined ? 'required' : code, detail: message };
}
