/**
 * What was answered in time; undefined for a failure and for silence.
 * @param patienceMs - how long is waited, in milliseconds
 */
export async function withTimeout<T>(
  patienceMs: number,
  ask: () => Promise<T>,
): Promise<{ readonly value: T } | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patienceMs);
  });
  try {
    return await Promise.race([ask().then((value) => ({ value })), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
