const SECOND_MS = 1_000;

/** `Retry-After` in milliseconds from now: seconds, or a date of HTTP. Zero where there is none that can be read. */
export function retryAfterMs(value: string | null | undefined, now = Date.now()): number {
  if (value === null || value === undefined) return 0;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * SECOND_MS : Date.parse(value) - now;
  return Number.isNaN(ms) ? 0 : Math.max(ms, 0);
}
