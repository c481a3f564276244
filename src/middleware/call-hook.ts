/**
 * Tells the app about an event. A listener that throws, or whose promise rejects, is reported as a warning: the request,
 * whose money may have moved already, goes on.
 * @param where - the function that the listener was given to, for the warning
 * @param name - the option that it was given as
 */
export function callHook<Event>(
  where: string,
  name: string,
  hook: ((event: Event) => unknown) | undefined,
  event: Event,
): void {
  try {
    Promise.resolve(hook?.(event)).catch((error: unknown) => warn(where, name, error));
  } catch (error) {
    warn(where, name, error);
  }
}

function warn(where: string, name: string, error: unknown): void {
  process.emitWarning(`"${name}" of ${where} failed: ${String(error)}`, { code: 'TOLLHOUSE_LISTENER' });
}
