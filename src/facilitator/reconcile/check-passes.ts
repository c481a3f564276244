import { defined } from '../../lib/defined.js';
import type { NetworkId } from '../../protocol/types.js';
import type { PaidPass, PassReader } from '../../storage/books/pass-reader.js';
import { type Pass, type PassStore, statedEnd } from '../../storage/passes/pass-store.js';
import { boughtPass } from '../payments/bought-pass.js';
import { refundIdsOf } from '../refunds/past-refunds.js';
import type { Findings } from './finding.js';

/** What checking passes needs. */
export interface PassCheckParts {
  readonly passes: PassReader;
  readonly network: NetworkId;
  /** Milliseconds since the epoch: of payments that were first seen since then. */
  readonly from: number;
  /** Since when the books are complete, milliseconds since the epoch: payments before it may be forgotten. */
  readonly booksFrom: number;
  /** Since when it is remembered what requests took, milliseconds since the epoch. */
  readonly debitsFrom: number;
  /** Ids of payments that the chain knows otherwise than the books: nothing is opened for them. */
  readonly doubted: ReadonlySet<string>;
  /** Ids of refunds that the chain has and the books do not: nothing is opened for what they have paid back. */
  readonly paidBack: ReadonlySet<string>;
  /** Where passes are opened that are missing. Default: they are told, and stay missing. */
  readonly opensIn?: Pick<PassStore, 'open'> | undefined;
}

const OPEN = 'the payer has paid for it: "npx tollhouse reconcile --open-passes" opens it';
const PAID_BACK =
  'nothing is owed for what it paid back: only if that was less than was left, open a pass for the rest';
const BOUGHT = 'believe the payment, which says what it buys; look into the backups which entry was changed';
const COUNTED =
  'look into the backups which entry was changed: its wallet has more of it, or less, than it has paid for';
const GIVEN = 'look who has opened it, or which payment was taken out of the books';

/**
 * Compares passes with the payments that have bought them: each has made one, as it was to be, and of its uses nothing was lost or
 * made. What requests took is remembered for a day: of older passes it is certain only that nothing is left that was not bought.
 */
export async function checkPasses(parts: PassCheckParts, findings: Findings): Promise<void> {
  const { passes, network, from, booksFrom } = parts;
  for await (const page of passes.paid(network, from)) {
    for (const paid of page) await checkPaid(parts, paid, findings);
  }
  for await (const page of passes.allowances(booksFrom)) {
    for (const { pass, taken } of page) checkCount(parts, pass, { bought: pass.bought ?? 0n, taken }, findings);
  }
  for (const { id, paymentId, state } of await passes.strays(network, booksFrom)) {
    const ids = [id, paymentId];
    if (state === undefined) {
      const detail = 'no payment in the books has bought it';
      findings.notes({ kind: 'pass', ids, detail, advice: GIVEN });
    } else {
      const detail = `its payment is ${state}${state === 'failed' || state === 'expired' ? '' : ', and buys none'}`;
      findings.differs({ kind: 'pass', ids, detail, advice: BOUGHT });
    }
  }
}

async function checkPaid(parts: PassCheckParts, paid: PaidPass, findings: Findings): Promise<void> {
  const { paymentId, buys, pass, taken } = paid;
  if (pass === undefined) return tellMissing(parts, paid, findings);
  const ids = [pass.id, paymentId];
  const differs = whatDiffers(paid, pass);
  if (differs.length > 0) findings.differs({ kind: 'pass', ids, detail: differs.join('; '), advice: BOUGHT });
  if (buys.kind === 'until') return;
  checkCount(parts, pass, { bought: buys.bought ?? 0n, taken }, findings);
}

/** What a pass began with, and what requests have taken of it. */
interface Count {
  readonly bought: bigint;
  readonly taken: bigint;
}

function checkCount(parts: PassCheckParts, pass: Pass, { bought, taken }: Count, findings: Findings): void {
  const detail = countFault(bought, taken, pass, pass.openedAt >= parts.debitsFrom);
  if (detail === undefined) return;
  const shown = `${detail}: ${pass.left} of ${bought} are left, and requests took ${taken}`;
  findings.differs({ kind: 'pass', ids: [pass.id, pass.paymentId], detail: shown, advice: COUNTED });
}

async function tellMissing(
  { opensIn, doubted, paidBack }: PassCheckParts,
  { paymentId, payer: wallet, buys, payTo, owner, projectId }: PaidPass,
  findings: Findings,
): Promise<void> {
  const refundId = [...refundIdsOf(paymentId)].find((id) => paidBack.has(id));
  if (refundId !== undefined) {
    const detail =
      'the payment has bought a pass, there is none, and a refund that the books do not know has paid it back';
    return findings.differs({ kind: 'pass', ids: [paymentId, wallet, refundId], detail, advice: PAID_BACK });
  }
  if (opensIn === undefined || doubted.has(paymentId)) {
    const detail = 'the payment has bought a pass, and there is none';
    return findings.differs({ kind: 'pass', ids: [paymentId, wallet], detail, advice: OPEN });
  }
  const whose = { id: paymentId, payer: wallet, terms: { payTo }, ...defined({ owner, projectId }) };
  const bought = boughtPass({ ...whose, buys }, Date.now());
  const { id } = await opensIn.open(bought.pass, bought.events);
  const detail = 'the payment had bought a pass, and there was none; it is open now';
  findings.notes({
    kind: 'pass',
    ids: [id, paymentId, wallet],
    detail,
    advice: 'its time, where it has one, runs from now, or from the end of the pass that it renews',
  });
}

/** What a pass is otherwise than its payment has bought it. One that can be renewed has the times of all its payments. */
function whatDiffers({ paymentId, payer, buys, period }: PaidPass, pass: Pass): readonly string[] {
  const { lastsMs, graceMs } = buys;
  const bought = lastsMs === undefined ? undefined : pass.openedAt + (period?.totalMs ?? lastsMs);
  const end = statedEnd(pass);
  const compared = [
    ['wallet', pass.wallet, payer],
    ['site', pass.site, buys.site],
    ['scope', pass.scope, buys.scope],
    ['kind', pass.kind, buys.kind],
    ['token', pass.mint, buys.mint],
    ['number', pass.bought, buys.bought],
    // Told once, of the payment that has made it.
    ['end', end, paymentId === pass.paymentId ? bought : end],
    ['time of this payment', period?.lastsMs, graceMs === undefined ? undefined : lastsMs],
  ] as const;
  return compared
    .filter(([, is, bought]) => is !== bought)
    .map(([what, is = 'none', bought = 'none']) => `its ${what} is ${is}, and ${bought} was bought`);
}

/** What requests took, the paid one among them, and what is left is what there was. */
function countFault(bought: bigint, taken: bigint, { left = -1n }: Pass, isRemembered: boolean): string | undefined {
  if (left < 0n) return 'less than nothing is left';
  if (left + taken > bought) return 'more is left than can be';
  return isRemembered && left + taken < bought ? 'less is left than requests have taken it to' : undefined;
}
