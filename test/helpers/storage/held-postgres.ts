import pg from 'pg';
import { until } from '../until.js';

/** A Postgres database in which some work of others is held. */
export interface HeldPostgres {
  /** Resolves when so many of this application wait, for the hold or for each other. Default: one. */
  waits(application: string, many?: number): Promise<void>;
  /** Lets it go on. */
  letGo(): Promise<void>;
  /** Resolves when nobody of this application is connected any more. */
  isGone(application: string): Promise<void>;
}

/**
 * Holds whoever needs what a statement takes, from another connection, in a transaction that is taken back. Where tables are made the
 * statement makes one of them: whoever makes it as well waits.
 */
export async function holdPostgres(url: string, statement: string): Promise<HeldPostgres> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`begin; ${statement}`);
  const look = async (more: string, application: string) => {
    const on = new pg.Client({ connectionString: url });
    await on.connect();
    try {
      const text = `select 1 from pg_stat_activity where datname = current_database() and application_name = $1 ${more}`;
      return (await on.query(text, [application])).rows.length;
    } finally {
      await on.end();
    }
  };
  return {
    waits: (application, many = 1) =>
      until(async () => (await look(`and wait_event_type = 'Lock'`, application)) >= many),
    async letGo() {
      await client.query('rollback');
      await client.end();
    },
    isGone: (application) => until(async () => (await look('', application)) === 0),
  };
}
