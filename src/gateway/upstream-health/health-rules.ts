import { type EventRecord, newEvent } from '../../storage/events/events.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import type { HealthState } from '../../storage/projects/upstream-health.js';

/** What one look at an upstream has found. */
export type Look =
  | { readonly isWell: true; readonly status: number }
  /** `reason`: `status`, `timeout`, or why there was no response: nothing of a host. */
  | { readonly isWell: false; readonly reason: string; readonly status?: number };

const FAILURES_UNTIL_DOWN = 3;
const SUCCESSES_UNTIL_UP = 2;

/** What is known of an upstream after one more look. */
export function afterLook({ failures, successes, downSince }: HealthState, look: Look, now: number): HealthState {
  if (!look.isWell) {
    const more = failures + 1;
    const isDown = downSince === undefined && more >= FAILURES_UNTIL_DOWN;
    return { failures: more, successes: 0, downSince: isDown ? now : downSince };
  }
  if (downSince === undefined) return { failures: 0, successes: 0, downSince };
  const more = successes + 1;
  const isUp = more >= SUCCESSES_UNTIL_UP;
  return { failures: 0, successes: isUp ? 0 : more, downSince: isUp ? undefined : downSince };
}

/** The event that tells that a project is sold no more, or again; none where nothing has changed. */
export function healthEvents(
  { id, slug, name, owner, price }: ProjectRecord,
  before: HealthState,
  after: HealthState,
  look: Look,
  now: number,
): readonly EventRecord[] {
  if ((before.downSince === undefined) === (after.downSince === undefined)) return [];
  const told = { id, slug, name, network: price.network, status: look.status ?? null };
  const event = { owner, projectId: id } as const;
  if (after.downSince !== undefined) {
    const reason = look.isWell ? null : look.reason;
    return [newEvent({ ...event, type: 'project.upstream_down', data: { ...told, reason } }, now)];
  }
  const down_since = new Date(before.downSince ?? now).toISOString();
  return [newEvent({ ...event, type: 'project.upstream_up', data: { ...told, down_since } }, now)];
}
