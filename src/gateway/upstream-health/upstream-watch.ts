import { createWorkLoop } from '../../lib/work/work-loop.js';
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

/** Looks under way in this process. Each has its own place and its own end: one that hangs holds up nobody else's. */
const MAX_UNDER_WAY = 200;
/** Several times as long as a look may take. */
const TURN_MS = 60_000;

/** Makes a watch. It does nothing before it is started. */
export function createUpstreamWatch(parts: UpstreamWatchParts): UpstreamWatch {
  const { store, findProject, changed, onFault, now } = parts;
  const looker = createLooker(parts);
  const underWay = new Set<Promise<void>>();
  let isStopping = false;

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

  /** Begins looks at what is due, as long as there is room; answers how many. */
  async function begin(): Promise<number> {
    const room = MAX_UNDER_WAY - underWay.size;
    if (isStopping || room <= 0) return 0;
    const time = now();
    const turns = await store.take(time, time + TURN_MS, room);
    for (const turn of turns) track(lookOnce(turn));
    return turns.length;
  }

  function track(look: Promise<void>): void {
    const tracked = look.catch(onFault).finally(() => {
      const wasFull = underWay.size >= MAX_UNDER_WAY;
      underWay.delete(tracked);
      if (wasFull) loop.nudge();
    });
    underWay.add(tracked);
  }

  const loop = createWorkLoop(begin, onFault);

  return {
    start: loop.start,
    async runDue() {
      for (let made = 0; ; ) {
        const begun = await begin();
        await Promise.all(underWay);
        if (begun === 0) return made;
        made += begun;
      }
    },
    async stop() {
      isStopping = true;
      await loop.stop();
      await Promise.all(underWay);
      await looker.close();
    },
  };
}
