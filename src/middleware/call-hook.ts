/**
 * Tells the app about an event. A listener that throws, or whose promise rejects, is reported as a warning: the request,
 * whose money may have moved already, goes on.
 */
export function callHook<Event>(name: string, hook: ((event: Event) => unknown) | undefined, event: Event): void {
  try {
    Promise.resolve(hook?.(event)).catch((error: unknown) => warn(name, error));
  } catch (error) {
    warn(name, error);
  }
}

function warn(name: string, error: unknown): void {
  process.emitWarning(`"${name}" of requirePayment failed: ${String(error)}`, { code: 'TOLLHOUSE_LISTENER' });
}
