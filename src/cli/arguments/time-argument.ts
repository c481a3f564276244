import { z } from 'zod';
import { UsageError } from '../command.js';

/** Date.parse alone takes 31 February for 3 March, and 24:00 for the next day. */
const FORM = z.union([z.iso.date(), z.iso.datetime({ offset: true }), z.iso.datetime({ offset: true, precision: -1 })]);

/** A day (`2026-01-31`, from its midnight in UTC on) or a time with its zone (RFC 3339) as milliseconds since the epoch. */
export function readTime(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (FORM.safeParse(text).success) return Date.parse(text);
  throw new UsageError(
    `${flag} must be a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z, not "${text}"`,
  );
}
