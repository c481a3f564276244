/**
 * Loads undici, with the first request and not with the package. Where Node's own `fetch` was not used before, loading it
 * would make its dispatcher the one of the whole process, and break the requests of other libraries; so Node's own is loaded
 * first, which reading a name of it does.
 */
export async function loadUndici(): Promise<typeof import('undici')> {
  Reflect.get(globalThis, 'Headers');
  return import('undici');
}
