import type { z } from 'zod';
import { type ErrorCode, type FieldFault, TollhouseError } from '../../errors/errors.js';
import { unknownField } from '../../lib/unknown-fields.js';
import { jsonFault } from '../../protocol/wire/json.js';

/** How faults in what a request brings are told. */
export interface FaultCodes {
  /** Code of every fault that has none of its own. Default `validation_failed` (422), as under `/api/v1`. */
  readonly code?: ErrorCode;
  /** Codes of faults in particular fields, by JSON pointer. */
  readonly fields?: Readonly<Record<string, ErrorCode>>;
  /** What is wrong where the fault is in no field. Default `the body`. */
  readonly whole?: string;
}

type Issue = Pick<z.core.$ZodIssue, 'code' | 'path' | 'message'>;

/** So many faults are told; of a list of thousands, each wrong, the response would be far larger than the request. */
const MAX_FAULTS = 20;

/** Longer names of unknown fields are told cut off. */
const MAX_NAME = 64;
const MAX_PARAM = 200;

/**
 * Checks what a request brings against a schema.
 * @throws TollhouseError with every fault at once, {@link MAX_FAULTS} at most, under the code of the first;
 * an unknown field is told with the one that was probably meant
 */
export function readInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
  { code = 'validation_failed', fields = {}, whole = 'the body' }: FaultCodes = {},
): z.output<S> {
  const result = schema.safeParse(input);
  // Schemas leave keys named __proto__ out without a word.
  const unfit = result.success ? jsonFault(input) : undefined;
  if (result.success && unfit === undefined) return result.data;
  const issues = result.error?.issues.flatMap(singly) ?? [{ code: 'custom', path: [], message: unfit ?? '' } as const];
  const errors = issues.slice(0, MAX_FAULTS).map((issue) => faultOf(issue, input, schema));
  const told = errors.map((it) => `${it.pointer || whole}: ${it.detail}`).join('; ');
  const detail = issues.length > MAX_FAULTS ? `${told}; and ${issues.length - MAX_FAULTS} more` : told;
  const [first] = errors;
  const param = issues[0]?.path.join('.').slice(0, MAX_PARAM);
  throw new TollhouseError(
    fields[first?.pointer ?? ''] ?? code,
    `The request is not valid. ${detail}${detail.endsWith('?') ? '' : '.'}`,
    { errors, ...(param ? { param } : {}) },
  );
}

/** Each unknown field is a fault of its own. */
function singly(issue: z.core.$ZodIssue): readonly Issue[] {
  if (issue.code !== 'unrecognized_keys') return [issue];
  const { code, message, path } = issue;
  return issue.keys.map((key) => ({ code, message, path: [...path, key.slice(0, MAX_NAME)] }));
}

function faultOf({ path, code, message }: Issue, input: unknown, schema: z.ZodType): FieldFault {
  const pointer = path.map((key) => `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
  if (code === 'unrecognized_keys') {
    return { pointer, code: 'unknown', detail: unknownField(schema, path.slice(0, -1), String(path.at(-1))) };
  }
  const value = path.reduce<unknown>((whole, key) => Reflect.get(Object(whole), key), input);
  return { pointer, code: value === undefined ? 'required' : code, detail: message };
}
