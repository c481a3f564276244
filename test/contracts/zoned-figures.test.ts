import fc from 'fast-check';
import { createAnalytics, type ProjectAnalytics } from '../../src/gateway/figures/analytics.js';
import { type Interval, timeSteps } from '../../src/gateway/figures/time-steps.js';
import { findTimeZone, localTimeText } from '../../src/gateway/figures/time-zone.js';
import { createPassFigures } from '../../src/storage/books/pass-figures.js';
import { createResponseFigures } from '../../src/storage/books/response-figures.js';
import { DAY_MS, HOUR_MS } from '../../src/storage/calls/periods.js';
import { createSqlCallStore } from '../../src/storage/calls/sql-call-store.js';
import { createSqlCreditStore } from '../../src/storage/calls/sql-credit-store.js';
import { openPostgres } from '../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { type PostgresServer, startPostgres } from '../helpers/storage/postgres.js';
import { failedCall, newCall, newRefusal, USDC, USDT } from './call-samples.js';

const zoneOf = (name: string) => findTimeZone(name) ?? fail(name);
const fail = (name: string): never => {
  throw new Error(`no time zone ${name}`);
};

/** Zones, each with a day on which its clocks are changed. */
const CHANGES = [
  ['UTC', '2026-03-29'],
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/St_Johns', '2026-11-01'],
  ['America/Santiago', '2026-09-06'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Asia/Kathmandu', '2026-05-01'],
  ['Pacific/Chatham', '2026-04-05'],
  ['Pacific/Apia', '2011-12-30'],
] as const;

const ROUTES = [undefined, 'GET /weather/*', '* /maps/**', 'POST /a b'] as const;

const call = fc.record({
  minute: fc.integer({ min: -3 * 24 * 60, max: 3 * 24 * 60 }),
  kind: fc.constantFrom('paid', 'paid', 'failed', 'refused', 'challenged'),
  amount: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  mint: fc.constantFrom(USDC, USDT),
  payer: fc.constantFrom('ann', 'ben', 'cem'),
  rule: fc.constantFrom(...ROUTES),
});
type RandomCall = typeof call extends fc.Arbitrary<infer T> ? T : never;

let server: PostgresServer;
const databases: Partial<Record<'sqlite' | 'postgres', SqlDatabase>> = {};
let projects = 0;

beforeAll(async () => {
  server = await startPostgres();
  databases.sqlite = await openSqlite(':memory:');
  databases.postgres = await openPostgres(await server.newDatabase());
});
afterAll(async () => {
  for (const it of Object.values(databases)) await it.close();
  await server.stop();
});

/** The figures of a project of its own that has had these calls. */
async function figuresOf(
  dialect: 'sqlite' | 'postgres',
  calls: readonly RandomCall[],
  around: number,
  { interval, zone }: { interval: Interval; zone: string },
): Promise<ProjectAnalytics> {
  const database = databases[dialect]!;
  projects += 1;
  const projectId = `prj_${projects}`;
  const book = createSqlCallStore(database);
  for (const { minute, kind, amount, mint, payer, rule } of calls) {
    const at = around + minute * 60_000;
    const routed = rule === undefined ? {} : { rule };
    if (kind === 'paid') await book.finish(newCall({ projectId, at, payer, charge: { mint, amount }, ...routed }));
    else if (kind === 'failed') await book.finish(failedCall({ projectId, at, ...routed }));
    else if (kind === 'refused') book.refuse(newRefusal({ projectId, at }));
    else book.challenge({ projectId, at });
  }
  await book.close();
  const credit = createSqlCreditStore(database);
  const describeToken = async (symbol: string) => ({ symbol, decimals: 6 });
  const passSales = createPassFigures(database, Date.now);
  const responses = createResponseFigures(database, Date.now);
  const analytics = createAnalytics({ book, credit, passSales, responses, describeToken });
  const range = { from: around - 3 * DAY_MS, to: around + 3 * DAY_MS + 1 };
  return analytics.analyze(projectId, timeSteps({ interval, ...range, zone: zoneOf(zone) }, around), true);
}

const clocks = new Map(
  CHANGES.map(([zone]) => [
    zone as string,
    new Intl.DateTimeFormat('en-CA', {
      ...{ timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', hourCycle: 'h23' },
      ...({ timeZoneName: 'longOffset' } as const),
    }),
  ]),
);

/** What clocks of the zone show, by another way than the code under test. */
function shownBy(zone: string, at: number, interval: Interval): string {
  const parts = clocks.get(zone)?.formatToParts(at) ?? fail(zone);
  const of = (type: string) => parts.find((it) => it.type === type)?.value;
  const day = `${of('year')}-${of('month')}-${of('day')}`;
  return interval === 'day' ? day : `${day} ${of('hour')} ${of('timeZoneName')}`;
}

const sumBy = <T>(all: readonly T[], key: (it: T) => string, value: (it: T) => bigint) => {
  const sums = new Map<string, bigint>();
  for (const it of all) sums.set(key(it), (sums.get(key(it)) ?? 0n) + value(it));
  return new Map([...sums].filter(([, sum]) => sum !== 0n));
};

const sorted = (sums: ReadonlyMap<string, bigint>) => [...sums].sort(([a], [b]) => (a < b ? -1 : 1));

describe.each(['sqlite', 'postgres'] as const)('figures by the clocks of a zone, on %s', (dialect) => {
  test.each(CHANGES)('each call is in the step that clocks showed, and nothing is lost: %s, %s', async (zone, day) => {
    const around = Date.parse(`${day}T00:00:00Z`);
    const runs = dialect === 'sqlite' ? 6 : 3;
    const property = async (calls: readonly RandomCall[], interval: Interval) => {
      const { series, totals, routes = [] } = await figuresOf(dialect, calls, around, { interval, zone });
      const stepOf = (it: RandomCall) => shownBy(zone, around + it.minute * 60_000, interval);
      const passed = calls.filter(({ kind }) => kind === 'paid' || kind === 'failed');
      const paid = calls.filter(({ kind }) => kind === 'paid');
      const inSteps = (of: (it: (typeof series)[number]) => bigint) =>
        sorted(sumBy(series, (it) => shownBy(zone, it.at, interval), of));
      const asCalled = (all: readonly RandomCall[], of = (_: RandomCall) => 1n) => sorted(sumBy(all, stepOf, of));

      expect(inSteps((it) => BigInt(it.calls))).toEqual(asCalled(passed));
      expect(inSteps((it) => BigInt(it.paid))).toEqual(asCalled(paid));
      expect(inSteps((it) => BigInt(it.refused))).toEqual(asCalled(calls.filter(({ kind }) => kind === 'refused')));
      expect(inSteps((it) => it.revenue.get(USDC) ?? 0n)).toEqual(
        asCalled(
          paid.filter(({ mint }) => mint === USDC),
          ({ amount }) => amount,
        ),
      );
      const payers = new Set(paid.map((it) => `${stepOf(it)} ${it.payer}`));
      expect(series.reduce((sum, it) => sum + it.payers, 0)).toBe(payers.size);

      const total = (of: (it: (typeof series)[number]) => number) => series.reduce((sum, it) => sum + of(it), 0);
      expect(totals).toMatchObject({ calls: total((it) => it.calls), paid: total((it) => it.paid) });
      expect([totals.calls, totals.paid]).toEqual([passed.length, paid.length]);
      expect(totals.payers).toBe(new Set(paid.map(({ payer }) => payer)).size);
      expect([...totals.refusals.values()].reduce((sum, it) => sum + it, 0)).toBe(totals.refused);

      const byRoute = sumBy(
        passed,
        ({ rule = '' }) => rule,
        () => 1n,
      );
      expect(
        sorted(
          sumBy(
            routes,
            ({ route = '' }) => route,
            (it) => BigInt(it.calls),
          ),
        ),
      ).toEqual(sorted(byRoute));
      const earned = sumBy(
        paid,
        ({ rule = '', mint }) => `${rule} ${mint}`,
        ({ amount }) => amount,
      );
      const told = routes.flatMap(({ route = '', revenue }) =>
        [...revenue].map(([mint, sum]) => [route, mint, sum] as const),
      );
      expect(
        sorted(
          sumBy(
            told,
            ([route, mint]) => `${route} ${mint}`,
            ([, , sum]) => sum,
          ),
        ),
      ).toEqual(sorted(earned));
    };
    const calls = fc.array(call, { maxLength: 25 });
    await fc.assert(fc.asyncProperty(calls, fc.constantFrom<Interval>('day', 'hour'), property), { numRuns: runs });
  });
});

test.each(CHANGES)('days begin when the date does, and hours with the clocks: %s, %s', (name, day) => {
  const zone = zoneOf(name);
  const around = Date.parse(`${day}T00:00:00Z`);
  const range = { from: around - 20 * DAY_MS, to: around + 20 * DAY_MS, zone };
  for (const interval of ['day', 'hour'] as const) {
    const { starts, to } = timeSteps({ interval, ...range }, around);
    for (const [index, start] of starts.entries()) {
      const end = starts[index + 1] ?? to;
      expect(shownBy(name, start - 1, interval)).not.toBe(shownBy(name, start, interval));
      expect(shownBy(name, end - 1, interval)).toBe(shownBy(name, start, interval));
    }
  }
});

test.each([
  ['Europe/Berlin', '2026-03-29', 23],
  ['Europe/Berlin', '2026-10-25', 25],
  ['Australia/Lord_Howe', '2026-10-04', 23.5],
  ['Australia/Lord_Howe', '2026-04-05', 24.5],
  ['Asia/Kathmandu', '2026-04-05', 24],
])('a day in %s, %s, has %s hours', (name, day, hours) => {
  const zone = zoneOf(name);
  const noon = Date.parse(`${day}T12:00:00Z`) - zone.offsetAt(Date.parse(`${day}T12:00:00Z`));
  const { from, to, starts } = timeSteps({ interval: 'day', from: noon, to: noon + 1, zone }, noon);
  expect([(to - from) / HOUR_MS, starts.length]).toEqual([hours, 1]);
  expect(localTimeText(zone, from).slice(0, 16)).toBe(`${day}T00:00`);
});
