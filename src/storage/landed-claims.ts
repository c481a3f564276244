import { EVENT_INPUT, EVENT_INSERT, eventRow, eventSteps, fannedOut } from './event-statements.js';
import { jsonGroups, jsonRow, jsonRows } from './json-groups.js';
import type { ClaimRequest, LandedMoney, Ledger, PaymentRecord } from './ledger.js';
import { legsToSql, termsToSql } from './payment-rows.js';
import type { SqlDatabase, SqlInput } from './sql-database.js';

const CLAIM = {
  id: 'text',
  binding: 'text',
  payer: 'text',
  network: 'text',
  asset: 'text',
  amount: 'bigint',
  pay_to: 'text',
  terms: 'text',
  blockhash: 'text',
  claimed_at: 'bigint',
  lease: 'text',
  lease_ends: 'bigint',
  owner: 'text',
  project_id: 'text',
  owed: 'text',
  slot: 'bigint',
  signature: 'text',
} as const;

const NAMES = Object.keys(CLAIM);
const COLUMNS = NAMES.join(', ');
const EVENT_VALUES = Object.keys(EVENT_INPUT)
  .map((column) => `event.${column}`)
  .join(', ');

const ONE = {
  name: 'tollhouse_claim_landed',
  text: `insert into tollhouse_payment (state, ${COLUMNS})
    values ('confirmed', ${NAMES.map((_, at) => `$${at + 1}`).join(', ')}) on conflict (id) do nothing returning id`,
};

/** In the order of their ids, so that two instances that are shown the same payments do not wait for each other. */
const MANY = {
  name: 'tollhouse_claim_landed_many',
  text: `with claim as materialized (
      select * from ${jsonRows('$1::json', 'claim', { n: 'integer', ...CLAIM, events: 'json' })}),
    won as (
      insert into tollhouse_payment (state, ${COLUMNS}) select 'confirmed', ${COLUMNS} from claim order by id
      on conflict (id) do nothing returning lease as won_lease),
    told as (
      insert into tollhouse_event (${EVENT_INSERT})
      select ${EVENT_VALUES}, ${fannedOut('event.owner')}
      from claim join won on lease = won_lease cross join lateral ${jsonRows('events', 'event', EVENT_INPUT)})
    select n from claim join won on lease = won_lease`,
};

/** `claimLanded` of a ledger on SQLite or Postgres. */
export function landedClaims(database: SqlDatabase, now: () => number): Ledger['claimLanded'] {
  const together = database.dialect === 'postgres' ? jsonGroups(database, MANY) : undefined;

  async function isNew(values: readonly SqlInput[], events: LandedMoney['events'] = []): Promise<boolean> {
    if (together !== undefined) return together({ ...jsonRow(NAMES, values), events: events.map(eventRow) });
    return (await database.batchIf([ONE, ...values], eventSteps(events))).length > 0;
  }

  return async (request, landed) => {
    const time = now();
    const { slot, signature, events } = landed;
    if (!(await isNew([...claimToSql(request, time), slot, signature], events))) return undefined;
    const { lease: _lease, leaseMs: _leaseMs, ...payment } = request;
    return { ...payment, state: 'confirmed', claimedAt: time, slot, signature } satisfies PaymentRecord;
  };
}

/** A claim as columns of `tollhouse_payment`, from `id` to `owed`. */
export function claimToSql(request: ClaimRequest, time: number): SqlInput[] {
  const { id, binding, payer, terms, blockhash, lease, leaseMs, owner, projectId, owed } = request;
  const held = [time, lease, time + leaseMs, owner ?? null, projectId ?? null, legsToSql(owed)] as const;
  return [id, binding, payer, ...termsToSql(terms), blockhash, ...held];
}
