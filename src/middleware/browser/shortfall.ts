import type { Request } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';

/** What a wallet that has signed in lacks, for a page that offers other ways in as well. */
export interface Shortfall {
  readonly code: string;
  /** Sentence for people. */
  readonly detail: string;
}

const notes = createRequestNote<Request, Shortfall>();

/** Notes what the wallet of a request lacks. */
export function noteShortfall(req: Request, { code, detail }: Shortfall): void {
  notes.put(req, { code, detail });
}

/** What the wallet of a request was found to lack; undefined where nobody has signed in, or all is there. */
export function shortfallOf(req: Request): Shortfall | undefined {
  return notes.of(req);
}
