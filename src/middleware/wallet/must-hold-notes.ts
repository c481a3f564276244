import type { Request } from 'express';
import { createRequestNote } from '../../lib/http/request-note.js';
import type { MustHold } from '../../pages/texts/must-hold.js';

const notes = createRequestNote<Request, readonly MustHold[]>();

/** Notes what a gate lets a wallet in for that the request has not proven: any one of what is noted would have opened. */
export function noteMustHold(req: Request, way: MustHold): void {
  notes.put(req, [...mustHoldOf(req), way]);
}

/** What was noted, in the order of the gates; empty where nothing was. */
export function mustHoldOf(req: Request): readonly MustHold[] {
  return notes.of(req) ?? [];
}
