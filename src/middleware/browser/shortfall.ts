import type { Request } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';
import { type Lack, nearerLack } from '../../pages/texts/refusals/lack.js';

/** What a wallet that has signed in lacks, for a page that offers other ways in as well. */
export interface Shortfall {
  readonly code: string;
  /** Sentence for people. */
  readonly detail: string;
  /** The same for pages. Default: it is no more than the code says. */
  readonly lack?: Lack | undefined;
}

const notes = createRequestNote<Request, Shortfall | undefined>();

/** Notes what the wallet of a request lacks; of what is noted by several gates, what is made up for soonest. */
export function noteShortfall(req: Request, { code, detail, lack }: Shortfall): void {
  const before = notes.of(req);
  if (before?.lack !== undefined && nearerLack(before.lack, lack) === before.lack) return;
  notes.put(req, { code, detail, lack });
}

/** Forgets what a gate has noted, since another way in has opened: a gate behind it may note its own. */
export function forgetShortfall(req: Request): void {
  if (notes.of(req) !== undefined) notes.put(req, undefined);
}

/** What the wallet of a request was found to lack; undefined where nobody has signed in, or all is there. */
export function shortfallOf(req: Request): Shortfall | undefined {
  return notes.of(req);
}
