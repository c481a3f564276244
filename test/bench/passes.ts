import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../helpers/storage/postgres.js';
import { startContestant } from './contestant.js';
import type { BenchPart } from './figure.js';
import { cannon, cpuRatio, medianOf, race } from './race.js';

/** What each store must be worth of a bare route, in processor time. */
const AT_LEAST = { memory: 0.85, sqlite: 0.6, postgres: 0.5 } as const;
const MOST_CPU_US = 300;

type Store = keyof typeof AT_LEAST;

/** Requests that one pass covers, by its token, beside the very same requests to the route without a gate. */
export const passesBench: BenchPart = {
  name: 'passes',
  async run({ quick, progress }) {
    const folder = mkdtempSync(join(tmpdir(), 'tollhouse-bench-'));
    const postgres = await startPostgres();
    const keeper = await startContestant('pass-keeper', {
      databases: { sqlite: `sqlite:${join(folder, 'passes.db')}`, postgres: await postgres.newDatabase() },
    });
    try {
      const tokens = await keeper.ask<Record<Store, string>>('tokens');
      const amount = quick ? 1_000 : 2_500;
      const shot = (path: Store | 'bare', token: string) =>
        cannon(keeper, { path: `/${path}`, status: 200, headers: { 'access-pass': token } }, amount);
      const runners = {
        bare: shot('bare', tokens.memory),
        memory: shot('memory', tokens.memory),
        sqlite: shot('sqlite', tokens.sqlite),
        postgres: shot('postgres', tokens.postgres),
      };
      const laps = await race(runners, quick ? 7 : 25, (round) => progress(`round ${round}`));
      return (['memory', 'sqlite', 'postgres'] as const).flatMap((store) => [
        {
          name: `a pass in ${store}: answers for each of a bare route`,
          value: cpuRatio(laps.bare, laps[store]),
          unit: '×',
          atLeast: AT_LEAST[store],
        },
        {
          name: `a pass in ${store}, processor`,
          value: medianOf(laps[store], 'cpuMs') * 1000,
          unit: 'µs',
          atMost: MOST_CPU_US,
        },
      ]);
    } finally {
      await keeper.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
