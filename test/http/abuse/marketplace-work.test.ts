import fc from 'fast-check';
import { matchesRoute } from '../../../src/gateway/prices/route-pattern.js';
import { routeTable } from '../../../src/gateway/prices/route-table.js';
import { createMarketplace } from '../../../src/gateway/projects/marketplace.js';
import { marketProjectView } from '../../../src/http/projects/marketplace-views.js';
import type { ProjectRoute } from '../../../src/storage/projects/project-routes.js';
import { createSqlProjects } from '../../../src/storage/projects/sql-projects.js';
import { newProject } from '../../contracts/project-samples.js';
import { openProjectsFixture, type ProjectsFixture } from '../../helpers/fixtures/projects-fixture.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const TOKEN = { symbol: 'USDC', mint: 'mint', decimals: 6, program: 'program' };
const FIGURES = { calls: 0, succeeded: 0 };

/** As long a document as a project may have beside its routes. */
const MANY_PATHS = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`/p${n}`, { get: {}, put: {} }]));
const routes = (count: number): readonly ProjectRoute[] =>
  Array.from({ length: count }, (_, n) => ({
    path: `/*${'/*'.repeat(100)}/${n}`,
    price: { amount: 1n, token: TOKEN },
  }));

describe('what a stranger’s look at a project costs', () => {
  let fixture: ProjectsFixture;
  beforeAll(async () => {
    fixture = await openProjectsFixture();
  });
  afterAll(() => fixture.close());

  test('its document is read once for each version, and what is shown of it is made once', async () => {
    const asOwner = await fixture.keys.token(walletKey('alice'));
    const openapi = { openapi: '3.1.0', paths: { '/a': { get: {} }, '/b': { get: {} } } };
    const body = {
      ...{ slug: 'weather', name: 'W', visibility: 'listed', upstream: { url: 'https://weather.example' }, openapi },
      ...{ pricing: { amount: '0.01', token: 'USDC' }, routes: [{ path: '/b', deny: 404 }] },
    };
    const { body: made } = await fixture.ask('POST', '/projects', asOwner, body);
    const store = createSqlProjects(fixture.database);
    let reads = 0;
    const openApiOf = (id: string) => {
      reads += 1;
      return store.openApiOf(id);
    };
    const counted = { ...store, openApiOf };
    const marketplace = createMarketplace({
      store: counted,
      projects: fixture.projects,
      figures: async () => new Map(),
    });
    const pathsShown = async () =>
      Reflect.get(Object(marketProjectView(await marketplace.find('weather'), 'https://x').openapi), 'paths') as object;

    const first = await Promise.all(Array.from({ length: 20 }, pathsShown));
    fixture.keys.fixture.advance(60_000);
    const later = await pathsShown();
    expect([reads, Object.keys(later)]).toEqual([1, ['/a']]);
    for (const paths of first) expect(paths).toBe(later);

    await fixture.ask('PATCH', `/projects/${made['id']}`, await fixture.keys.token(walletKey('alice')), { routes: [] });
    expect([Object.keys(await pathsShown()), reads]).toEqual([['/a', '/b'], 2]);
  });

  test('what is shown takes no longer for a hundred routes than for a few', () => {
    const shortest = (count: number) =>
      Math.min(
        ...Array.from({ length: 3 }, () => {
          const project = { ...newProject(), routes: routes(count) };
          const version = { project, openapi: { paths: MANY_PATHS } };
          const { user, system } = process.cpuUsage();
          marketProjectView({ project, version, figures: FIGURES }, 'https://x');
          const used = process.cpuUsage({ user, system });
          return used.user + used.system;
        }),
      );
    shortest(2);
    expect(shortest(100) / shortest(2)).toBeLessThan(8);
  });

  const shownOf = (openapi: Readonly<Record<string, unknown>>) => {
    const version = { project: newProject(), openapi };
    const { user, system } = process.cpuUsage();
    const { openapi: shown } = marketProjectView({ project: version.project, version, figures: FIGURES }, 'https://x');
    const used = process.cpuUsage({ user, system });
    const text = JSON.stringify(shown);
    const paths = Object.keys(Object(shown?.['paths']));
    return { paths, times: text.length / JSON.stringify(openapi).length, work: used.user + used.system };
  };
  const pathsTo = (count: number, reference: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`/p${n}`, { $ref: reference }]));

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['a long operation', { get: { description: 'x'.repeat(32_000) } }],
    ['a long word on all of its operations', { description: 'x'.repeat(32_000), get: {} }],
    ['many parameters', { get: { parameters: Array.from({ length: 1_000 }, (_, n) => ({ name: `n${n}` })) } }],
  ])('the answer stays near its document where a thousand paths stand for one with %s', (_, item) => {
    const many = shownOf({ paths: pathsTo(1_300, '#/x-item'), 'x-item': item });
    expect(many.times).toBeLessThan(10);
    expect([many.paths.length > 0, many.paths.length < 1_300]).toEqual([true, true]);
    expect(shownOf({ paths: pathsTo(3, '#/x-item'), 'x-item': item }).paths).toHaveLength(3);
  });

  test('paths that lead to a long item by detours cost no more than as many that lead to none', () => {
    const wide = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`x${n}`, 0]));
    const detours = Array.from({ length: 9 }, (_, n) => [`x-${n}`, { $ref: `#/x-${n + 1}` }]);
    const document = (count: number, paths: object) => ({
      ...Object.fromEntries(detours),
      'x-9': { ...wide, get: {} },
      paths,
      count,
    });
    const least = (paths: object) => Math.min(...[1, 2, 3].map((it) => shownOf(document(it, paths)).work));
    expect(shownOf(document(0, pathsTo(1_000, '#/x-0'))).paths).toHaveLength(1_000);
    const plain = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`/p${n}`, { get: {} }]));
    expect(least(pathsTo(1_000, '#/x-0')) / least(plain)).toBeLessThan(8);
  });
});

test('the table of routes finds what each of them matches', () => {
  const segment = fc.constantFrom('a', 'A', 'b', '*', 'c.d');
  const pattern = fc
    .tuple(fc.array(segment, { maxLength: 4 }), fc.boolean())
    .map(([parts, isOpen]) => `/${[...parts, ...(isOpen ? ['**'] : [])].join('/')}`);
  const path = fc
    .tuple(
      fc.array(fc.constantFrom('a', 'A', 'b', 'B', '', '*', '**', 'c.d'), { maxLength: 5 }),
      fc.constantFrom('', '/'),
    )
    .map(([parts, end]) => `/${parts.join('/')}${end}`);
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 8 }), path, (patterns, asked) => {
      const all = patterns.map((it): ProjectRoute => ({ path: it, free: true }));
      const lower = (text: string) => text.toLowerCase();
      expect(routeTable(all).matching(asked, 'exact')).toEqual(all.filter((it) => matchesRoute(it, 'GET', asked)));
      expect(routeTable(all).matching(asked, 'dropped')).toEqual(
        all.filter((it) => matchesRoute({ path: lower(it.path) }, 'GET', lower(asked))),
      );
    }),
    { numRuns: 3_000 },
  );
});
