import { type ColumnValues, namesOf, placesOf, valuesOf } from '../sql/columns.js';
import { type JsonRow, jsonRow } from '../sql/json-groups.js';
import type { Statement, Step } from '../sql/sql-database.js';
import { ANYBODY, ENTRY_BYTES, type NamedAnswer, NO_RUN } from './idempotency-store.js';

/** Columns of an answer that is kept at once. */
const COLUMNS = {
  id: 'text',
  fingerprint: 'text',
  lease: 'text',
  lease_ends: 'bigint',
  expires_at: 'bigint',
  size: 'bigint',
  owner: 'text',
  goes_first: 'bigint',
  answer: 'bytes',
} as const;

const NAMES = namesOf(COLUMNS);
const REPLACED = NAMES.filter((name) => name !== 'id').map((name) => `${name} = excluded.${name}`);

/** Columns of an answer among rows that come as JSON; its bytes are base64 there. */
export const ANSWER_INPUT = { ...COLUMNS, answer: 'text' } as const;

/** What an insert of answers names. */
export const ANSWER_INSERT = NAMES.join(', ');
/** The values of rows of {@link ANSWER_INPUT} for it. */
export const ANSWER_VALUES = ANSWER_INSERT.replace(/answer$/, "decode(answer, 'base64')");
/** What is under its id already is replaced, unless it is somebody else's run or response: of what ends a run only that run is. */
export const ANSWER_REPLACES = `on conflict (id) do update set ${REPLACED.join(', ')}
  where excluded.lease = '' or (tollhouse_answer.lease = excluded.lease and tollhouse_answer.answer is null)
  returning id`;

const PUT: Statement = {
  name: 'tollhouse_answer_put',
  text: `insert into tollhouse_answer (${ANSWER_INSERT}) values (${placesOf(NAMES)}) ${ANSWER_REPLACES}`,
};
const LOCK: Statement = {
  name: 'tollhouse_answer_lock',
  text: 'update tollhouse_answer set lease = lease where id = $1',
};

/** An answer as its columns. */
export type AnswerRow = ColumnValues<keyof typeof COLUMNS> & { readonly answer: Uint8Array };

/** The row of an answer that is kept until a time, in milliseconds since the epoch. */
export function answerRow(
  { id, answer, owner = ANYBODY, fingerprint = NO_RUN, lease = '', isPaid = false }: NamedAnswer,
  expiresAt: number,
): AnswerRow {
  const size = answer.length + ENTRY_BYTES;
  const goesFirst = isPaid ? 0 : 1;
  return { id, fingerprint, lease, lease_ends: 0, expires_at: expiresAt, size, owner, goes_first: goesFirst, answer };
}

/** The step that keeps an answer; answers a row where it does. */
export function answerStep(row: AnswerRow): Step {
  return [PUT, ...valuesOf(NAMES, row)];
}

/** The step that keeps others from what is under the id of an answer, until the transaction ends. */
export function answerLockStep({ id }: AnswerRow): Step {
  return [LOCK, id];
}

/** An answer as a row of {@link ANSWER_INPUT}. */
export function answerJson(row: AnswerRow): JsonRow {
  return jsonRow({ ...row, answer: Buffer.from(row.answer).toString('base64') });
}
