import { EVENT_INPUT, EVENT_INSERT, eventRow, eventSteps, fannedOut } from '../events/event-statements.js';
import { type ColumnValues, namesOf, placesOf, valuesOf } from '../sql/columns.js';
import { jsonGroups, jsonRow, jsonRows } from '../sql/json-groups.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import type { ClaimRequest, LandedMoney, PaymentRecord } from './ledger.js';
import { legsToSql, purchaseToSql, termsToSql } from './payment-rows.js';

const PAYMENT = {
  state: 'text',
  id: 'text',
  binding: 'text',
  fingerprint: 'text',
  retry_hash: 'text',
  admitted: 'text',
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
  legs: 'text',
  buys: 'text',
  slot: 'bigint',
  signature: 'text',
} as const;

const NAMES = namesOf(PAYMENT);
const COLUMNS = NAMES.join(', ');
const EVENT_VALUES = Object.keys(EVENT_INPUT)
  .map((column) => `event.${column}`)
  .join(', ');

const ONE = {
  name: 'tollhouse_new_payment',
  text: `insert into tollhouse_payment (${COLUMNS})
    values (${placesOf(NAMES)}) on conflict (id) do nothing returning id`,
};

/** In the order of their ids, so that two instances that are shown the same payments do not wait for each other. */
const MANY = {
  name: 'tollhouse_new_payments',
  text: `with claim as materialized (
      select * from ${jsonRows('$1::json', 'claim', { n: 'integer', ...PAYMENT, events: 'json' })}),
    won as (
      insert into tollhouse_payment (${COLUMNS}) select ${COLUMNS} from claim order by id
      on conflict (id) do nothing returning lease as won_lease),
    told as (
      insert into tollhouse_event (${EVENT_INSERT})
      select ${EVENT_VALUES}, ${fannedOut('event.owner')}
      from claim join won on lease = won_lease cross join lateral ${jsonRows('events', 'event', EVENT_INPUT)})
    select n from claim join won on lease = won_lease`,
};

/**
 * Claims payments that the ledger does not know, which nearly all are: what there is to be known of such a one needs no
 * reading back. Undefined when it knows it.
 * @param landed - says that the money is there already
 */
export type ClaimNew = (request: ClaimRequest, landed?: LandedMoney) => Promise<PaymentRecord | undefined>;

/** Makes {@link ClaimNew} for SQLite or Postgres. */
export function createClaimNew(database: SqlDatabase, now: () => number): ClaimNew {
  const together = database.dialect === 'postgres' ? jsonGroups(database, MANY) : undefined;

  async function isNew(
    payment: ColumnValues<keyof typeof PAYMENT>,
    events: LandedMoney['events'] = [],
  ): Promise<boolean> {
    if (together !== undefined) return together({ events: events.map(eventRow), ...jsonRow(payment) });
    return (await database.batchIf([ONE, ...valuesOf(NAMES, payment)], eventSteps(events))).length > 0;
  }

  return async (request, landed) => {
    const { lease: _lease, leaseMs: _leaseMs, ...payment } = request;
    const record = { ...payment, ...stateOf(landed), claimedAt: now() };
    return (await isNew(toSql(request, record), landed?.events)) ? record : undefined;
  };
}

function stateOf(landed: LandedMoney | undefined) {
  if (landed === undefined) return { state: 'claimed' } as const;
  return { state: 'confirmed', slot: landed.slot, signature: landed.signature } as const;
}

/** A held payment as its columns. */
function toSql({ lease, leaseMs }: ClaimRequest, record: PaymentRecord): ColumnValues<keyof typeof PAYMENT> {
  const { claimedAt, terms } = record;
  return {
    state: record.state,
    id: record.id,
    binding: record.binding,
    fingerprint: record.fingerprint ?? null,
    retry_hash: record.retryHash ?? null,
    admitted: record.admitted ?? null,
    payer: record.payer,
    blockhash: record.blockhash,
    claimed_at: claimedAt,
    lease,
    lease_ends: claimedAt + leaseMs,
    owner: record.owner ?? null,
    project_id: record.projectId ?? null,
    owed: legsToSql(record.owedLegs),
    legs: legsToSql(record.legs),
    buys: purchaseToSql(record.buys),
    slot: record.slot ?? null,
    signature: record.signature ?? null,
    ...termsToSql(terms),
  };
}
