import type { z } from 'zod';
import { badOption, type TollhouseError } from '../errors/errors.js';
import { didYouMean } from './did-you-mean.js';
import { isRecord } from './parsed.js';

/**
 * Checks what somebody typed as options against a strict schema and answers them frozen, defaults filled in.
 * Throws `bad_option` with every fault at once: an unknown name with the one that was probably meant, a wrong value
 * with what it must be.
 * @param where - the function that was called, for the message
 */
export function resolveOptions<S extends z.ZodObject>(where: string, schema: S, input: unknown): Readonly<z.output<S>> {
  const mistake = mistakeIn(where, input);
  if (mistake !== undefined) throw badOption(where, mistake);
  const result = schema.safeParse(input ?? {});
  if (result.success) return Object.freeze(result.data);
  if (isFirstAlone(schema, input)) {
    const meant = `${where}({ ${neededOf(schema).join(', ')} })`;
    throw badOption(where, `the ${FIRST} stands in the place of the options; did you mean ${meant}?`, FIRST);
  }
  if (input !== undefined && input !== null && !isRecord(input))
    throw badOption(where, notAnObject(where, schema, input));
  throw optionsError(where, Object.keys(schema.shape), result.error.issues, input);
}

/**
 * A usual mistake that gives something else than options, or among them, as a sentence with its remedy: the function was given
 * to Express instead of called, or somebody forgot to await. Undefined for everything else.
 */
export function mistakeIn(where: string, input: unknown): string | undefined {
  if (isRequest(input)) {
    return `it was called by Express with a request; call it and mount what it answers: ${where}({ … }) instead of ${where}`;
  }
  if (isThenable(input)) return 'the options are a promise; write "await" before what makes them';
  const promises = isRecord(input) ? Object.entries(input).filter(([, value]) => isThenable(value)) : [];
  if (promises.length === 0) return undefined;
  return promises.map(([name]) => `option "${name}" is a promise; write "await" before what makes it`).join('; ');
}

/** What most functions cannot do without, and so is given by itself in the place of the options. */
const FIRST = 'facilitator';

function isFirstAlone(schema: z.ZodObject, input: unknown): boolean {
  if (!isRecord(input) || FIRST in input || !neededOf(schema).includes(FIRST)) return false;
  return schema.shape[FIRST]?.safeParse(input).success === true;
}

/** Names of the options that have to be given. */
function neededOf(schema: z.ZodObject): readonly string[] {
  return Object.keys(schema.shape).filter((name) => !schema.shape[name]?.safeParse(undefined).success);
}

function notAnObject(where: string, schema: z.ZodObject, input: unknown): string {
  const needed = neededOf(schema);
  const given = Array.isArray(input) ? 'an array' : `a ${typeof input}`;
  // Options within options have no function of their own.
  const names = needed.length > 0 ? needed : Object.keys(schema.shape);
  if (where.endsWith('"')) return `it must be an object with ${names.join(', ')}, not ${given}`;
  return `the options must be an object, as in ${where}({ ${[...needed, '…'].join(', ')} }), not ${given}`;
}

function isThenable(value: unknown): boolean {
  return typeof Reflect.get(Object(value), 'then') === 'function';
}

/** Express's, Node's own, and those of frameworks that look like them. */
function isRequest(value: unknown): boolean {
  return isRecord(value) && ['headers', 'method', 'url'].every((name) => name in value);
}

function optionsError(
  where: string,
  known: readonly string[],
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
): TollhouseError {
  const misnamed = new Set(issues.flatMap(({ code, path }) => (code === 'unrecognized_keys' ? [path.join('.')] : [])));
  // An object that has a name wrong mostly lacks the right one: that is one mistake.
  const told = issues.filter(({ code, path }) => code === 'unrecognized_keys' || !misnamed.has(path.join('.')));
  const faults = told.flatMap((issue) => describe(issue, known, input));
  const param = issues.find((issue) => issue.path.length > 0)?.path[0];
  return badOption(where, faults.join('; '), param === undefined ? undefined : String(param));
}

function describe(issue: z.core.$ZodIssue, known: readonly string[], input: unknown): string[] {
  if (issue.code === 'unrecognized_keys' && issue.path.length === 0) {
    return unknownOptions(issue.keys, known);
  }
  const name = issue.path.join('.');
  const wanted = wantedBy(issue);
  const missing = issue.path.length === 1 && isMissing(input, String(issue.path[0]));
  return [missing ? `option "${name}" is missing: it must be ${wanted}` : `option "${name}" must be ${wanted}`];
}

/** What a value must be, behind "must be". */
export function wantedBy(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${issue.message}, without "${issue.keys.join('", "')}"`;
  return issue.message.replace(/^Invalid input: expected (\w+), received (\w+)$/, 'of type $1, not $2');
}

/** Those that are like none are told with the list, once. */
function unknownOptions(keys: readonly string[], known: readonly string[]): string[] {
  const strange: string[] = [];
  const told: string[] = [];
  for (const key of keys) {
    const meant = didYouMean(key, known);
    if (meant === undefined) strange.push(`"${key}"`);
    else told.push(`unknown option "${key}"; did you mean "${meant}"?`);
  }
  const [noun, names] = [strange.length === 1 ? 'option' : 'options', strange.join(', ')];
  return strange.length === 0 ? told : [...told, `unknown ${noun} ${names}; the options are ${known.join(', ')}`];
}

function isMissing(input: unknown, name: string): boolean {
  return Reflect.get(Object(input), name) === undefined;
}
