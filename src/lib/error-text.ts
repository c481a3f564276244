/** What was thrown, as text: anything can be, also what cannot be made one. */
export function errorText(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'something that cannot be told';
  }
}

/** Causes can go round in a circle. */
const MOST_CAUSES = 8;

/**
 * What was thrown with all that lay underneath it and that it does not say itself: for the log, and for whoever runs the
 * program. Never for clients: errors of Tollhouse keep their causes from them.
 */
export function wholeError(error: unknown): string {
  return withCauses(error, MOST_CAUSES);
}

function withCauses(error: unknown, most: number): string {
  if (!(error instanceof Error)) return errorText(error);
  // What failed at several addresses of a host has a code alone.
  const text = error.message || String(Reflect.get(error, 'code') ?? error.name);
  const cause = error.cause === undefined || most === 0 ? '' : withCauses(error.cause, most - 1);
  return text.includes(cause) ? text : `${text} (${cause})`;
}
