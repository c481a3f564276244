import { moneyOf } from '../../protocol/networks/tokens.js';
import { eventRow, eventSteps } from '../events/event-statements.js';
import { type AnswerRow, answerJson, answerRow, answerStep } from '../idempotency/answer-rows.js';
import { servedStep } from '../ledger/sql-ledger.js';
import { type ColumnValues, namesOf, valuesOf } from '../sql/columns.js';
import { type JsonRow, jsonGroups, jsonRow } from '../sql/json-groups.js';
import type { SqlDatabase, Step } from '../sql/sql-database.js';
import { summand } from '../sql/sql-sums.js';
import { CALL_COLUMNS, callToSql } from './call-rows.js';
import { CALLS } from './call-statements.js';
import type { CallRecord, FinishOptions, KeptAnswer } from './call-store.js';
import { CREDIT } from './credit-statements.js';
import { FINISH_CALLS } from './finish-calls.js';
import { startsOf } from './periods.js';
import { rollupRow, rollupSteps, rollupsOf } from './rollups.js';
import { SPEND, SPEND_INPUT } from './spend-statements.js';

const CALL_NAMES = namesOf(CALL_COLUMNS);
const SPEND_NAMES = namesOf(SPEND_INPUT);

/** `finish` of a book of calls: on SQLite in steps, on Postgres in one statement with whatever else is to be written. */
export function callWriter(
  database: SqlDatabase,
  now: () => number,
): (call: CallRecord, options?: FinishOptions) => Promise<boolean> {
  async function inSteps(call: CallRecord, options: FinishOptions): Promise<boolean> {
    const { payment, creditHoldId } = options;
    const steps = stepsOf(call, options);
    const guard: Step | undefined =
      creditHoldId !== undefined
        ? [CREDIT.endHold, creditHoldId]
        : payment && servedStep(payment.id, payment.lease, now());
    if (guard !== undefined) return (await database.batchIf(guard, steps)).length > 0;
    await database.batch(steps);
    return true;
  }

  if (database.dialect !== 'postgres') return (call, options = {}) => inSteps(call, options);
  const together = jsonGroups(database, FINISH_CALLS);
  // Credit is seldom.
  return (call, options = {}) =>
    call.credit === undefined ? together(rowOf(call, options, now())) : inSteps(call, options);
}

function stepsOf(call: CallRecord, { reservationId, events = [], kept }: FinishOptions): readonly Step[] {
  return [
    ...answersOf(kept).map(answerStep),
    [CALLS.insert, ...valuesOf(CALL_NAMES, callToSql(call))],
    ...(reservationId === undefined ? [] : [[SPEND.giveBack, reservationId] as const]),
    ...eventSteps(events),
    ...spendsOf(call).map((spend): Step => [SPEND.add, ...valuesOf(SPEND_NAMES, spend)]),
    ...givenBy(call),
    ...rollupSteps(rollupsOf(call)),
  ];
}

function rowOf(call: CallRecord, { payment, reservationId, events = [], kept }: FinishOptions, time: number): JsonRow {
  return {
    payment: payment?.id ?? null,
    lease: payment?.lease ?? null,
    time,
    reservation: reservationId ?? null,
    call: [jsonRow(callToSql(call))],
    events: events.map(eventRow),
    spend: spendsOf(call).map(jsonRow),
    rollups: rollupsOf(call).map(rollupRow),
    answers: answersOf(kept).map(answerJson),
  };
}

/** The response that is kept, where there is one. */
function answersOf(kept: KeptAnswer | undefined): readonly AnswerRow[] {
  const rows = kept?.store.rows;
  return kept === undefined || rows === undefined ? [] : [answerRow(kept, rows.keptUntil())];
}

/** The credit that it gave. */
function givenBy({ caller, credit, projectId }: CallRecord): readonly Step[] {
  if (caller === undefined || credit?.kind !== 'given') return [];
  const { mint, amount } = credit.charge;
  return [[CREDIT.give, caller.keyId, projectId, moneyOf(mint), caller.owner, summand(amount)]];
}

/** What left the wallet of its key: what was paid, whether it bought anything or not. Credit was spent when it was given. */
function spendsOf(call: CallRecord): readonly ColumnValues<keyof typeof SPEND_INPUT>[] {
  const { caller, credit, projectId, at } = call;
  const spent = credit === undefined ? call.charge : credit.kind === 'given' ? credit.charge : undefined;
  if (caller === undefined || spent === undefined) return [];
  const [hour, day, month] = startsOf(at);
  const { keyId, owner } = caller;
  const [mint, amount] = [moneyOf(spent.mint), summand(spent.amount)];
  return [{ key_id: keyId, hour, day, month, mint, project_id: projectId, owner, amount }];
}
