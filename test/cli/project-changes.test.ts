import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliFixture, openCliFixture, type Ran } from '../helpers/fixtures/cli-fixture.js';
import { type KeyedApi, startKeyedApi } from '../helpers/http/keyed-api.js';

let fixture: CliFixture;
let api: KeyedApi;

beforeAll(async () => {
  fixture = await openCliFixture();
  api = await startKeyedApi();
  const keypair = await fixture.server.chain.sandbox?.createWallet({ usdc: '0' });
  if (keypair === undefined) throw new Error('there is no sandbox');
  await run('login', '--keypair', fixture.keyFile(keypair), '--server', fixture.server.url);
});
afterAll(async () => {
  await api?.close();
  await fixture?.close();
});

const run = (...args: readonly string[]): Promise<Ran> => fixture.run(...args);
const jsonOf = ({ code, text, out }: Ran) => {
  expect([code, text]).toEqual([0, text]);
  return JSON.parse(out);
};
const create = (slug: string, ...more: readonly string[]) =>
  run('projects', 'create', '--slug', slug, '--upstream', api.url, '--price', '0.01 USDC', ...more, '--json');
const update = (slug: string, ...flags: readonly string[]) => run('projects', 'update', slug, ...flags);
const fileOf = (name: string, content: string | object) => {
  const path = join(fixture.folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

describe('a project that is updated', () => {
  test('has a price that is the whole of what was given, for one call and for more', async () => {
    jsonOf(await create('prices'));
    const changed = jsonOf(
      await update(
        'prices',
        '--json',
        '--price',
        '0.02 USDC or 0.03 PYUSD or 0.05 USDC for 10 calls in 30d or 1 USDC for 24h',
      ),
    );
    expect(changed.pricing).toMatchObject({
      ...{ amount: '0.02', token: 'USDC', prices: [{ amount: '0.03', token: 'PYUSD' }] },
      offers: [
        { amount: '0.05', pass: { uses: 10, for: '30d' } },
        { amount: '1', pass: { uses: null, for: '24h' } },
      ],
    });
    const onlyCredit = jsonOf(await update('prices', '--json', '--price', '5 USDC as credit at 0.004'));
    expect(onlyCredit.pricing).toMatchObject({
      amount: '5',
      pass: { credit: true, cost: '0.004' },
      prices: [],
      offers: [],
    });
    expect(jsonOf(await update('prices', '--json', '--price', '0.01 USDC')).pricing).toMatchObject({
      ...{ amount: '0.01', pass: null, prices: [], offers: [] },
    });
  });

  test('is made without what is taken away from it', async () => {
    const none = [
      '--no-routes',
      '--health',
      'none',
      '--free-calls',
      'none',
      '--remove-header',
      'X',
      '--charge-on',
      'none',
    ];
    expect(jsonOf(await create('bare', ...none))).toMatchObject({ routes: [], free_calls: null });
  });

  test('keeps what was not named, and shows what was changed', async () => {
    const routes = ['--route', 'GET /a free', '--route', '/b deny 403', '--free-calls', '5/day'];
    jsonOf(await create('kept', '--listed', ...routes));
    const shown = ['--description', 'What it is', '--tags', 'one, two', '--example', 'POST /b {"a":1}'];
    const changed = jsonOf(await update('kept', '--json', ...shown));
    expect(changed).toMatchObject({
      ...{ visibility: 'listed', description: 'What it is', tags: ['one', 'two'], free_calls: { count: 5 } },
      example: { method: 'POST', path: '/b', body: { a: 1 } },
      routes: [
        { path: '/a', free: true },
        { path: '/b', deny: 403 },
      ],
    });
    const printed = await update(
      'kept',
      '--unlisted',
      '--route',
      'GET /c 0.5 USDC or 2 USDC for 9 calls',
      '--free-calls',
      'none',
    );
    expect(printed.text).toMatch(/active, unlisted[\s\S]*route +GET \/c 0\.5 USDC or 2 USDC for 9 requests/);
    expect(printed.text).not.toMatch(/\/a free|calls of each key/);
    expect(jsonOf(await update('kept', '--json', '--no-routes')).routes).toEqual([]);
  });

  test('is warned of on standard error where a route denies one segment only, and all below was likely meant', async () => {
    const warningOf = ({ text, out }: Ran) => [
      /"\S+" denies one segment.*/.exec(text)?.[0],
      out.includes('denies one'),
    ];
    const told = ['"/admin/*" denies one segment only; "/admin/**" denies all below', false];
    expect(warningOf(await create('shallow', '--route', '/admin/* deny'))).toEqual(told);
    expect(warningOf(await update('shallow', '--route', '/admin/* deny 403', '--route', 'GET /admin/** deny'))).toEqual(
      told,
    );
    for (const flags of [
      ['--name', 'Still so'],
      ['--route', '/admin/** deny'],
      ['--route', '/admin/* free'],
      ['--route', 'GET /admin/* deny 403', '--route', '/admin/** deny'],
    ])
      expect(warningOf(await update('shallow', ...flags))).toEqual([undefined, false]);
  });

  test.each([
    [['--price', '0.05 USDC for many'], 2, '--price must be as in "0.01 USDC"'],
    [['--price', '0.05 USDC for 10 calls for 1 day'], 2, '--price must be as in'],
    [['--price', '0.05 USDC or'], 2, '--price must be'],
    [['--price', '0.05 NOSUCH'], 1, '/pricing/token'],
    [['--route', 'reports 0.05 USDC'], 2, '--route must be as in'],
    [['--route', '/a//b free'], 1, '/routes/0/path'],
    [['--route', '/a free', '--no-routes'], 2, 'not both'],
    [['--free-calls', 'lots'], 2, '--free-calls must be as in'],
    [['--listed', '--private'], 2, 'one of them'],
    [['--example', 'weather'], 2, '--example must be as in'],
    [['--example', 'POST /a {b'], 2, '--example must be as in'],
    [['--split', 'nobody'], 2, '--split must be'],
    [['--prise', '1'], 2, 'did you mean "--price"?'],
  ])('is left as it is by %j', async (flags, exit, complaint) => {
    await create('same');
    const before = jsonOf(await run('projects', 'show', 'same', '--json'));
    expect(await update('same', ...flags)).toMatchObject({ code: exit, text: expect.stringContaining(complaint) });
    expect(jsonOf(await run('projects', 'show', 'same', '--json'))).toEqual(before);
  });
});

describe('an OpenAPI document that is imported', () => {
  const imported = (file: string, ...flags: readonly string[]) => run('projects', 'import', file, ...flags);
  const documentFile = () => fileOf('openapi.json', api.document);
  const slugs = async () => jsonOf(await run('projects', 'list', '--json')).map(({ slug }: { slug: string }) => slug);

  test('is printed with its prices by a dry run, for which nobody needs to sign in, and makes nothing', async () => {
    const elsewhere = ['--server', 'http://127.0.0.1:1'];
    const alone = await imported(documentFile(), '--dry-run', '--price', '0.02 USDC or 1 USDC for 30d', ...elsewhere);
    expect(alone).toMatchObject({
      code: 0,
      text: expect.stringMatching(/\/weather\/\* +0\.02 USDC or 1 USDC for 30d\n/),
    });
    const dry = await imported(documentFile(), '--slug', 'dry', '--price', '0.02 USDC', '--dry-run');
    expect(dry).toMatchObject({ code: 0, text: expect.stringContaining('would make a project with 3 routes') });
    expect(await slugs()).not.toContain('dry');
  });

  test.each([[[]], [['--dry-run']], [['--dry-run', '--server', 'http://127.0.0.1:1']]])(
    'is warned of where a route beside it denies one segment only, and what is below is sold: %j',
    async (more) => {
      const flags = (route: string) => ['--slug', 'shallow-import', '--price', '0.02 USDC', '--route', route, ...more];
      const told = '"/admin/*" denies one segment only; "/admin/**" denies all below';
      expect(await imported(documentFile(), ...flags('/admin/* deny'))).toMatchObject({
        code: 0,
        text: expect.stringContaining(told),
        out: expect.not.stringContaining(told),
      });
      const deep = await imported(documentFile(), ...flags('/admin/** deny'));
      expect(deep).toMatchObject({ code: 0, text: expect.not.stringContaining('denies one segment') });
    },
  );

  test('says by a dry run what would change of a project, without its secrets, and changes that without it', async () => {
    const flags = ['--slug', 'again', '--price', '0.01 USDC', '--header', 'X-Api-Key: quite-secret'];
    const made = jsonOf(await imported(documentFile(), ...flags, '--json'));
    expect(made).toMatchObject({
      name: 'Weather of towns',
      upstream: { url: api.url, headers: { 'x-api-key': { set: true } } },
    });
    const changed = structuredClone(api.document) as { paths: Record<string, object> };
    delete changed.paths['/health'];
    changed.paths['/forecast/{town}'] = { get: { 'x-payment-info': { amount: '0.07', token: 'PYUSD' } } };
    changed.paths['/air'] = { get: { 'x-payment-info': { price: '$0.02' } } };
    const file = fileOf('changed.json', changed);
    const dry = await imported(file, ...flags, '--dry-run');
    expect(dry.code).toBe(0);
    for (const line of [
      /takes away GET \/health free/,
      /changes +GET \/forecast\/\* 0\.05 USDC → 0\.07 PYUSD/,
      /adds +GET \/air 0\.02 USDC/,
      /sets +upstream, pricing, openapi/,
    ])
      expect(dry.text).toMatch(line);
    expect(dry.text).not.toMatch(/GET \/towns free\n[\s\S]*GET \/towns free|quite-secret/);
    const asJson = await imported(file, ...flags, '--dry-run', '--json');
    expect(jsonOf(asJson).routes).toHaveLength(3);
    expect(asJson.text).not.toContain('quite-secret');
    expect(jsonOf(await run('projects', 'show', 'again', '--json'))).toEqual(made);

    const after = jsonOf(await imported(file, '--slug', 'again', '--json'));
    expect(after).toMatchObject({ pricing: { amount: '0.01' }, version: 2, openapi: changed });
    const names = after.routes.map((it: { method: string; path: string }) => `${it.method} ${it.path}`);
    expect(names).toEqual(
      ['GET /towns', 'GET /air', 'GET /forecast/*'].sort((a, b) => names.indexOf(a) - names.indexOf(b)),
    );
    expect((await imported(file, '--slug', 'again', '--dry-run')).text).toMatch(/routes +stay as they are/);
  });

  test('gives way to what is said beside it, and is left out where only its routes are wanted', async () => {
    const beside = ['--route', 'GET /towns 0.5 USDC', '--route', '/weather/** deny', '--listed', '--name', 'Mine'];
    const made = jsonOf(
      await imported(
        documentFile(),
        '--slug',
        'beside',
        '--price',
        '1 USDC',
        '--without-document',
        ...beside,
        '--json',
      ),
    );
    expect(made).toMatchObject({
      ...{ name: 'Mine', visibility: 'listed', openapi: null },
      routes: [
        { method: 'GET', path: '/towns', price: { amount: '0.5' } },
        { method: null, path: '/weather/**', deny: 404 },
        { path: '/health', free: true },
        { path: '/forecast/*', price: { amount: '0.05' } },
      ],
    });
  });

  test('brings its operations back when it is read from the marketplace', async () => {
    const flags = ['--slug', 'around', '--price', '0.01 USDC', '--listed', '--json'];
    const made = jsonOf(await imported(documentFile(), ...flags));
    const shown = jsonOf(await run('marketplace', 'show', 'around', '--json'));
    const file = fileOf('shown.json', shown.openapi);
    const again = jsonOf(
      await imported(file, '--slug', 'around-2', '--price', '0.01 USDC', '--upstream', api.url, '--json'),
    );
    const routesOf = (project: { routes: readonly { path: string }[] }) =>
      project.routes.filter(({ path }) => !path.startsWith('/weather'));
    expect(routesOf(again)).toEqual(routesOf(made));
  });

  const paths = (operation: object) => ({
    openapi: '3.1.0',
    info: { title: 'T' },
    paths: { '/a': { get: operation } },
  });

  const suffixed = (one: object, other: object) => ({
    ...paths({}),
    paths: { '/items/{id}': { get: one }, '/items/{id}.json': { get: other } },
  });

  test('has paths that differ within a segment, and not in price, as one route', async () => {
    const priced = { 'x-payment-info': { price: '$0.02' } };
    const flags = ['--slug', 'suffixed', '--price', '0.01 USDC', '--upstream', api.url, '--json'];
    const { routes } = jsonOf(await imported(fileOf('suffixed.json', suffixed(priced, priced)), ...flags));
    expect(routes.map(({ path }: { path: string }) => path)).toEqual(['/items/*']);
  });

  test.each<[string, string, string | object, number, string]>([
    ['is not there', 'none.json', '', 2, 'cannot be read'],
    ['is YAML', 'api.yaml', 'openapi: 3.1.0\ninfo: {}\n', 2, 'npx js-yaml'],
    ['is YAML under another name', 'api.json', 'openapi: 3.1.0\ninfo: {}\n', 2, 'npx js-yaml'],
    ['is cut off', 'cut.json', '{"openapi": "3.1.0"', 2, 'is no JSON ('],
    ['is empty', 'empty.json', '', 2, 'is no JSON ('],
    ['is a list', 'list.json', '[]', 2, 'is no JSON object'],
    ['is huge', 'huge.json', ' '.repeat(5 * 1024 * 1024), 2, 'has 5242880 bytes, and at most 4194304 are read'],
    ['is too long for a project', 'long.json', { ...paths({}), 'x-text': 'x'.repeat(70_000) }, 1, '/openapi'],
    ['is of version 2', 'old.json', { ...paths({}), openapi: '2.0' }, 1, 'openapi must be of version 3'],
    ['has no title', 'untitled.json', { ...paths({}), info: {} }, 1, 'info.title must be a text'],
    ['has no operation', 'bare.json', { ...paths({}), paths: {} }, 1, 'paths has no operation'],
    [
      'has a price that moves',
      'moves.json',
      paths({ 'x-payment-info': { pricingMode: 'dynamic' } }),
      1,
      'only a fixed price',
    ],
    [
      'has two prices for one route',
      'differs.json',
      suffixed({}, { 'x-payment-info': { price: '$0.02' } }),
      1,
      'GET /items/{id} and GET /items/{id}.json differ in price, and a route tells whole segments apart only: both are GET /items/*',
    ],
    [
      'has a path twice',
      'twice.json',
      { ...paths({}), paths: { '/a/{b}': { get: {} }, '/a/{c}': { get: {} } } },
      1,
      'GET /a/{b} and GET /a/{c} are the same',
    ],
    ['has a price without amount', 'no-amount.json', paths({ 'x-payment-info': {} }), 1, 'names no amount'],
    ['names no server', 'no-server.json', paths({}), 2, '--upstream is needed'],
  ])('makes nothing where it %s', async (what, name, content, exit, complaint) => {
    const file = what === 'is not there' ? join(fixture.folder, name) : fileOf(name, content);
    const upstream = name === 'no-server.json' ? [] : ['--upstream', api.url];
    const { code, text } = await imported(file, '--slug', 'wrong', '--price', '0.01 USDC', ...upstream);
    expect([code, text]).toEqual([exit, expect.stringContaining(complaint)]);
    expect(text.length).toBeLessThan(600);
    expect(await slugs()).not.toContain('wrong');
  });

  test('needs a price, a slug and one file', async () => {
    for (const [args, told] of [
      [[], 'usage: tollhouse projects import <openapi.json>'],
      [[documentFile()], '--slug is needed'],
      [[documentFile(), '--slug', 'unpriced'], '--price is needed for a new project'],
      [[documentFile(), documentFile(), '--slug', 'x'], 'usage: '],
    ] as const)
      expect(await run('projects', 'import', ...args)).toMatchObject({ code: 2, text: expect.stringContaining(told) });
  });
});
