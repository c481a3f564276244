/** What came out of reading a value from outside: the value, or a sentence that says what is wrong with it. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly detail: string };

/** A value that was read. */
export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

/** A value that could not be read, and why. */
export function unparsed(detail: string): { readonly ok: false; readonly detail: string } {
  return { ok: false, detail };
}

const MAX_SHOWN = 60;

/** A value from outside as it may stand in a message: short, and on one line. */
export function shown(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  if (typeof value === 'symbol' || typeof value === 'function' || (typeof value === 'object' && value !== null)) {
    return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
  }
  return String(value).slice(0, MAX_SHOWN);
}

/** The first fault that a schema found, with the path to it: `accepted.amount: Required`. */
export function firstFault(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): string {
  const [issue] = issues;
  if (issue === undefined) return 'it has another shape';
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}

/** Whether a value from outside is an object with string keys; an array is not. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
