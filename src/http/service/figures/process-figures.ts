import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { VERSION } from '../../../lib/version.js';
import type { FiguresHome } from './home.js';

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
const RESOLUTION_MS = 20;

/** Adds what every process is watched by, under the names that others use. */
export function addProcess(home: FiguresHome): void {
  const { client, registry } = home;
  const registers = [registry];
  new client.Gauge({
    name: 'tollhouse_build_info',
    help: 'Always 1; what runs',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: VERSION, node: process.version }, 1);
  new client.Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process began, seconds since the epoch',
    registers,
  }).set(Date.now() / 1_000 - process.uptime());
  new client.Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory that it has',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new client.Gauge({
    name: 'nodejs_heap_size_used_bytes',
    help: 'Of its JavaScript',
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  new client.Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time that it has used',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / MICROSECONDS);
    },
  });
  addEventLoop(home);
}

/** Measured from the first look on, so that who never looks pays for nothing. */
function addEventLoop({ client, registry }: FiguresHome): void {
  const registers = [registry];
  let lag: IntervalHistogram | undefined;
  const most = new client.Gauge({
    name: 'nodejs_eventloop_lag_max_seconds',
    help: 'The longest that the event loop was late since the last look',
    registers,
  });
  new client.Gauge({
    name: 'nodejs_eventloop_lag_p99_seconds',
    help: 'How late the event loop was since the last look, 99th percentile',
    registers,
    collect() {
      if (lag === undefined) {
        lag = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
        lag.enable();
        return;
      }
      this.set(lag.percentile(99) / NANOSECONDS);
      most.set(lag.max / NANOSECONDS);
      lag.reset();
    },
  });
}
