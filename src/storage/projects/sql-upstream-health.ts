import { eventSteps } from '../events/event-statements.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { HEALTH } from './health-statements.js';
import type { UpstreamHealthStore } from './upstream-health.js';

/** The health of upstreams on SQLite or Postgres. The database is not closed with it. */
export function createSqlUpstreamHealth(database: SqlDatabase): UpstreamHealthStore {
  return {
    async take(now, until, most) {
      const rows = await database.query(HEALTH.take, now, until, most);
      return rows.map(({ project_id, failures, successes, down_since }) => ({
        projectId: String(project_id),
        failures: Number(failures),
        successes: Number(successes),
        downSince: down_since === null ? undefined : Number(down_since),
        until,
      }));
    },
    async record({ projectId, until }, { failures, successes, downSince = null, checkedAt, dueAt }, events) {
      const step = [HEALTH.record, projectId, until, failures, successes, downSince, checkedAt, dueAt] as const;
      return (await database.batchIf(step, eventSteps(events))).length > 0;
    },
  };
}
