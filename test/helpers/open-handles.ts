import { createHook } from 'node:async_hooks';

/** Counts what keeps a process busy, what was told not to (`unref`) included. */
export interface OpenHandles {
  /** Sockets, and timers of ten milliseconds or more, that were opened since the count began and are open still. */
  count(): number;
  /** Ends the count. */
  stop(): void;
}

const SOCKETS: ReadonlySet<string> = new Set(['TCPWRAP', 'TLSWRAP']);
/** Shorter timers are those of a test that waits. */
const SHORTEST_TIMER_MS = 10;

/** Begins to count sockets and timers of this process. */
export function countOpenHandles(): OpenHandles {
  const open = new Set<number>();
  const hook = createHook({
    init(id, type, _trigger, resource) {
      const timer = type === 'Timeout' && Number(Reflect.get(resource, '_idleTimeout')) >= SHORTEST_TIMER_MS;
      if (timer || SOCKETS.has(type)) open.add(id);
    },
    destroy: (id) => void open.delete(id),
  }).enable();
  return { count: () => open.size, stop: () => void hook.disable() };
}
