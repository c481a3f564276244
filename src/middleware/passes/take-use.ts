import type { Request } from 'express';
import { randomHex } from '../../lib/ids.js';
import { isPending, type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import type { CreditCost } from '../terms/credit-costs.js';
import { coveredBy, debitedAs, meterOn } from './covered-response.js';
import { meterFor } from './meter-for.js';
import { endOf } from './pass-end.js';
import { costFor, refusal, troubled } from './pass-troubles.js';
import type { Adjusted, CreditMeter, NamedRequest, PassParts, PassPlace, PassRefusal, UsedPass } from './pass-types.js';

/** What one request costs a pass of uses. */
const ONE_USE = 1n;

type ShownPass = Pick<UsedPass, 'shown' | 'by'>;

/**
 * Takes from a pass what a request costs before its handler. A request is debited once, however many gates it passes.
 * @throws TollhouseError `wallet_suspended`; nothing is taken then
 */
export function takeUse(
  parts: PassParts,
  req: Request,
  by: ShownPass,
  places: readonly PassPlace[],
): MaybePromise<UsedPass | PassRefusal> {
  return whenKnown(parts.suspensions?.refuseWallet(by.shown.wallet), () => takeByKind(parts, req, by, places));
}

function takeByKind(
  parts: PassParts,
  req: Request,
  by: ShownPass,
  places: readonly PassPlace[],
): MaybePromise<UsedPass | PassRefusal> {
  switch (by.shown.kind) {
    case 'uses':
      return takeOne(parts, req, by, places);
    case 'credit':
      return takeCredit(parts, req, by, places);
    case 'until':
      return takeNothing(parts, by);
  }
}

async function takeNothing({ passes }: PassParts, by: ShownPass): Promise<UsedPass | PassRefusal> {
  const { passId, kind, serial } = by.shown;
  const pass = await passes.find(passId);
  if (pass === undefined) return troubled('unknown', kind);
  const trouble = pass.over ?? (pass.serial === serial ? undefined : 'revoked');
  return trouble === undefined ? { admitted: true, ...by, end: endOf(pass) } : troubled(trouble, kind);
}

function takeOne(
  parts: PassParts,
  req: Request,
  by: ShownPass,
  places: readonly PassPlace[],
): MaybePromise<UsedPass | PassRefusal> {
  const { scope } = by.shown;
  if (!places.some((it) => it.scope === scope && it.refusesUses)) return debit(parts, req, by, ONE_USE);
  const detail = `The access pass counts uses of ${scope}, and this route takes credit of it at what each request costs.`;
  return refusal('pass_of_another_route', detail);
}

async function takeCredit(
  parts: PassParts,
  req: Request,
  by: ShownPass,
  places: readonly PassPlace[],
): Promise<UsedPass | PassRefusal> {
  const cost = costFor(by.shown, places);
  if (cost === undefined) {
    const detail = `The access pass is credit in the token ${by.shown.mint}, in which nothing is sold here any more.`;
    return refusal('pass_of_another_token', detail);
  }
  const before = req.res && meterOn(req.res, by.shown.passId);
  if (before !== undefined) return takeMore(before, req, by, cost);
  const used = await debit(parts, req, by, cost.amount);
  if (!used.admitted || used.answer !== undefined) return used;
  const { left, taken } = used;
  const requestId = taken?.requestId ?? '';
  const { passId, wallet } = by.shown;
  const adjusting = unlessSuspended(parts, cost.amount);
  const meter = meterFor(parts, req, { whose: `the pass ${passId}`, cost, left }, (amount) =>
    adjusting(wallet, { passId, requestId, amount }),
  );
  return { ...used, meter };
}

/**
 * Takes no more for a request whose wallet an operator has suspended since: a response that is charged as it goes ends there. What is less
 * is given back all the same.
 * @param taken - what the request has taken already
 */
export function unlessSuspended({ passes, suspensions }: Pick<PassParts, 'passes' | 'suspensions'>, taken: bigint) {
  let most = taken;
  return async (wallet: string, adjustment: Parameters<PassParts['passes']['adjust']>[0]): Promise<Adjusted> => {
    const { amount } = adjustment;
    const suspension = amount > most ? await suspensions?.find('wallet', wallet) : undefined;
    if (suspension !== undefined) return { ok: false, fault: 'revoked' };
    const adjusted = await passes.adjust(adjustment);
    if (adjusted.ok) most = amount;
    return adjusted;
  };
}

/** At another gate on the way of the same request. */
async function takeMore(
  meter: CreditMeter,
  { res }: Request,
  { shown, by }: ShownPass,
  cost: CreditCost,
): Promise<UsedPass | PassRefusal> {
  const raised = await meter.raise(cost);
  const requestId = (res && debitedAs(res)) ?? '';
  return raised.ok
    ? {
        admitted: true,
        shown,
        by,
        left: raised.left,
        taken: { requestId, amount: meter.taken },
        meter,
      }
    : troubled(raised.fault, shown.kind);
}

function debit(parts: PassParts, req: Request, by: ShownPass, amount: bigint): MaybePromise<UsedPass | PassRefusal> {
  const { res } = req;
  const { passId, serial } = by.shown;
  const before = res && coveredBy(res);
  if (before?.isSpent && before.used.shown.passId === passId) return { ...before.used, ...by };
  const requestId = (before && debitedAs(res)) ?? newRequestId();
  const asked = { passId, requestId, amount, serial };
  if (parts.namedOf === undefined) return debitAs(parts, by, asked);
  return whenKnown(parts.namedOf(req), (named) =>
    named === undefined ? debitAs(parts, by, asked) : debitNamed(parts, named, by, asked),
  );
}

type AskedDebit = Parameters<PassParts['passes']['debit']>[0];

/** Once it has begun under its name: a process that dies at any moment leaves word of what it has taken. */
async function debitNamed(
  { passes }: PassParts,
  named: NamedRequest,
  by: ShownPass,
  asked: AskedDebit,
): Promise<UsedPass | PassRefusal> {
  const answer = await named.begin(asked);
  if (answer !== undefined) return { admitted: true, ...by, answer };
  try {
    const used = usedAs(by, asked, await passes.debit(asked));
    if (!used.admitted) await named.letGo();
    return used;
  } catch (error) {
    await named.abandon();
    throw error;
  }
}

function debitAs(parts: PassParts, by: ShownPass, asked: AskedDebit): MaybePromise<UsedPass | PassRefusal> {
  const debited = parts.passes.debit(asked);
  const told = isPending(debited) ? debited.catch((error) => undone(parts, asked, error)) : debited;
  return whenKnown(told, (taken) => usedAs(by, asked, taken));
}

function usedAs(
  { shown, by }: ShownPass,
  { requestId, amount }: AskedDebit,
  taken: Awaited<ReturnType<PassParts['passes']['debit']>>,
): UsedPass | PassRefusal {
  return taken.ok
    ? { admitted: true, shown, by, left: taken.left, taken: { requestId, amount } }
    : troubled(taken.fault, shown.kind);
}

/** What the answer of a store was lost of may have been taken all the same, or be on its way still, and nobody is served for it. */
function undone({ passes, giveBack }: PassParts, { passId, requestId }: AskedDebit, error: unknown): never {
  void giveBack(`the pass ${passId}`, () => passes.giveBack(passId, requestId, true));
  throw error;
}

const PROCESS = randomHex(16);
let requests = 0;

/** Not the client's to choose: one name for many requests would be one debit for all of them. */
function newRequestId(): string {
  requests += 1;
  return `${PROCESS}${requests.toString(36)}`;
}
