import type { Statement, Step } from '../sql/sql-database.js';
import { notSuspended } from './project-statements.js';
import type { ProjectRecord } from './projects.js';

/** The statements on the health of upstreams, the same for every database. */
export const HEALTH = {
  /** What is known stays; a project that was changed is looked at anew. */
  watch: {
    name: 'tollhouse_health_watch',
    text: `insert into tollhouse_upstream_health (project_id, failures, successes, due_at) values ($1, 0, 0, $2)
      on conflict (project_id) do update set due_at = $2`,
  },
  forget: {
    name: 'tollhouse_health_forget',
    text: 'delete from tollhouse_upstream_health where project_id = $1',
  },
  /** Two who take at once: the second finds it due no more. */
  take: {
    name: 'tollhouse_health_take',
    text: `update tollhouse_upstream_health set due_at = $2 where due_at <= $1 and project_id in (
        select health.project_id from tollhouse_upstream_health as health
        join tollhouse_project as project on project.id = health.project_id
        where health.due_at <= $1 and project.state = 'active' and ${notSuspended('project.id', 'project.owner')}
        order by health.due_at limit $3)
      returning project_id, failures, successes, down_since`,
  },
  record: {
    name: 'tollhouse_health_record',
    text: `update tollhouse_upstream_health
      set failures = $3, successes = $4, down_since = $5, checked_at = $6, due_at = $7
      where project_id = $1 and due_at = $2 returning project_id`,
  },
} as const satisfies Record<string, Statement>;

/** What is to be done about the looks at a project's upstream when the project is written. */
export function healthSteps({ id, state, upstream, updatedAt }: ProjectRecord): readonly Step[] {
  const isWatched = upstream.health !== undefined && state !== 'deleted';
  return [isWatched ? [HEALTH.watch, id, updatedAt] : [HEALTH.forget, id]];
}
