import type { Request, Response } from 'express';
import { onceOver } from '../../lib/http/connection-events.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import type { GateOutcome, Observed } from '../../telemetry/observed.js';
import { passOf, paymentOf } from '../gate/request-properties.js';
import { problemCodeOf } from '../gate/respond.js';
import { noteRoute, routeLabelOf } from './route-label.js';

interface GateNote {
  /** What only they know who serve it. */
  outcome?: GateOutcome;
  project?: string;
}

const notes = createRequestNote<Response, GateNote>();

/**
 * Has a request at a gate told of when it is over, once however many gates it meets.
 * @param observed - where; nothing is measured where nobody watches
 * @param route - the pattern that the gate stands before. Default: that of Express
 */
export function observeGate(observed: Observed | undefined, req: Request, res: Response, route?: string): void {
  if (observed?.isWatched('gate.request') !== true || notes.of(res) !== undefined) return;
  if (route !== undefined) noteRoute(req, route);
  const note: GateNote = {};
  notes.put(res, note);
  const begunAt = performance.now();
  onceOver(res, () =>
    observed.tell('gate.request', {
      route: routeLabelOf(req),
      project: note.project ?? '',
      outcome: outcomeOf(req, res, note),
      seconds: (performance.now() - begunAt) / 1_000,
    }),
  );
}

/** Says which project a request has called, by a label. */
export function noteProject(res: Response, project: string): void {
  const note = notes.of(res);
  if (note !== undefined) note.project = project;
}

/** Says what became of a request; the last word counts, and a problem more than that. */
export function noteOutcome(res: Response, outcome: GateOutcome): void {
  const note = notes.of(res);
  if (note !== undefined) note.outcome = outcome;
}

function outcomeOf(req: Request, res: Response, { outcome }: GateNote): GateOutcome {
  const problem = problemCodeOf(res);
  if (problem === 'payment_required') return 'challenged';
  if (problem !== undefined) return res.statusCode < 500 ? 'refused' : 'failed';
  if (!res.writableFinished) return 'aborted';
  if (outcome !== undefined) return outcome;
  if (passOf(req) !== undefined) return 'pass';
  // Who shows a payment, and neither paid nor had an earlier response, was not charged.
  return paymentOf(req) === undefined ? 'free' : 'uncharged';
}
