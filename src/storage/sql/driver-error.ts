/** The `code` of an error of Node or of a driver; empty when it has none. */
export function codeOf(error: unknown): string {
  return String(Reflect.get(Object(error), 'code') ?? '');
}

/** The message of an error on one line. */
export function lineOf(error: unknown): string {
  const message = error instanceof Error ? error.message || codeOf(error) : String(error);
  return message.replace(/\s+/g, ' ').trim();
}
