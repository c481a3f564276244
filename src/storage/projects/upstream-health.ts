import type { EventRecord } from '../events/events.js';

/** What is known of an upstream. */
export interface HealthState {
  /** Looks in a row that found it failing, up to now. */
  readonly failures: number;
  /** Looks in a row that found it well, since it was down. */
  readonly successes: number;
  /** Since when its project is not sold for that, milliseconds since the epoch; undefined while it is. */
  readonly downSince: number | undefined;
}

/** The right to look at an upstream, for one process and a while. */
export interface HealthTurn extends HealthState {
  readonly projectId: string;
  /** When it ends, milliseconds since the epoch: whoever comes then looks in this one's place. */
  readonly until: number;
}

/** What a look has found. */
export interface HealthFinding extends HealthState {
  /** Milliseconds since the epoch. */
  readonly checkedAt: number;
  /** When the next look is due, the same. */
  readonly dueAt: number;
}

/** How upstreams are, which all processes on a database look after together. Rejects with `store_unavailable`. */
export interface UpstreamHealthStore {
  /**
   * Takes turns at upstreams that are due, of projects that are active and not suspended; nobody else has them until they end.
   * @param now - milliseconds since the epoch
   * @param until - when the turns end
   * @param most - how many are taken
   */
  take(now: number, until: number, most: number): Promise<readonly HealthTurn[]>;
  /** Writes what was found, with its events. False, and nothing is written, when the turn was over or its project has changed. */
  record(turn: HealthTurn, found: HealthFinding, events: readonly EventRecord[]): Promise<boolean>;
}
