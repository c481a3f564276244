import { AsyncLocalStorage, createHook } from 'node:async_hooks';

/** Counts what keeps a process busy, what was told not to (`unref`) included. */
export interface OpenHandles {
  /** Sockets, and timers of ten milliseconds or more, that the caller has opened since the count began and that are open still. */
  count(): number;
  /** Resolves when none of them is open any more. */
  allClosed(): Promise<void>;
  /** Ends the count. */
  stop(): void;
}

const SOCKETS: ReadonlySet<string> = new Set(['TCPWRAP', 'TLSWRAP']);
/** Shorter timers are those of `allClosed`, which must not count its own. */
const SHORTEST_TIMER_MS = 10;
const LOOK_EVERY_MS = 2;

/** Whose count it is: other files of the worker may have left something running. */
const counts = new AsyncLocalStorage<symbol>();

/** Begins to count sockets and timers that are opened from here on by the caller, and by whatever it sets going. */
export function countOpenHandles(): OpenHandles {
  const open = new Set<number>();
  const own = Symbol('count');
  counts.enterWith(own);
  const hook = createHook({
    init(id, type, _trigger, resource) {
      if (counts.getStore() !== own) return;
      const timer = type === 'Timeout' && Number(Reflect.get(resource, '_idleTimeout')) >= SHORTEST_TIMER_MS;
      if (timer || SOCKETS.has(type)) open.add(id);
    },
    destroy: (id) => void open.delete(id),
  }).enable();
  return {
    count: () => open.size,
    async allClosed() {
      while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    },
    stop: () => void hook.disable(),
  };
}
