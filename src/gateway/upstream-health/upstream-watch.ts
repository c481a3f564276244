import { createWorkLoop } from '../../lib/work-loop.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import type { HealthTurn, UpstreamHealthStore } from '../../storage/projects/upstream-health.js';
import { afterLook, healthEvents } from './health-rules.js';
import { createLooker, type LookerParts } from './look-at-upstream.js';

/** Looks at the upstreams that want it. Several instances share the looks: each is made by one of them. */
export interface UpstreamWatch {
  /** Looks from now on at what is due. Keeps no process alive. */
  start(): void;
  /** Looks at everything that is due, and writes what it finds; answers how many looks were made. */
  runDue(): Promise<number>;
  /** Takes nothing any more, and waits for what is under way. */
  stop(): Promise<void>;
}

/** What {@link createUpstreamWatch} works with. */
export interface UpstreamWatchParts extends LookerParts {
  readonly store: UpstreamHealthStore;
  /** A project that is not deleted. */
  readonly findProject: (id: string) => Promise<ProjectRecord | undefined>;
  /** A project is sold no more, or again. */
  readonly changed: (slug: string) => void;
  /** Told of what went wrong with the store; the work goes on. */
  readonly onFault: (error: unknown) => void;
}

const AT_ONCE = 20;
/** Several times as long as a look may take. */
const TURN_MS = 60_000;

/** Makes a watch. It does nothing before it is started. */
export function createUpstreamWatch(parts: UpstreamWatchParts): UpstreamWatch {
  const { store, findProject, changed, onFault, now } = parts;
  const looker = createLooker(parts);

  async function lookOnce(turn: HealthTurn): Promise<void> {
    const project = await findProject(turn.projectId);
    const { health } = project?.upstream ?? {};
    if (project === undefined || health === undefined) return;
    const look = await looker.look(project);
    const time = now();
    const after = afterLook(turn, look, time);
    const events = healthEvents(project, turn, after, look, time);
    const found = { ...after, checkedAt: time, dueAt: time + health.intervalMs };
    if ((await store.record(turn, found, events)) && events.length > 0) changed(project.slug);
  }

  async function runDue(): Promise<number> {
    const time = now();
    const turns = await store.take(time, time + TURN_MS, AT_ONCE);
    await Promise.all(turns.map((turn) => lookOnce(turn).catch(onFault)));
    return turns.length;
  }

  const loop = createWorkLoop(runDue, onFault);

  return {
    start: loop.start,
    runDue,
    async stop() {
      await loop.stop();
      await looker.close();
    },
  };
}
