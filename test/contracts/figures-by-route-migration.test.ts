import { openStorage } from '../../src/storage/open-storage.js';
import type { ProjectRecord } from '../../src/storage/projects/projects.js';
import { figuresByRoute } from '../../src/storage/sql/migrations/0031-figures-by-route.js';
import { emptyDatabases } from '../helpers/storage/empty-databases.js';
import { connectTo } from '../helpers/storage/schema-connection.js';
import { failedCall, LATE_MARCH, newCall, USDC } from './call-samples.js';
import { newProject } from './project-samples.js';

const KINDS = emptyDatabases();

const MAX = 9_223_372_036_854_775_807n;
const NATIVE = '11111111111111111111111111111111';
const SUMS = `select project_id, kind, hour, label, value from tollhouse_rollup
  where kind in ('route_calls', 'route_paid', 'route_revenue', 'upstream_ms', 'gateway_ms')
  order by project_id, kind, hour, label`;

test.each(KINDS)(
  'calls of before are summed by route and duration as those of after are, on $dialect',
  async (kind) => {
    const url = await kind.newUrl();
    const storage = await openStorage(url);
    const { projects, book: calls } = storage.gateway;
    const { price } = newProject();
    const routes = [
      { method: 'GET', path: '/weather/*', price },
      { path: '/maps/**', price },
    ] as ProjectRecord['routes'];
    const [routed, plain] = [newProject({ routes: routes! }), newProject()];
    for (const it of [routed, plain]) await projects.create(it, undefined, []);
    const named = (rule: string) => ({ projectId: routed.id, route: rule, rule });
    const durations = [0, 1, 2, 3, 99, 100, 101, 5_000, 600_000, 999_999_999];
    for (const [at, upstreamMs] of durations.entries()) {
      const times = { at: LATE_MARCH + at * 400_000, upstreamMs, gatewayMs: durations.length - at };
      await calls.finish(newCall({ ...named('GET /weather/*'), ...times }));
    }
    await calls.finish(newCall({ ...named('* /maps/**'), charge: { mint: NATIVE, amount: 2n ** 64n - 1n } }));
    await calls.finish(newCall({ ...named('* /maps/**'), charge: { mint: USDC, amount: MAX } }));
    await calls.finish(newCall({ ...named('* /maps/**'), charge: { mint: USDC, amount: 5n } }));
    await calls.finish(failedCall(named('* /maps/**')));
    await calls.finish(newCall({ projectId: routed.id, route: 'GET /other' }));
    await calls.finish(newCall({ projectId: plain.id, route: 'GET /weather/*' }));
    await storage.close();

    const db = await connectTo(url);
    const rows = async () => (await db.run(SUMS)).map((row) => Object.values(row).map(String));
    const written = await rows();
    expect(written.length).toBeGreaterThan(20);
    await db.run(`delete from tollhouse_rollup where kind like 'route%' or kind like '%_ms'`);
    expect(await rows()).toEqual([]);
    for (const statement of figuresByRoute(kind.dialect)) await db.run(statement);
    expect(await rows()).toEqual(written);
    await db.close();
  },
);
