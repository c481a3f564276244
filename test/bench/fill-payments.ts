import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';

const DAY_MS = 86_400_000;

let statements = 0;

/** Writes served payments into a ledger, one a second into the past from two days ago on. */
export async function fillPayments(database: SqlDatabase, count: number): Promise<void> {
  const newest = Date.now() - 2 * DAY_MS;
  for (let first = 0; first < count; first += 50_000) {
    const last = Math.min(first + 50_000, count);
    statements += 1;
    await database.query({
      name: `bench_fill_${statements}`,
      text: `insert into tollhouse_payment (id, state, binding, payer, network, asset, amount, pay_to, terms, signature,
          blockhash, slot, claimed_at, finished_at, lease_ends)
        with recursive n(i) as (select cast(${first} as bigint) union all select i + 1 from n where i + 1 < ${last})
        select 'filled_' || i, 'served', 'GET /report|terms', 'payer_' || (i % 5000), 'solana', 'mint', 10000, 'seller',
          '{"scheme":"exact","maxTimeoutSeconds":60}', 'signature_' || i, 'blockhash', 300000000 + i,
          ${newest} - i * 1000, ${newest} - i * 1000 + 700, ${newest} from n`,
    });
  }
}
