import { pruneAll, pruningLag } from '../../src/facilitator/recovery/pruning.js';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { startServer } from '../../src/server/start-server.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { anEvent, aWebhook } from '../helpers/http/webhook-samples.js';
import { testFolder } from '../helpers/processes/test-folder.js';
import { BOTH_DATABASES } from '../helpers/storage/both-databases.js';
import { testClock } from '../helpers/test-clock.js';

const DAY_MS = 86_400_000;
const MANY = 1_050;
const LATE_MS = 5_000;
const folder = testFolder();

describe.each(BOTH_DATABASES)('what is of no more use, on %s', (_name, openDatabase) => {
  const clock = testClock();
  let storage: Storage;
  let stopDatabase: () => Promise<void>;
  let stopped: AbortController;
  let isClockRight = async () => true;

  beforeEach(async () => {
    const { url, stop } = await openDatabase();
    stopDatabase = stop;
    storage = await openStorage(url, { now: clock.now });
    stopped = new AbortController();
    isClockRight = async () => true;
    // Old events with their deliveries, and marks and answers that have ended a moment ago.
    const old = clock.now() - 30 * DAY_MS - LATE_MS;
    await storage.gateway.webhooks.create(aWebhook({ createdAt: old, updatedAt: old }), 9);
    await storage.gateway.events.append(Array.from({ length: MANY }, () => anEvent({ at: old })));
    await clock.advance(-30 * DAY_MS - LATE_MS);
    while ((await storage.gateway.deliveries.fanOut(100)) > 0);
    await clock.advance(30 * DAY_MS);
    for (let n = 0; n < MANY; n += 1) await storage.counters.takeOnce(`mark:${n}`, 1);
    await clock.advance(LATE_MS);
  });
  afterEach(async () => {
    await storage.close();
    await stopDatabase();
  });

  const prune = (kept: Pick<Storage, 'prune' | 'gateway'> = storage) =>
    pruneAll({ storage: kept, now: clock.now, isClockRight: () => isClockRight(), stopped: stopped.signal });
  /** Seconds, of those that are behind. */
  async function behind(): Promise<Readonly<Record<string, number>>> {
    const lags = Object.entries(await pruningLag(storage, clock.now()));
    return Object.fromEntries(lags.flatMap(([what, ms]) => (ms === 0 ? [] : [[what, Math.round(ms / 1_000)]])));
  }

  test('goes to the last of it in one round, in small steps, and a figure says how far behind that is', async () => {
    await storage.gateway.events.append([anEvent({ at: clock.now() })]);
    expect(await behind()).toEqual({ events: 5, deliveries: 5, marks: 5 });
    let steps = 0;
    const watched: typeof storage = {
      ...storage,
      async prune(before, limit, books) {
        steps += 1;
        expect(limit).toBe(100);
        return storage.prune(before, limit, books);
      },
    };
    expect(await prune(watched)).toBe(3 * MANY);
    expect(steps).toBeGreaterThanOrEqual(MANY / 100);
    expect(await behind()).toEqual({});
    expect(await storage.gateway.events.list(anEvent().owner, { limit: 9 })).toHaveLength(1);
    expect(await prune()).toBe(0);
  });

  test('is kept while nobody tells that the clock is right, and once it jumps ahead', async () => {
    const kept = { events: 5, deliveries: 5, marks: 5 };
    isClockRight = async () => false;
    expect(await prune()).toBe(0);
    expect(await behind()).toEqual(kept);
    isClockRight = async () => {
      await clock.advance(30_000 + LATE_MS);
      return true;
    };
    expect(await prune()).toBe(0);
    await clock.advance(-30_000 - LATE_MS);
    expect(await behind()).toEqual(kept);
    isClockRight = async () => true;
    expect(await prune()).toBe(3 * MANY);
  });

  test('goes a day after a payment was asked for, with the deliveries that tell of it, and what else is told stays', async () => {
    await prune();
    const at = clock.now();
    const asked = anEvent({ type: 'payment.created', at });
    const others = [anEvent({ type: 'payment.created', at: at + LATE_MS }), anEvent({ at })];
    await storage.gateway.events.append([asked, ...others]);
    while ((await storage.gateway.deliveries.fanOut(100)) > 0);
    await clock.advance(DAY_MS + LATE_MS - 1_000);
    expect(await behind()).toEqual({ events: 4 });
    expect(await prune()).toBe(2);
    const left = await storage.gateway.events.list(asked.owner, { limit: 9 });
    expect(left.map(({ id }) => id).sort()).toEqual(others.map(({ id }) => id).sort());
    expect(await behind()).toEqual({});
  });

  test('is left for the next time when the server stops', async () => {
    const stopping: typeof storage = {
      ...storage,
      async prune(...range) {
        stopped.abort();
        return storage.prune(...range);
      },
    };
    const gone = await prune(stopping);
    expect(gone).toBeGreaterThan(0);
    expect(gone).toBeLessThan(MANY);
    expect(await behind()).toEqual({ events: 5, deliveries: 5, marks: 5 });
  });
});

test('the figures of a server say how far behind forgetting is', async () => {
  const url = `sqlite:${folder.newPath('db')}`;
  const storage = await openStorage(url);
  await storage.gateway.events.append([anEvent({ at: Date.now() - 40 * DAY_MS })]);
  await storage.close();
  const server = await startServer(readConfiguration({ PORT: '0', DATABASE_URL: url, LOG_LEVEL: 'silent' }));
  try {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const [, seconds] = /^tollhouse_prune_lag_seconds\{what="events"\} (\S+)$/m.exec(text) ?? [];
    expect(Math.floor(Number(seconds) / 86_400)).toBe(10);
    expect(text).toMatch(/^tollhouse_prune_lag_seconds\{what="calls"\} 0$/m);
  } finally {
    await server.close();
  }
});
