import { ANSWER_RETENTION_MS, type AnswerBounds } from '../../src/storage/answers.js';
import { openPostgres } from '../../src/storage/postgres-database.js';
import { createSqlAnswers } from '../../src/storage/sql-answers.js';
import type { SqlDatabase } from '../../src/storage/sql-database.js';
import { openSqlite } from '../../src/storage/sqlite-database.js';
import { type PostgresServer, startPostgres } from '../helpers/postgres.js';
import { testClock } from '../helpers/test-clock.js';
import { testFolder } from '../helpers/test-folder.js';
import { answersContract, newRun } from './answers.js';

const folder = testFolder();
let server: PostgresServer;
let url: string;

beforeAll(async () => {
  server = await startPostgres();
  url = await server.newDatabase();
});
afterAll(() => server.stop());

async function emptyPostgres(): Promise<SqlDatabase> {
  const database = await openPostgres(url);
  await server.query(url, 'truncate tollhouse_answer');
  return database;
}

const DATABASES = [
  { name: 'SQLite', open: () => openSqlite(folder.newPath('db')) },
  { name: 'Postgres', open: emptyPostgres },
];

async function openAnswers(openDatabase: () => Promise<SqlDatabase>, bounds: AnswerBounds = {}) {
  const { now, advance } = testClock();
  const database = await openDatabase();
  return { answers: createSqlAnswers(database, { now, ...bounds }), advance, close: () => database.close() };
}

for (const { name, open } of DATABASES) answersContract(name, () => openAnswers(open));

describe.each(DATABASES)('pruning answers on $name', ({ open }) => {
  const PAYLOAD = new Uint8Array(1_000);

  test('forgets what is too old in steps, and nothing else', async () => {
    const { answers, advance, close } = await openAnswers(open);
    const runs = Array.from({ length: 5 }, () => newRun());
    for (const run of runs) {
      await answers.begin(run);
      await answers.finish(run.id, run.lease, PAYLOAD);
    }
    await answers.begin(newRun());
    await advance(ANSWER_RETENTION_MS - 1);
    expect(await answers.prune(100)).toBe(0);
    const young = newRun();
    await answers.begin(young);
    await advance(1);

    expect([await answers.prune(4), await answers.prune(4), await answers.prune(4)]).toEqual([4, 2, 0]);
    expect(await answers.find(young.id, 'first')).toEqual({ status: 'running' });
    await close();
  });

  test('forgets the oldest where all together are too large, in steps, and no more than it takes', async () => {
    const { answers, advance, close } = await openAnswers(open, { maxBytes: 10_000 });
    const runs = Array.from({ length: 20 }, () => newRun());
    for (const run of runs) {
      await answers.begin(run);
      await answers.finish(run.id, run.lease, PAYLOAD);
      await advance(1);
    }
    const left = async () => {
      const found = await Promise.all(runs.map(({ id }) => answers.find(id, 'first')));
      return found.filter((it) => it !== undefined).length;
    };

    expect(await answers.prune(5)).toBe(5);
    expect(await left()).toBe(15);
    expect([await answers.prune(100), await answers.prune(100)]).toEqual([9, 0]);
    expect(await left()).toBe(6);
    expect(await answers.find(runs.at(-1)?.id ?? '', 'first')).toMatchObject({ status: 'replay' });
    await close();
  });
});
