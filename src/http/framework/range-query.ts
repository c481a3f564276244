import { z } from 'zod';

const EXAMPLE = 'must be a time such as 2030-01-02T03:04:05Z';

/** A time as clients write it (RFC 3339), as milliseconds since the epoch. */
const time = z.iso
  .datetime({ offset: true, error: EXAMPLE })
  .refine((text) => Date.parse(text) >= 0, 'must be after 1970');

/** Query parameters of everything that is told for a stretch of time. */
export const rangeQuery = {
  from: time.optional().describe('Start; the step that it lies in is told whole.'),
  to: time.optional().describe('End; the step that it lies in is told whole. Default: now.'),
};

/** The times of {@link rangeQuery}, milliseconds since the epoch. */
export function readRange({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) {
  return {
    from: from === undefined ? undefined : Date.parse(from),
    to: to === undefined ? undefined : Date.parse(to),
  };
}
