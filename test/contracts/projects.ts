import { DAY_MS } from '../../src/storage/calls/periods.js';
import { createSqlCallStore } from '../../src/storage/calls/sql-call-store.js';
import {
  type MarketQuery,
  type ProjectRecord,
  type ProjectStore,
  priceKey,
  SLUG_REST_MS,
} from '../../src/storage/projects/projects.js';
import { createSqlProjects } from '../../src/storage/projects/sql-projects.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { newCall } from './call-samples.js';
import { ANNA, BORIS, eventOf, newProject, nextVersion, tokenOf } from './project-samples.js';

const EVENTS = { name: 'test_events', text: 'select type from tollhouse_event where project_id = $1 order by seq' };
const CREATED = { status: 'created' };
const TAKEN = { status: 'slug_taken' };

/** What every database must do for projects. */
export function projectsContract(name: string, open: () => Promise<SqlDatabase>): void {
  describe(`${name} keeps the contract of ProjectStore`, () => {
    let database: SqlDatabase;
    let store: ProjectStore;

    beforeEach(async () => {
      database = await open();
      store = createSqlProjects(database);
    });
    afterEach(() => database.close());

    async function add(changes: Partial<ProjectRecord> = {}): Promise<ProjectRecord> {
      const project = newProject(changes);
      expect(await store.create(project, undefined, [eventOf(project, 'project.created')])).toEqual(CREATED);
      return project;
    }

    const eventsOf = async ({ id }: ProjectRecord) => (await database.query(EVENTS, id)).map(({ type }) => type);

    describe('a project', () => {
      test('is kept exactly, with its event, and found by id and slug', async () => {
        const project = await add();
        expect(await store.find(project.id)).toEqual(project);
        expect(await store.findBySlug(project.slug)).toEqual(project);
        expect(await eventsOf(project)).toEqual(['project.created']);
        expect(await store.find(newProject().id)).toBeUndefined();
        expect(await store.findBySlug('no-such-slug')).toBeUndefined();
      });

      test('with the largest amount, and with nothing that it need not have, is kept exactly', async () => {
        const { description, metadata, example, allowed, previousSecret, previousSecretUntil, ...bare } = newProject();
        const price = { ...bare.price, amount: 18_446_744_073_709_551_615n };
        await store.create({ ...bare, price, tags: [] }, undefined, []);
        expect(await store.find(bare.id)).toEqual({ ...bare, price, tags: [] });
      });

      test('has an OpenAPI document, or none', async () => {
        const project = newProject();
        const document = { openapi: '3.1.0', info: { title: 'ünï 🔑\u0000' } };
        await store.create(project, document, []);
        expect(await store.openApiOf(project.id)).toEqual(document);
        await store.replace(nextVersion(project), 'keep', []);
        expect(await store.openApiOf(project.id)).toEqual(document);
        await store.replace(nextVersion(nextVersion(project)), undefined, []);
        expect(await store.openApiOf(project.id)).toBeUndefined();
        expect(await store.openApiOf('prj_none')).toBeUndefined();
      });

      test('is replaced by its next version only, and of many at once one comes through, with its event', async () => {
        const project = await add();
        const rivals = Array.from({ length: 10 }, (_, at) => nextVersion(project, { name: `Name ${at}` }));
        const events = (it: ProjectRecord) => [eventOf(it, 'project.updated')];
        const done = await Promise.all(rivals.map((it) => store.replace(it, 'keep', events(it))));
        expect(done.filter(Boolean)).toHaveLength(1);
        expect(await store.find(project.id)).toEqual(rivals[done.indexOf(true)]);
        expect(await eventsOf(project)).toEqual(['project.created', 'project.updated']);
      });

      test('has an owner and a network, which stay known when it is deleted; nobody owns what never was', async () => {
        const price = { ...newProject().price, network: 'solana' } as const;
        const [project, other] = [await add({ owner: ANNA, price }), await add({ owner: BORIS })];
        const origins = [
          { owner: ANNA, network: 'solana' },
          { owner: BORIS, network: 'solana-devnet' },
        ];
        expect([await store.originOf(project.id), await store.originOf(other.id)]).toEqual(origins);
        await store.replace(nextVersion(project, { state: 'deleted' }), 'keep', []);
        expect(await store.originOf(project.id)).toEqual(origins[0]);
        const again = await add({ owner: BORIS, slug: project.slug, createdAt: project.updatedAt + 2 * SLUG_REST_MS });
        expect([await store.originOf(project.id), await store.originOf(again.id)]).toEqual(origins);
        for (const none of [newProject().id, project.slug, '', 'prj_\0']) {
          expect(await store.originOf(none)).toBeUndefined();
        }
      });

      test('that is deleted is not found, not listed and not changed any more', async () => {
        const project = await add();
        const deleted = nextVersion(project, { state: 'deleted' });
        expect(await store.replace(deleted, 'keep', [eventOf(project, 'project.deleted')])).toBe(true);
        expect(await store.find(project.id)).toBeUndefined();
        expect(await store.findBySlug(project.slug)).toBeUndefined();
        expect(await store.list(ANNA, 10)).toEqual([]);
        expect(await store.replace(nextVersion(deleted, { state: 'active' }), 'keep', [])).toBe(false);
      });
    });

    describe('a slug', () => {
      test('is taken once, whoever asks; nothing is written for the others', async () => {
        const { slug } = await add();
        for (const owner of [ANNA, BORIS]) {
          const second = newProject({ owner, slug });
          expect(await store.create(second, undefined, [eventOf(second, 'project.created')])).toEqual(TAKEN);
          expect(await eventsOf(second)).toEqual([]);
        }
      });

      test('goes to one of many who ask at once', async () => {
        const rivals = Array.from({ length: 10 }, (_, at) =>
          newProject({ slug: 'news', owner: at % 2 ? ANNA : BORIS }),
        );
        const done = await Promise.all(rivals.map((it) => store.create(it, undefined, [])));
        expect(done.map(({ status }) => status).sort()).toEqual(['created', ...Array(9).fill('slug_taken')]);
      });

      test('of a deleted project can be taken by its owner again, by others after 30 days', async () => {
        const project = await add();
        const { slug } = project;
        const deleted = nextVersion(project, { state: 'deleted', updatedAt: project.updatedAt + 5_000 });
        await store.replace(deleted, 'keep', []);
        const freeAt = deleted.updatedAt + SLUG_REST_MS;
        const takeAt = (owner: string, createdAt: number) =>
          store.create(newProject({ slug, owner, createdAt }), undefined, []);
        expect(await takeAt(BORIS, freeAt - 1)).toEqual({ status: 'slug_taken', freeAt });
        expect(await takeAt(ANNA, freeAt - 1)).toEqual(CREATED);
        expect(await takeAt(BORIS, freeAt)).toEqual(TAKEN);
        const again = await store.findBySlug(slug);
        await store.replace(nextVersion(again as ProjectRecord, { state: 'deleted', updatedAt: freeAt }), 'keep', []);
        expect(await takeAt(BORIS, freeAt)).toEqual({ status: 'slug_taken', freeAt: freeAt + SLUG_REST_MS });
        expect(await takeAt(BORIS, freeAt + SLUG_REST_MS)).toEqual(CREATED);
        expect(await takeAt(ANNA, freeAt + SLUG_REST_MS)).toEqual(TAKEN);
      });
    });

    describe('a quota', () => {
      const eventIds = { name: 'test_all_events', text: 'select type from tollhouse_event' };

      test('is never exceeded, however many projects are added at once; others have their own', async () => {
        const many = Array.from({ length: 100 }, (_, at) => newProject({ owner: at % 10 === 0 ? BORIS : ANNA }));
        const done = await Promise.all(
          many.map((it) => store.create(it, undefined, [eventOf(it, 'project.created')], 10)),
        );
        const madeBy = (owner: string) =>
          done.filter(({ status }, at) => status === 'created' && many[at]?.owner === owner).length;
        expect([madeBy(ANNA), madeBy(BORIS)]).toEqual([10, 10]);
        expect(done.filter(({ status }) => status === 'quota_reached')).toHaveLength(80);
        expect(await store.list(ANNA, 100)).toHaveLength(10);
        expect(await database.query(eventIds)).toHaveLength(20);
      });

      test('counts paused projects, and no deleted ones', async () => {
        const [first] = [await add(), await add({ state: 'paused' })];
        const one = (slug = newProject().slug) => store.create(newProject({ slug }), undefined, [], 2);
        expect(await one()).toEqual({ status: 'quota_reached' });
        expect(await one(first.slug)).toEqual({ status: 'quota_reached' });
        await store.replace(nextVersion(first, { state: 'deleted' }), 'keep', []);
        expect(await one()).toEqual(CREATED);
        expect(await one()).toEqual({ status: 'quota_reached' });
      });
    });

    describe('the projects that a wallet has deleted', () => {
      /** As many as one with room for a single project may delete in 30 days, a millisecond apart. */
      async function deleteFive(start: number): Promise<void> {
        for (let at = start; at < start + 5; at += 1) {
          const project = newProject({ createdAt: at });
          expect(await store.create(project, undefined, [], 1)).toEqual(CREATED);
          expect(await store.replace(nextVersion(project, { state: 'deleted', updatedAt: at }), undefined, [])).toBe(
            true,
          );
        }
      }

      test('bound what it makes for 30 days at five times its quota, and nobody else', async () => {
        const start = 1_700_000_000_000;
        const [freeAt, at] = [start + SLUG_REST_MS, (createdAt: number) => newProject({ createdAt })];
        await deleteFive(start);
        const crowded = { status: 'quota_reached', freeAt };
        expect(await store.create(at(freeAt - 1), undefined, [eventOf(newProject(), 'project.created')], 1)).toEqual(
          crowded,
        );
        expect(await store.create({ ...at(freeAt - 1), owner: BORIS }, undefined, [], 1)).toEqual(CREATED);
        const last = at(freeAt);
        expect(await store.create(last, undefined, [], 1)).toEqual(CREATED);
        expect(await store.create(at(freeAt), undefined, [], 1)).toEqual({ status: 'quota_reached' });
        await store.replace(nextVersion(last, { state: 'deleted', updatedAt: freeAt }), undefined, []);
        expect(await store.create(at(freeAt), undefined, [], 1)).toEqual({ ...crowded, freeAt: freeAt + 1 });
      });

      test('are no bound where the quota is larger, or there is none', async () => {
        await deleteFive(1_700_000_000_000);
        expect(await store.create(newProject(), undefined, [], 0)).toEqual({ status: 'quota_reached' });
        expect(await store.create(newProject(), undefined, [], 2)).toEqual(CREATED);
        expect(await store.create(newProject(), undefined, [])).toEqual(CREATED);
      });
    });

    test("an owner's projects are listed newest first, page by page, whatever is added meanwhile", async () => {
      const createdAt = 1_700_000_000_000;
      const all = await Promise.all([0, 0, 1, 1, 2].map((later) => add({ createdAt: createdAt + later })));
      await add({ owner: BORIS });
      const first = await store.list(ANNA, 2);
      await add({ createdAt: createdAt + 9 });
      const second = await store.list(ANNA, 2, first[1]);
      const third = await store.list(ANNA, 2, second[1]);
      const listed = [...first, ...second, ...third];
      expect(listed.map((it) => it.createdAt - createdAt)).toEqual([2, 1, 1, 0, 0]);
      expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(all.map(({ id }) => id)));
    });

    describe('the marketplace', () => {
      const query: MarketQuery = { words: [], sort: 'new', since: 0, limit: 10 };
      const slugs = async (more: Partial<MarketQuery>) =>
        (await store.market({ ...query, ...more })).map(({ project }) => project.slug);

      /** All pages of one entry. */
      async function pages(sort: MarketQuery['sort']): Promise<string[]> {
        const found: string[] = [];
        let after: MarketQuery['after'];
        for (;;) {
          const [entry] = await store.market({ ...query, sort, limit: 1, ...(after === undefined ? {} : { after }) });
          if (entry === undefined) return found;
          found.push(entry.project.slug);
          after = { rank: entry.rank, id: entry.project.id };
        }
      }

      test('has active, listed projects only', async () => {
        const listed = await add({ slug: 'shown' });
        await add({ visibility: 'private' });
        await add({ visibility: 'unlisted' });
        await add({ state: 'paused' });
        const deleted = await add();
        await store.replace(nextVersion(deleted, { state: 'deleted' }), 'keep', []);
        expect(await store.market(query)).toEqual([{ project: listed, rank: listed.createdAt }]);
      });

      test('finds every word in name, description, slug or tags, in any case', async () => {
        await add({ slug: 'rain', name: 'Straßen-WETTER', description: 'Ünïcode', tags: ['météo'] });
        await add({ slug: 'news', name: 'News', description: 'of 100 towns', tags: ['press'] });
        expect(await slugs({ words: ['wetter'] })).toEqual(['rain']);
        expect(await slugs({ words: ['ünïcode', 'météo', 'rain', 'straßen'] })).toEqual(['rain']);
        expect(await slugs({ words: ['wetter', 'press'] })).toEqual([]);
        expect(await slugs({ words: ['100'] })).toEqual(['news']);
        for (const wild of ['%', '1_0', 'o%n', '\\']) expect(await slugs({ words: [wild] })).toEqual([]);
      });

      test('is filtered by tag, token and price', async () => {
        const priced = (symbol: string, amount: bigint) => ({
          price: { amount, token: tokenOf(symbol), network: 'solana-devnet' } as const,
        });
        await add({ slug: 'cheap', tags: ['a', 'b c'], ...priced('USDC', 10_000n) });
        await add({ slug: 'dear', tags: ['a b'], ...priced('USDC', 2_000_000n) });
        await add({ slug: 'coin', tags: ['c'], ...priced('SOL', 10_000_000n) });
        expect(await slugs({ tag: 'a' })).toEqual(['cheap']);
        for (const other of ['b', '%', 'a_b', '"', '\\']) expect(await slugs({ tag: other })).toEqual([]);
        expect(await slugs({ tag: 'a b' })).toEqual(['dear']);
        expect(await slugs({ token: 'USDC', sort: 'price' })).toEqual(['cheap', 'dear']);
        expect(await slugs({ token: tokenOf('SOL').mint })).toEqual(['coin']);
        expect(await slugs({ maxPrice: priceKey('0.01'), sort: 'price' })).toHaveLength(2);
        expect(await slugs({ maxPrice: priceKey('0.009999') })).toEqual([]);
      });

      test('goes by price, lowest first, page by page', async () => {
        const token = tokenOf('SOL');
        for (const amount of [5n, 18_446_744_073_709_551_615n, 1_000_000_000n, 40n, 40n]) {
          await add({
            slug: `p-${amount}-${Math.random().toString(36).slice(2)}`,
            price: { amount, token, network: 'solana-devnet' },
          });
        }
        const prices = (await pages('price')).map((slug) => BigInt(slug.split('-')[1] ?? ''));
        expect(prices).toEqual([5n, 40n, 40n, 1_000_000_000n, 18_446_744_073_709_551_615n]);
      });

      test('goes by age, newest first, page by page', async () => {
        for (const slug of ['a', 'b', 'c']) await add({ slug });
        expect(await pages('new')).toEqual(['c', 'b', 'a']);
      });

      test('goes by the wallets that paid since a day, most first, page by page', async () => {
        const book = createSqlCallStore(database);
        const called = (project: ProjectRecord, payer: string, day: number, times = 1) =>
          Promise.all(
            Array.from({ length: times }, () =>
              book.finish(newCall({ projectId: project.id, payer, at: day * DAY_MS + 1 })),
            ),
          );
        const three = await add({ slug: 'three' });
        const [two, one, none] = [await add({ slug: 'two' }), await add({ slug: 'one' }), await add({ slug: 'none' })];
        for (const payer of ['x', 'y', 'z']) await called(three, payer, 10);
        await called(two, 'x', 10, 2);
        await called(two, 'y', 12);
        // One wallet that pays itself all the time, an owner who buys from himself, and what is long ago.
        await called(one, 'x', 10, 20);
        await called(one, 'x', 11, 20);
        await called(none, none.owner, 10, 20);
        for (const payer of ['x', 'y', 'z', 'v', 'w']) await called(two, payer, 9);
        const found = await store.market({ ...query, sort: 'calls', since: 10 * DAY_MS });
        expect(found.map(({ project, rank }) => [project.slug, rank])).toEqual([
          ['three', 3],
          ['two', 2],
          ['one', 1],
          ['none', 0],
        ]);
        expect(await pages('calls')).toEqual(['two', 'three', 'one', 'none']);
        await book.close();
      });
    });
  });
}
