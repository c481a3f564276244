import type { ServerResponse } from 'node:http';
import { createRequestNote } from '../../lib/http/request-note.js';
import type { CreditMeter, PassParts, UsedPass } from './pass-types.js';

/** A response to a request that a pass covers. */
export interface CoveredResponse {
  /** The same for the gate before this one, if the request has passed one. */
  readonly before: CoveredResponse | undefined;
  readonly used: UsedPass;
  readonly parts: PassParts;
  /** Whether it has its price; known when its head is complete. */
  isCharged: boolean;
  /** Resolves when what was taken has been given back, or is tried later; undefined while nothing is. */
  givenBack: Promise<void> | undefined;
  /** Whether it is over, and what was taken for it stays taken: the pass need not know of it any more. */
  isSpent: boolean;
}

const covered = createRequestNote<ServerResponse, CoveredResponse>();

/** Notes that a pass covers a response. */
export function noteCovered(res: ServerResponse, used: UsedPass, parts: PassParts): CoveredResponse {
  const before = covered.of(res);
  const response = { used, parts, isCharged: false, givenBack: undefined, isSpent: false, before };
  covered.put(res, response);
  return response;
}

/** What was noted last of a response. */
export function coveredBy(res: ServerResponse): CoveredResponse | undefined {
  return covered.of(res);
}

/** What measures the credit of a pass for the request of a response; undefined where nothing was taken from it. */
export function meterOn(res: ServerResponse, passId: string): CreditMeter | undefined {
  let response = covered.of(res);
  while (response !== undefined && response.used.shown.passId !== passId) response = response.before;
  return response?.used.meter;
}

/** The name under which a pass was debited for the request of a response; undefined where none was. */
export function debitedAs(res: ServerResponse): string | undefined {
  let response = covered.of(res);
  while (response !== undefined && response.used.taken === undefined) response = response.before;
  return response?.used.taken?.requestId;
}
