import { namesOf } from '../sql/columns.js';
import type { SqlInput, Step } from '../sql/sql-database.js';
import { CALL_COLUMNS } from './call-rows.js';
import type { CallsQuery } from './calls-query.js';

const COLUMNS = `seq, ${namesOf(CALL_COLUMNS).join(', ')}`;
const NEWEST_FIRST = 'order by at desc, seq desc';

/**
 * The step that lists calls. Only conditions that are asked for are in it, so that an index answers each. A buyer's calls are those
 * of his keys, and those that his wallet has paid with the key of another.
 */
export function listStep(query: CallsQuery): Step {
  const values: SqlInput[] = [];
  const place = (value: SqlInput) => `$${values.push(value)}`;
  const names: string[] = [];
  const conditions: string[] = [];
  const where = (name: string, value: SqlInput | undefined, condition: (at: string) => string) => {
    if (value === undefined) return;
    names.push(name);
    conditions.push(condition(place(value)));
  };
  where('project', query.projectId, (at) => `project_id = ${at}`);
  where('key', query.keyId, (at) => `key_id = ${at}`);
  where('payer', query.payer, (at) => `payer = ${at}`);
  where('outcome', query.outcome, (at) => `outcome = ${at}`);
  where('status', query.status?.from, (at) => `status >= ${at} and status < ${place(query.status?.below ?? 0)}`);
  where('route', query.route, (at) => `route = ${at}`);
  where('from', query.from, (at) => `at >= ${at}`);
  where('to', query.to, (at) => `at < ${at}`);
  where('before', query.before?.at, (at) => `(at, seq) < (${at}, ${place(query.before?.seq ?? 0n)})`);
  const limit = place(query.limit);
  const page = (...own: readonly string[]) =>
    `select ${COLUMNS} from tollhouse_call where ${[...own, ...conditions].join(' and ')} ${NEWEST_FIRST} limit ${limit}`;
  const name = (kind: string) => `tollhouse_calls_of_${[kind, ...names].join('_')}`;
  if (query.buyer === undefined) return [{ name: name('all'), text: page() }, ...values];
  const buyer = place(query.buyer);
  const text = `select * from (${page(`buyer = ${buyer}`)}) as called
    union all select * from (${page(`payer = ${buyer}`, 'payer <> buyer')}) as paid ${NEWEST_FIRST} limit ${limit}`;
  return [{ name: name('buyer'), text }, ...values];
}
