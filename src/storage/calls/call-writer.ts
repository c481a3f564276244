import { moneyOf } from '../../protocol/networks/tokens.js';
import { eventRow, eventSteps } from '../events/event-statements.js';
import { type AnswerRow, answerJson, answerLockStep, answerRow, answerStep } from '../idempotency/answer-rows.js';
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

/** Longer responses, in bytes, are written by themselves: many calls go to a database in one statement. */
export const MOST_IN_GROUP = 32 * 1024;
const CALL_NAMES = namesOf(CALL_COLUMNS);
const SPEND_NAMES = namesOf(SPEND_INPUT);

/** `finish` of a book of calls: on SQLite in steps, on Postgres in one statement with whatever else is to be written. */
export function callWriter(
  database: SqlDatabase,
  now: () => number,
): (call: CallRecord, options?: FinishOptions) => Promise<boolean> {
  async function inSteps(call: CallRecord, options: FinishOptions): Promise<boolean> {
    const { payment, creditHoldId, kept } = options;
    const answer = answerOf(kept);
    const steps = stepsOf(call, options);
    if (creditHoldId !== undefined) return endsHold(database, creditHoldId, answer, steps);
    const keep = answer && answerStep(answer);
    if (payment !== undefined) {
      const served = servedStep(payment.id, payment.lease, now());
      return (await database.batchIf(served, keep === undefined ? steps : [keep, ...steps])).length > 0;
    }
    if (keep !== undefined) return (await database.batchIf(keep, steps)).length > 0;
    await database.batch(steps);
    return true;
  }

  if (database.dialect !== 'postgres') return (call, options = {}) => inSteps(call, options);
  const together = jsonGroups(database, FINISH_CALLS);
  return (call, options = {}) => {
    const isLong = (options.kept?.answer.length ?? 0) > MOST_IN_GROUP;
    // Credit is seldom.
    const isAlone = isLong || call.credit !== undefined;
    return isAlone ? inSteps(call, options) : together(rowOf(call, options, now()));
  };
}

/** Uses credit up and keeps the response, where there is one: both or none, with the steps behind them. */
async function endsHold(
  database: SqlDatabase,
  holdId: string,
  answer: AnswerRow | undefined,
  steps: readonly Step[],
): Promise<boolean> {
  if (answer === undefined) return (await database.batchIf([CREDIT.endHold, holdId], steps)).length > 0;
  const end: Step = [CREDIT.endHoldOfRun, holdId, answer.id, answer.lease];
  return (await database.batchIf(end, [answerStep(answer), ...steps], [answerLockStep(answer)])).length > 0;
}

/** What is written with a call, beside what it uses up and its response. */
function stepsOf(call: CallRecord, { reservationId, events = [] }: FinishOptions): readonly Step[] {
  return [
    [CALLS.insert, ...valuesOf(CALL_NAMES, callToSql(call))],
    ...(reservationId === undefined ? [] : [[SPEND.giveBack, reservationId] as const]),
    ...eventSteps(events),
    ...spendsOf(call).map((spend): Step => [SPEND.add, ...valuesOf(SPEND_NAMES, spend)]),
    ...givenBy(call),
    ...rollupSteps(rollupsOf(call)),
  ];
}

function rowOf(call: CallRecord, { payment, reservationId, events = [], kept }: FinishOptions, time: number): JsonRow {
  const answer = answerOf(kept);
  return {
    payment: payment?.id ?? null,
    lease: payment?.lease ?? null,
    time,
    reservation: reservationId ?? null,
    call: [jsonRow(callToSql(call))],
    events: events.map(eventRow),
    spend: spendsOf(call).map(jsonRow),
    rollups: rollupsOf(call).map(rollupRow),
    answers: answer === undefined ? [] : [answerJson(answer)],
    answer_id: answer === undefined ? null : String(answer.id),
  };
}

/** The response that is kept, where there is one. */
function answerOf(kept: KeptAnswer | undefined): AnswerRow | undefined {
  const rows = kept?.store.rows;
  return kept === undefined || rows === undefined ? undefined : answerRow(kept, rows.keptUntil());
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
