import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How a process is at a moment. */
export interface Sample {
  /** Milliseconds of the process's own clock since its start. */
  readonly at: number;
  /** Bytes. */
  readonly rss: number;
  /** Bytes in use after a collection. */
  readonly heap: number;
  /** Bytes of buffers and other memory beside the heap. */
  readonly external: number;
  /** Sockets, timers and whatever else keeps a process alive. */
  readonly handles: number;
  /** How late its timers came since the last sample, 99th percentile and most, milliseconds. */
  readonly lagP99: number;
  readonly lagMost: number;
  /** Warnings of listeners that pile up on one object, as Node words them. */
  readonly leaks: readonly string[];
}

const NANO_PER_MILLI = 1e6;
const RESOLUTION_MS = 20;

/** Makes the function that looks at this process. Needs `--expose-gc`. */
export function createSampler(): () => Sample {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const leaks: string[] = [];
  process.on('warning', ({ name, message }) => {
    if (name === 'MaxListenersExceededWarning') leaks.push(message);
  });
  return () => {
    // A timer of this resolution is that late when nothing is wrong at all.
    const [lagP99, lagMost] = [delay.percentile(99), delay.max].map((it) => it / NANO_PER_MILLI - RESOLUTION_MS);
    globalThis.gc?.();
    // The collection itself is not the server's doing.
    delay.reset();
    const { rss, heapUsed: heap, external } = process.memoryUsage();
    const handles = process.getActiveResourcesInfo().length;
    return { at: performance.now(), rss, heap, external, handles, lagP99: lagP99 ?? 0, lagMost: lagMost ?? 0, leaks };
  };
}
