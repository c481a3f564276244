import { UsageError } from '../command.js';

const FORM = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** A day (`2026-01-31`, from its midnight in UTC on) or a time with its zone (RFC 3339) as milliseconds since the epoch. */
export function readTime(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = FORM.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new UsageError(
    `${flag} must be a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z, not "${text}"`,
  );
}
