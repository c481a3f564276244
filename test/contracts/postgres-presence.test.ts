import pg from 'pg';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openTcpRelay, type TcpRelay } from '../helpers/nodes/tcp-relay.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { until } from '../helpers/until.js';

/** Two processes on one database: one with a line that goes bad, and one that asks whether it lives. */
describe('the presence of a process that shares a Postgres', () => {
  let server: PostgresServer;
  let url: string;
  let relay: TcpRelay;
  let direct: pg.Client;
  let here: SqlDatabase;
  let there: SqlDatabase;

  beforeAll(async () => {
    server = await startPostgres();
    url = await server.newDatabase();
    relay = await openTcpRelay(url);
    direct = new pg.Client(url);
    await direct.connect();
    [here, there] = [await openPostgres(relay.url), await openPostgres(url)];
  });
  afterAll(async () => {
    for (const database of [here, there]) await database?.close();
    await direct?.end();
    await relay?.close();
    await server?.stop();
  });

  /** The connection that holds its lock, as the server numbers it. */
  async function holderOf({ presence }: SqlDatabase): Promise<number | undefined> {
    const text = "select pid from pg_locks where locktype = 'advisory' and objid::text = $1 and granted";
    return (await direct.query<{ pid: number }>(text, [presence.id])).rows.at(-1)?.pid;
  }

  const isSeen = async (database: SqlDatabase) => (await holderOf(database)) !== undefined;

  /** Breaks something, and asks again and again, until another connection holds the lock. Answers what was said. */
  async function toldMeanwhile(breaks: () => unknown): Promise<ReadonlySet<boolean>> {
    const told = new Set<boolean>();
    const before = await holderOf(here);
    await breaks();
    await until(async () => {
      told.add(await there.presence.isGone(here.presence.id));
      const holder = await holderOf(here);
      return holder !== undefined && holder !== before;
    });
    return told;
  }

  test('holds from the first moment of its database', async () => {
    expect(await isSeen(here)).toBe(true);
    expect(await there.presence.isGone(here.presence.id)).toBe(false);
  });

  test('holds while its connections are cut', async () => {
    expect(await toldMeanwhile(() => relay.cut())).toEqual(new Set([false]));
  });

  test('holds where the server has ended its connection and it has not heard of it', async () => {
    const told = await toldMeanwhile(async () => {
      relay.freeze();
      await direct.query(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid::text = $1",
        [here.presence.id],
      );
    });
    expect(told).toEqual(new Set([false]));
  });

  test('is known by nobody at first who has just come, and holds until it has not been seen for a while', async () => {
    const [gone, late] = [await openPostgres(url), await openPostgres(url)];
    await gone.close();
    await until(async () => !(await isSeen(gone)));
    const told: boolean[] = [];
    await until(async () => {
      told.push(await late.presence.isGone(gone.presence.id));
      return told.at(-1) === true;
    });
    expect(told[0]).toBe(false);
    expect(await late.presence.isGone(here.presence.id)).toBe(false);
    await late.close();
  });

  test('holds where who asks was cut off himself, and could not see it', async () => {
    const blind = await openPostgres(relay.url);
    const gone = await openPostgres(url);
    relay.refuses = true;
    relay.cut();
    await gone.close();
    await until(async () => !(await isSeen(blind)));
    expect(await blind.presence.isGone(gone.presence.id)).toBe(false);
    relay.refuses = false;
    await until(() => isSeen(blind));
    expect(await blind.presence.isGone(gone.presence.id)).toBe(false);
    await until(() => blind.presence.isGone(gone.presence.id));
    await blind.close();
  });

  test.each(['', '0', '-1', '1.5', '4294967296', 'a name'])(
    '"%s" names no process, which is never gone',
    async (id) => {
      expect(await there.presence.isGone(id)).toBe(false);
    },
  );

  test('a database that has no connection left is not opened', async () => {
    relay.refuses = true;
    await expect(openPostgres(relay.url)).rejects.toMatchObject({ code: 'store_unavailable' });
    relay.refuses = false;
  });
});
