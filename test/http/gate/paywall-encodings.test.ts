import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair } from '@solana/web3.js';
import type { Express } from 'express';
import fc from 'fast-check';
import { paywall } from '../../../src/middleware/paywall/paywall.js';
import { EXPRESSES, openTollFixture, type TollFixture } from '../../helpers/fixtures/toll-fixture.js';
import { ask } from '../../helpers/http/raw-http.js';
import { testFolder } from '../../helpers/processes/test-folder.js';

/** Paths whose goods are sold, and the segments that name them. */
const SOLD: readonly (readonly string[])[] = [
  ['report'],
  ['files', 'gold.txt'],
  ['items', '7', 'full'],
  ['deep', 'a', 'b', 'gold.pdf'],
  ['below', 'x', 'y'],
];
const MARK = 'x-goods';
const folder = testFolder();

for (const path of SOLD) {
  mkdirSync(join(folder.path, ...path.slice(0, -1)), { recursive: true });
  writeFileSync(join(folder.path, ...path), 'goods');
}

/** The goods in every way in which an app may serve them: by their own routes, by parameters, from files. */
function sell(app: Express, express: (typeof EXPRESSES)[number][1]): void {
  const sold = new Set(SOLD.map((path) => path.join('/')));
  const names = ['/:a', '/:a/:b', '/:a/:b/:c', '/:a/:b/:c/:d'];
  app.get(
    SOLD.map((path) => `/${path.join('/')}`),
    (_req, res) => res.set(MARK, 'by its route').send('goods'),
  );
  for (const name of names) {
    app.get(name, (req, res, next) => {
      const named = Object.values(req.params).join('/').replace(/\/$/, '').toLowerCase();
      if (sold.has(named)) res.set(MARK, 'by parameters').send('goods');
      else next();
    });
  }
  app.use(express.static(folder.path, { setHeaders: (res) => res.setHeader(MARK, 'from a file') }));
}

const DIRT = ['/', '/.', '/%2e', '/x/..', '/x/%2E%2e', '/x/.%2e', '\\x/..', '/%78/..', '%2Fx%2F..'];
const SLASHES = ['//', '%2F', '%2f', '\\', '%5C', '/./', '%5c'];
const ENDS = ['/', '//', '/.', '?', '?a=/b', '#', '#x', '/#', '/x/..', '%2F', '%2f?x'];
const SPELLINGS: readonly ((char: string) => string)[] = [
  (char) => char.toUpperCase(),
  (char) => `%${char.charCodeAt(0).toString(16)}`,
  (char) => `%${char.toUpperCase().charCodeAt(0).toString(16).toUpperCase()}`,
];

/** Mostly the usual, now and then something else. */
function rarely<T>(usual: T, others: readonly T[], weight = 8) {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

const EACH = { minLength: 4, maxLength: 4 };
const LETTERS = { minLength: 24, maxLength: 24 };

/** A path for goods, written in one of the many ways. */
const written = fc.constantFrom(...SOLD).chain((path) =>
  fc
    .record({
      start: rarely('', ['http://shop.example', 'HTTP://x:1']),
      end: rarely('', ENDS, 2),
      before: fc.array(fc.tuple(rarely('', DIRT, 4), rarely('/', SLASHES, 4)), EACH),
      letters: fc.array(
        rarely((char: string) => char, SPELLINGS, 12),
        LETTERS,
      ),
    })
    .map((how) => {
      const segments = path.map((segment, at) => {
        const [dirt = '', separator = '/'] = how.before[at] ?? [];
        const spelt = [...segment].map((char, index) => how.letters[(at * 5 + index) % 24]?.(char) ?? char);
        return `${dirt}${at === 0 ? '/' : separator}${spelt.join('')}`;
      });
      return `${how.start}${segments.join('')}${how.end}`;
    }),
);

describe.each(EXPRESSES)('behind a route map, %s', (_name, express) => {
  let fixture: TollFixture;
  let gated: string;
  let open: string;

  beforeAll(async () => {
    fixture = await openTollFixture();
    const { facilitator } = fixture;
    const payTo = Keypair.generate().publicKey.toBase58();
    const map = {
      'GET /report': '$0.01',
      '/files/gold.txt': '$0.01',
      'GET /items/:id/full': '$0.01',
      'GET /deep/*.pdf': '$0.01',
      'GET /below/*': '$0.01',
    };
    gated = await fixture.serve((app) => {
      app.use(paywall(map, { facilitator, payTo }));
      sell(app, express);
    }, express);
    open = await fixture.serve((app) => sell(app, express), express);
  });
  afterAll(() => fixture.close());

  test('the goods are there, in all three ways', async () => {
    const paths = ['/report', '/r%65port', '/x/../report'];
    const ways = await Promise.all(paths.map((path) => ask(open, `GET ${path}`)));
    expect(ways.map(({ headers }) => headers.get(MARK))).toEqual(['by its route', 'by parameters', 'from a file']);
  });

  test.each([
    '/files%252Fgold.txt',
    '/x%252F..%252Ffiles/gold.txt',
    '/x/..%252Ffiles%252Fgold.txt',
    '/%2566iles%252Fgold%252Etxt',
    '/items%25252F7%25252Ffull',
  ])('%s, which a handler may decode more than once, costs as much as what it means', async (path) => {
    const { status, body } = await ask(gated, `GET ${path}`);
    expect([status, body.includes('goods')]).toEqual([402, false]);
  });

  test('no way of writing a path gets the goods unpaid', async () => {
    let reached = 0;
    const property = fc.asyncProperty(fc.constantFrom('GET', 'HEAD'), written, async (method, path) => {
      const line = `${method} ${path}`;
      const [without, unpaid] = await Promise.all([ask(open, line), ask(gated, line)]);
      if (without.headers.has(MARK)) reached += 1;
      expect([unpaid.headers.get(MARK), unpaid.body.includes('goods')]).toEqual([null, false]);
    });
    await fc.assert(property, { numRuns: 200 });
    expect(reached).toBeGreaterThan(60);
  });
});
