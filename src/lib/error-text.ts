/** What was thrown, as text: anything can be, also what cannot be made one. */
export function errorText(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'something that cannot be told';
  }
}

/**
 * What was thrown with all that lay underneath it and that it does not say itself: for the log, and for whoever runs the
 * program. Never for clients: errors of Tollhouse keep their causes from them.
 */
export function wholeError(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : errorText(error);
  const cause = error instanceof Error && error.cause !== undefined ? wholeError(error.cause) : '';
  return text.includes(cause) ? text : `${text} (${cause})`;
}
