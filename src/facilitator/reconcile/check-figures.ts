import { SOL_MINT } from '../../protocol/networks/tokens.js';
import { NATIVE_SOL } from '../../solana/transaction/programs.js';
import type { FigureReader, MischargedCall, WrongSum } from '../../storage/books/figure-reader.js';
import type { Findings } from './finding.js';

/** What checking calls and their sums needs. */
export interface FigureCheckParts {
  readonly figures: FigureReader;
  /** Start of a day of UTC since which all calls and sums are kept, milliseconds since the epoch. */
  readonly from: number;
}

const SOL = { native: NATIVE_SOL, wrapped: SOL_MINT };
const CHARGED = 'believe the payment, which is compared with the chain; the call was charged otherwise';
const CREDITED = 'believe the calls; callers can call for more or less than they have paid for nothing';
const SUMMED = 'believe the calls; the sum is shown to its owner and is wrong';

/** Compares what calls were charged with the payments that they used up, and the sums of projects and keys with the calls. */
export async function checkFigures({ figures, from }: FigureCheckParts, findings: Findings): Promise<void> {
  for (const call of await figures.charges(from, SOL)) {
    const ids = call.paymentId === undefined ? [call.id] : [call.id, call.paymentId];
    findings.differs({ kind: 'call', ids, detail: shownCharge(call), advice: CHARGED });
  }
  for (const sum of await figures.figures(from, SOL)) {
    findings.differs({ kind: 'figure', ids: [sum.of], detail: shownSum(sum), advice: SUMMED });
  }
  for (const sum of await figures.spending(from, SOL)) {
    findings.differs({ kind: 'spending', ids: [sum.of], detail: shownSum(sum), advice: SUMMED });
  }
  for (const { projectId, mint, booked, given, used } of await figures.credit(SOL)) {
    const detail = `callers have ${booked} of ${mint} as credit, and calls gave ${given} and used up ${used}`;
    findings.differs({ kind: 'credit', ids: [projectId], detail, advice: CREDITED });
  }
  for (const { keyId, mint, total, months, days, daysByProject } of await figures.uneven(SOL)) {
    const detail =
      `the key has spent ${total} of ${mint} in all, ${months} by months, ${days} by days ` +
      `and ${daysByProject} by projects`;
    findings.differs({ kind: 'spending', ids: [keyId], detail, advice: SUMMED });
  }
}

function shownCharge({ paymentId, uses, state, differs }: MischargedCall): string {
  if (paymentId === undefined) return 'the call was charged, and names no payment';
  if (state === undefined) return 'the call was charged, and its payment is not in the books';
  if (state !== 'served') return `the call was charged, and its payment is ${state}`;
  if (differs.length === 0) return `${uses} calls were charged with the same payment`;
  return differs.map((it) => `the call's ${it.what} is ${it.call}, and its payment's ${it.payment}`).join('; ');
}

function shownSum({ kind, projectId, mint, at, booked, calls }: WrongSum): string {
  const what = mint === undefined ? kind : `${kind} in ${mint}`;
  const where = projectId === undefined ? '' : ` on ${projectId}`;
  return `${what}${where} since ${new Date(at).toISOString()} is ${booked}, and its calls sum to ${calls}`;
}
