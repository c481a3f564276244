import type { Scope } from '../../../src/identity/service-keys/scopes.js';
import { NOON } from '../../helpers/fixtures/identity-fixture.js';
import { keyHeaders } from '../../helpers/fixtures/keys-fixture.js';
import {
  FEE_PAYER,
  openProjectsFixture,
  outcomeOf,
  type ProjectsFixture,
  type ReadResponse,
} from '../../helpers/fixtures/projects-fixture.js';
import { DAILY_EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { walletKey } from '../../helpers/transactions/wallet-key.js';

const alice = walletKey('alice');
const bob = walletKey('bob');
const carol = walletKey('carol').address;
const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
/** The associated token account of nobody in particular: derived, and off the curve. */
const OFF_CURVE = 'DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n';
const DAY_MS = 86_400_000;

let fixture: ProjectsFixture;
let asAlice: ProofHeaders;
let asBob: ProofHeaders;
let made = 0;

beforeAll(async () => {
  fixture = await openProjectsFixture();
  [asAlice, asBob] = [await fixture.keys.token(alice), await fixture.keys.token(bob)];
});
afterAll(() => fixture.close());

const PROJECTS = '/projects';
const MINIMAL = {
  name: 'Weather',
  upstream: { url: 'https://weather.example/v2' },
  pricing: { amount: '0.01', token: 'USDC' },
};
const newSlug = () => {
  made += 1;
  return `project-${made}`;
};
const draft = (changes: object = {}) => ({ slug: newSlug(), ...MINIMAL, ...changes });
const post = (body: unknown, headers = asAlice) => fixture.ask('POST', PROJECTS, headers, body);
const patch = (id: string, body: unknown, headers: ProofHeaders = {}) =>
  fixture.ask('PATCH', `${PROJECTS}/${id}`, { ...asAlice, ...headers }, body);
const get = (id: string, headers = asAlice) => fixture.ask('GET', `${PROJECTS}/${id}`, headers);
const idOf = ({ body }: ReadResponse) => String(body['id']);
const tagOf = ({ headers }: ReadResponse) => headers.get('etag') ?? '';
const pointersOf = ({ body }: ReadResponse) => (body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);

async function create(changes: object = {}, headers = asAlice): Promise<string> {
  const answer = await post(draft(changes), headers);
  expect(answer.status).toBe(201);
  return idOf(answer);
}

describe.each(DAILY_EXPRESSES)('on %s', (_name, express) => {
  test('a project is made, read, listed, changed, paused, resumed and deleted', async () => {
    const own = await openProjectsFixture({ express });
    const headers = await own.keys.token(alice);
    const answer = await own.ask('POST', PROJECTS, headers, draft({ slug: 'weather' }));
    expect(answer.status).toBe(201);
    const path = `${PROJECTS}/${idOf(answer)}`;
    expect(answer.headers.get('location')).toBe(`/api/v1${path}`);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await own.ask('GET', path, headers)).toMatchObject({ status: 200, body: answer.body });
    const changed = await own.ask(
      'PATCH',
      path,
      { ...headers, 'content-type': 'application/merge-patch+json' },
      { name: 'W' },
    );
    expect(changed).toMatchObject({ status: 200, body: { name: 'W', version: 2 } });
    expect((await own.ask('POST', `${path}/pause`, headers)).body).toMatchObject({ state: 'paused', version: 3 });
    expect((await own.ask('POST', `${path}/resume`, headers)).body).toMatchObject({ state: 'active', version: 4 });
    expect((await own.ask('GET', PROJECTS, headers)).body['data']).toHaveLength(1);
    expect((await own.ask('DELETE', path, headers)).status).toBe(204);
    expect(outcomeOf(await own.ask('GET', path, headers))).toEqual([404, 'project_not_found']);
    expect((await own.ask('PUT', path, headers)).headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE');
    expect((await own.ask('DELETE', PROJECTS, headers)).status).toBe(405);
    await own.close();
  });
});

describe('a new project', () => {
  test('has defaults for everything that was not said', async () => {
    const slug = newSlug();
    const { body } = await post({ slug, ...MINIMAL });
    expect(body).toEqual({
      id: expect.stringMatching(/^prj_[1-9A-HJ-NP-Za-km-z]+$/),
      slug,
      url: `${fixture.url}/v1/${slug}`,
      name: 'Weather',
      description: null,
      owner: alice.address,
      state: 'active',
      suspended_at: null,
      visibility: 'unlisted',
      allowed: [],
      upstream: {
        ...{ url: 'https://weather.example/v2', timeout_ms: 30_000, retries: 1 },
        ...{ headers: {}, query: {}, health: null, status: null, down_since: null },
      },
      pricing: {
        amount: '0.01',
        amount_atomic: '10000',
        token: 'USDC',
        mint: USDC,
        decimals: 6,
        charge_on: [],
        ...{ buys: '1 request', pass: null, prices: [], offers: [] },
        token_program: TOKEN_PROGRAM,
        network: 'solana-devnet',
      },
      routes: [],
      free_calls: null,
      split: [{ recipient: alice.address, bps: 10_000, label: null }],
      limits: { per_second: 100, concurrent: 50, max_body_bytes: 10_485_760 },
      tags: [],
      metadata: null,
      example: null,
      openapi: null,
      gateway_secret: expect.stringMatching(/^gws_[\w-]{43}$/),
      version: 1,
      created_at: new Date(NOON).toISOString(),
      updated_at: new Date(NOON).toISOString(),
    });
  });

  test('has everything that was said', async () => {
    const said = {
      name: 'Ünïcode 🔑',
      description: 'Of any town\nand more',
      upstream: { url: 'https://news.example/api?key=1', timeout_ms: 5_000 },
      split: [
        { recipient: bob.address, bps: 9_999, label: 'bob' },
        { recipient: carol, bps: 1, label: null },
      ],
      limits: { per_second: 1, concurrent: 2, max_body_bytes: 3 },
      visibility: 'private',
      allowed: [bob.address, 'key_5Qb2Jc8DWLxbTTQyNd3ER'],
      tags: ['weather', 'c++'],
      metadata: { team: 'a' },
      example: { method: 'POST', path: '/forecast?days=1', body: { town: "Côte d'Azur", none: null } },
      openapi: { openapi: '3.1.0', info: { title: 'W', version: '1' }, paths: {} },
    };
    const split = said.split.map(({ label, ...share }) => (label === null ? share : { ...share, label }));
    const pricing = { amount: 0.5, token: USDC, network: 'solana-devnet' };
    const answer = await post(draft({ ...said, split, pricing, tags: ['Weather', 'C++', 'weather'] }));
    expect(answer).toMatchObject({ status: 201, body: { ...said, pricing: { amount: '0.5', token: 'USDC' } } });
    expect((await get(idOf(answer))).body).toEqual(answer.body);
  });

  test('tells its event, and neither its secret nor its upstream in it', async () => {
    const id = await create({ slug: 'told' });
    const [event] = await fixture.database.query(
      { name: 'test_event', text: 'select type, owner, data from tollhouse_event where project_id = $1' },
      id,
    );
    expect(event).toMatchObject({ type: 'project.created', owner: alice.address });
    expect(JSON.parse(String(event?.data))).toEqual({
      id,
      slug: 'told',
      name: 'Weather',
      state: 'active',
      visibility: 'unlisted',
      version: 1,
      network: 'solana-devnet',
    });
  });

  test('cannot have a slug that is taken, by whomever; its owner alone is told that it is his own', async () => {
    const slug = newSlug();
    await create({ slug });
    for (const [headers, told] of [
      [asAlice, `The slug "${slug}" is taken by a project of your own; change that one, or choose another slug.`],
      [asBob, `The slug "${slug}" is taken; choose another one.`],
    ] as const) {
      const refused = await post(draft({ slug }), headers);
      expect([...outcomeOf(refused), refused.body['detail']]).toEqual([409, 'slug_taken', told]);
    }
  });

  test('can have the slug of a deleted one of its owner', async () => {
    const slug = newSlug();
    await fixture.ask('DELETE', `${PROJECTS}/${await create({ slug })}`, asAlice);
    expect((await post(draft({ slug }))).status).toBe(201);
  });

  test('can have the slug that somebody else has deleted after 30 days, and is told when', async () => {
    const own = await openProjectsFixture();
    const tokens = async () => [await own.keys.token(alice), await own.keys.token(bob)] as const;
    const [first] = await tokens();
    const { body } = await own.ask('POST', PROJECTS, first, draft({ slug: 'news' }));
    own.keys.fixture.advance(DAY_MS);
    const wait = { '30 days': 30 * DAY_MS - 1, 'the last moment': 1 };
    await own.ask('DELETE', `${PROJECTS}/${body['id']}`, (await tokens())[0]);
    for (const ms of Object.values(wait)) {
      const taken = await own.ask('POST', PROJECTS, (await tokens())[1], draft({ slug: 'news' }));
      expect(outcomeOf(taken)).toEqual([409, 'slug_taken']);
      expect(taken.body['detail']).toContain(`free from ${new Date(NOON + 31 * DAY_MS).toISOString()} on`);
      own.keys.fixture.advance(ms);
    }
    const [asFirst, asSecond] = await tokens();
    expect((await own.ask('POST', PROJECTS, asSecond, draft({ slug: 'news' }))).status).toBe(201);
    const late = await own.ask('POST', PROJECTS, asFirst, draft({ slug: 'news' }));
    expect(outcomeOf(late)).toEqual([409, 'slug_taken']);
    expect(late.body['detail']).not.toContain('free from');
    await own.close();
  });

  test('is as long as projects may be, and no longer; one that is longer by now may be made shorter', async () => {
    const long = { text: 'x'.repeat(3_000) };
    const id = await create({ slug: 'a-long-one', openapi: { ...long, more: long } });
    const refused = await post(
      draft({ openapi: { text: 'x'.repeat(65_000) }, example: { method: 'POST', body: long } }),
    );
    expect(outcomeOf(refused)).toEqual([409, 'quota_reached']);
    expect(refused.body).toMatchObject({
      param: 'project_bytes',
      detail: expect.stringMatching(/65536 bytes.*operator/),
    });

    const small = fixture.another({ projects: 10_000, projectBytes: 4_096 });
    const ref = { owner: alice.address, id };
    const as = (openapi: object) => small.update(ref, (it) => ({ ...it, openapi: { ...openapi } }));
    expect((await as({ ...long, more: 'x'.repeat(2_500) })).project.version).toBe(2);
    await expect(as({ ...long, more: 'x'.repeat(2_501) })).rejects.toMatchObject({ code: 'quota_reached' });
    await as({});
    await expect(as({ text: 'x'.repeat(4_000) })).rejects.toMatchObject({ code: 'quota_reached' });
  });
});

const long = (length: number) => 'x'.repeat(length);
const share = (recipient: string, bps: number) => ({ recipient, bps });
const split = (...shares: readonly object[]) => ({ split: shares });
const pricing = (changes: object) => ({ pricing: { ...MINIMAL.pricing, ...changes } });
const upstream = (url: string) => ({ upstream: { url } });
const wallets = Array.from({ length: 9 }, (_, at) => walletKey(`wallet ${at}`).address);
let deep: unknown = {};
for (let level = 0; level < 70; level += 1) deep = { deep };

test.each<[string, object, string]>([
  ['a short slug', { slug: 'ab' }, '/slug'],
  ['a long slug', { slug: long(41) }, '/slug'],
  ['a slug in capitals', { slug: 'Weather' }, '/slug'],
  ['a slug with a hyphen first', { slug: '-weather' }, '/slug'],
  ['a slug with a hyphen last', { slug: 'weather-' }, '/slug'],
  ['a slug with a dot', { slug: 'a.b.c' }, '/slug'],
  ['a slug with a line end', { slug: 'weather\n' }, '/slug'],
  ['a reserved slug', { slug: 'marketplace' }, '/slug'],
  ['no slug', { slug: undefined }, '/slug'],
  ['no name', { name: undefined }, '/name'],
  ['an empty name', { name: '' }, '/name'],
  ['a long name', { name: long(81) }, '/name'],
  ['a name of two lines', { name: 'a\nb' }, '/name'],
  ['a long description', { description: long(1_001) }, '/description'],
  ['a description with a NUL', { description: 'a\0b' }, '/description'],
  ['a field that there is not', { owner: alice.address }, '/owner'],
  ['a field of the price that there is not', pricing({ tokn: 'USDC' }), '/pricing/tokn'],
  ['a field of a share that there is not', split({ ...share(carol, 10_000), lable: 'me' }), '/split/0/lable'],
  ['no upstream', { upstream: undefined }, '/upstream'],
  ['an upstream behind encoded dots', upstream('https://weather.example/a/..%2fb'), '/upstream/url'],
  ['an upstream behind dots with parameters', upstream('https://weather.example/a/..;/b'), '/upstream/url'],
  ['an upstream behind dots that are encoded twice', upstream('https://weather.example/%252e%252e/b'), '/upstream/url'],
  ['an upstream over http', upstream('http://weather.example/'), '/upstream/url'],
  ['an upstream that is no address', upstream('weather'), '/upstream/url'],
  ['an upstream in a private network', upstream('https://inside.example/'), '/upstream/url'],
  ['an upstream on this machine', upstream('https://127.0.0.1/'), '/upstream/url'],
  ['an upstream that does not resolve', upstream('https://nowhere.example/'), '/upstream/url'],
  ['an upstream with a password', upstream('https://a:b@weather.example/'), '/upstream/url'],
  ['an endless time', { upstream: { ...MINIMAL.upstream, timeout_ms: 120_001 } }, '/upstream/timeout_ms'],
  ...['/../others', '/a/./b', '/%2e%2E/others', '/a/..?b=c', '/.%2e'].map((path): [string, object, string] => [
    `an example that leaves its project by ${path}`,
    { example: { method: 'GET', path } },
    '/example/path',
  ]),
  ['no price', { pricing: undefined }, '/pricing'],
  ['a price of nothing', pricing({ amount: '0' }), '/pricing/amount'],
  ['a negative price', pricing({ amount: '-1' }), '/pricing/amount'],
  ['a price with too many decimals', pricing({ amount: '0.0000001' }), '/pricing/amount'],
  ['a price that is too large', pricing({ amount: '9007199254.740992' }), '/pricing/amount'],
  ['a price that is no number', pricing({ amount: 'free' }), '/pricing/amount'],
  ['an unknown token', pricing({ token: 'DOGE' }), '/pricing/token'],
  ['another network', pricing({ network: 'solana' }), '/pricing/network'],
  ['no recipients', split(), '/split'],
  ['nine recipients', split(...wallets.map((it) => share(it, 1_000))), '/split'],
  ['shares that sum to less', split(share(carol, 9_999)), '/split'],
  ['shares that sum to more', split(share(carol, 9_999), share(bob.address, 2)), '/split'],
  ['a share of nothing', split(share(carol, 10_000), share(bob.address, 0)), '/split/1/bps'],
  ['a broken share', split(share(carol, 9_999.5), share(bob.address, 0.5)), '/split/0/bps'],
  ['a recipient that is no address', split(share('carol', 10_000)), '/split'],
  ['a recipient twice', split(share(carol, 5_000), share(carol, 5_000)), '/split'],
  ['a recipient off the curve', split(share(OFF_CURVE, 10_000)), '/split'],
  ['the fee payer as recipient', split(share(FEE_PAYER, 10_000)), '/split'],
  [
    'a recipient who would get nothing',
    { ...split(share(carol, 9_999), share(bob.address, 1)), ...pricing({ amount: '0.009999' }) },
    '/split',
  ],
  ['limits of nothing', { limits: { per_second: 0 } }, '/limits/per_second'],
  ['limits without bounds', { limits: { concurrent: 1_001 } }, '/limits/concurrent'],
  ['bodies without bounds', { limits: { max_body_bytes: 10_485_761 } }, '/limits/max_body_bytes'],
  ['another visibility', { visibility: 'hidden' }, '/visibility'],
  ['somebody allowed who is no wallet', { allowed: [bob.address, 'bob'] }, '/allowed/1'],
  ['an address allowed that is no wallet', { allowed: [OFF_CURVE] }, '/allowed/0'],
  ['what is like a key allowed', { allowed: ['key_0'] }, '/allowed/0'],
  ['a hundred and one allowed', { allowed: Array.from({ length: 101 }, () => carol) }, '/allowed'],
  ['six tags', { tags: ['a', 'b', 'c', 'd', 'e', 'f'] }, '/tags'],
  ['a tag with a wild card', { tags: ['a%'] }, '/tags/0'],
  ['metadata that is not text', { metadata: { a: 1 } }, '/metadata/a'],
  ['long metadata', { metadata: Object.fromEntries(wallets.map((it) => [it, long(300)])) }, '/metadata'],
  ['an unknown method', { example: { method: 'FETCH' } }, '/example/method'],
  ['a path that leaves the quotes of a shell', { example: { method: 'GET', path: "/'" } }, '/example/path'],
  ['a long example', { example: { method: 'POST', body: long(8_200) } }, '/example'],
  ['a document that is none', { openapi: [] }, '/openapi'],
  ['a document that is nested too deeply', { openapi: { deep } }, '/openapi'],
  ['a long document', { openapi: { text: long(65_536) } }, '/openapi'],
])('%s is refused with 422, at its field', async (_name, changes, pointer) => {
  const answer = await post({ ...draft(), ...changes });
  expect(outcomeOf(answer)).toEqual([422, 'validation_failed']);
  expect(pointersOf(answer)).toContain(pointer);
});

test.each<[string, object, string]>([
  ['splits', { splits: [] }, '/splits: is no field of this request; did you mean "split"?'],
  ['price', { pricing: undefined, price: '1 USDC' }, '/price: is no field of this request; did you mean "pricing"?'],
  ['amount', { amount: '1' }, '/amount: is no field of this request; did you mean "pricing": {"amount": …}?'],
  ['pricing.tokn', pricing({ tokn: 1 }), '/pricing/tokn: is no field of this request; did you mean "token"?'],
  ['limits.xyz', { limits: { xyz: 1 } }, 'the fields are per_second, concurrent, max_body_bytes'],
])('for the unknown field %s the likely one is named', async (_name, changes, sentence) => {
  const { body } = await post({ ...draft(), ...changes });
  expect(body['detail']).toContain(sentence);
  expect(body['errors']).toContainEqual(expect.objectContaining({ code: 'unknown' }));
});

test('every fault is told at once', async () => {
  const shape = await post(draft({ slug: 'A', name: '', tags: ['%'] }));
  expect(pointersOf(shape)).toEqual(['/slug', '/name', '/tags/0']);
  const meaning = await post({
    ...draft({ slug: 'admin' }),
    ...upstream('http://x'),
    ...pricing({ token: 'X' }),
    split: [],
  });
  expect(pointersOf(meaning)).toEqual(['/slug', '/upstream/url', '/pricing/token', '/split']);
});

test('a body that is none, or too large, is refused before anybody is asked who they are', async () => {
  expect(outcomeOf(await post('{', {}))).toEqual([400, 'invalid_json']);
  expect(outcomeOf(await post(draft({ name: long(102_400) }), {}))).toEqual([413, 'body_too_large']);
  const typed = { ...asAlice, 'content-type': 'text/plain' };
  expect(outcomeOf(await fixture.ask('POST', PROJECTS, typed, 'x'))).toEqual([415, 'unsupported_media_type']);
  expect(outcomeOf(await post('[]'))).toEqual([422, 'validation_failed']);
});

describe('who is calling', () => {
  const routes = (id: string): readonly (readonly [string, string, unknown?])[] => [
    ['GET', `${PROJECTS}/${id}`],
    ['PATCH', `${PROJECTS}/${id}`, { name: 'mine now' }],
    ['POST', `${PROJECTS}/${id}/pause`],
    ['POST', `${PROJECTS}/${id}/resume`],
    ['POST', `${PROJECTS}/${id}/rotate-secret`],
    ['DELETE', `${PROJECTS}/${id}`],
  ];

  test('nobody: 401 everywhere', async () => {
    const id = await create();
    for (const [method, path, body] of [...routes(id), ['GET', PROJECTS], ['POST', PROJECTS, draft()]] as const) {
      expect(outcomeOf(await fixture.ask(method, path, {}, body))).toEqual([401, 'unauthenticated']);
    }
  });

  test('another wallet: the project is not there, by whichever route, and nothing happens to it', async () => {
    const id = await create();
    const before = await get(id);
    for (const [method, path, body] of routes(id)) {
      const [theirs, nobodys] = [id, 'prj_none'].map((it) => path.replace(id, it));
      const answer = await fixture.ask(method, theirs ?? '', asBob, body);
      expect(outcomeOf(answer)).toEqual([404, 'project_not_found']);
      expect((await fixture.ask(method, nobodys ?? '', asBob, body)).body['detail']).toBe(answer.body['detail']);
    }
    const listed = (await fixture.ask('GET', `${PROJECTS}?limit=100`, asBob)).body['data'] as { owner: string }[];
    expect(listed.filter(({ owner }) => owner !== bob.address)).toEqual([]);
    expect((await get(id)).body).toEqual(before.body);
  });

  const keyWith = async (...scopes: readonly Scope[]) =>
    keyHeaders(await fixture.keys.make(alice.address, { scopes: [...scopes] }));

  test('a key may what its scopes say', async () => {
    const id = await create();
    const [reader, writer] = [await keyWith('projects:read'), await keyWith('projects:write')];
    expect((await get(id, reader)).status).toBe(200);
    expect(outcomeOf(await get(id, writer))).toEqual([403, 'insufficient_scope']);
    expect(outcomeOf(await patch(id, { name: 'x' }, reader))).toEqual([403, 'insufficient_scope']);
    expect((await patch(id, { name: 'x' }, writer)).status).toBe(200);
  });

  test('a key that writes projects does not see the gateway secret, however it asks; one that reads secrets does', async () => {
    const id = await create();
    const path = `${PROJECTS}/${id}`;
    const writer = await keyWith('projects:read', 'projects:write', 'payouts:write');
    const answers = [
      await get(id, writer),
      await patch(id, { name: 'another' }, writer),
      await fixture.ask('POST', `${path}/pause`, writer),
      await fixture.ask('POST', `${path}/resume`, writer),
      await fixture.ask('POST', `${path}/rotate-secret`, writer),
      await post(draft(), writer),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 201]);
    for (const { body } of answers) expect(JSON.stringify(body)).not.toContain('gws_');
    const reader = await keyWith('projects:read', 'secrets:read');
    expect((await get(id, reader)).body).toMatchObject({ gateway_secret: expect.stringMatching(/^gws_/) });
  });

  test('a key that writes projects says nowhere who is paid; one that may pay out as well does', async () => {
    const shares = [share(alice.address, 9_000), { ...share(carol, 1_000), label: 'carol' }];
    const id = await create({ split: shares });
    const [writer, payer] = [await keyWith('projects:write'), await keyWith('projects:write', 'payouts:write')];
    const thefts = [
      await post(draft({ split: [share(bob.address, 10_000)] }), writer),
      await patch(id, { split: [share(bob.address, 10_000)] }, writer),
      await patch(id, { split: [share(carol, 9_000), share(alice.address, 1_000)] }, writer),
      await patch(id, { split: [share(alice.address, 1_000), share(carol, 9_000)] }, writer),
      await patch(id, { split: null }, writer),
      await patch(id, { split: [share(bob.address, 10_000)] }, await keyWith('payouts:write')),
    ];
    expect(thefts.map(outcomeOf)).toEqual(thefts.map(() => [403, 'insufficient_scope']));
    expect(thefts[1]?.body).toMatchObject({ param: 'split', detail: expect.stringContaining('"payouts:write"') });
    expect((await get(id)).body).toMatchObject({ split: [{ bps: 9_000 }, { recipient: carol }], version: 1 });
    // Made anew under its slug it would pay nobody else.
    expect(outcomeOf(await fixture.ask('DELETE', `${PROJECTS}/${id}`, writer))).toEqual([403, 'insufficient_scope']);
    const same = shares.map(({ recipient, bps }) => share(recipient, bps));
    const honest = [
      await post(draft(), writer),
      await post(draft({ split: [share(alice.address, 10_000)] }), writer),
      await patch(id, { name: 'W', pricing: { amount: '2' }, split: same }, writer),
      await patch(id, { split: [share(carol, 10_000)] }, payer),
      await post(draft({ split: [share(carol, 10_000)] }), payer),
    ];
    expect(honest.map(({ status }) => status)).toEqual([201, 201, 200, 200, 201]);
    expect((await get(id)).body).toMatchObject({ name: 'W', split: [{ recipient: carol, bps: 10_000 }] });
  });

  test('a key that is for one project touches that one, and makes no other', async () => {
    const [id, other] = [await create(), await create()];
    const scopes = ['projects:read', 'projects:write'] as const;
    const key = keyHeaders(await fixture.keys.make(alice.address, { scopes: [...scopes], projectId: id }));
    expect((await get(id, key)).status).toBe(200);
    for (const [method, path, body] of routes(other)) {
      expect(outcomeOf(await fixture.ask(method, path, key, body))).toEqual([404, 'project_not_found']);
    }
    expect(outcomeOf(await post(draft(), key))).toEqual([403, 'insufficient_scope']);
    const list = async () => (await fixture.ask('GET', PROJECTS, key)).body;
    expect(await list()).toMatchObject({ data: [{ id }], has_more: false, next_cursor: null });
    await fixture.ask('DELETE', `${PROJECTS}/${id}`, asAlice);
    expect((await list())['data']).toEqual([]);
  });

  test('the secret is in no list', async () => {
    await create();
    const text = JSON.stringify((await fixture.ask('GET', PROJECTS, asAlice)).body);
    expect(text).not.toContain('gws_');
    expect(text).not.toContain('gateway_secret');
  });
});

describe('a change', () => {
  test('is a merge patch: objects are merged, lists replaced, null takes away and brings the default back', async () => {
    const id = await create({
      description: 'old',
      metadata: { a: '1', b: '2' },
      tags: ['a', 'b'],
      limits: { per_second: 5, concurrent: 6 },
      upstream: { ...MINIMAL.upstream, timeout_ms: 7_000 },
      visibility: 'private',
      allowed: [carol, carol],
      example: { method: 'GET' },
      openapi: { info: { title: 'old', version: '1' } },
      split: [share(carol, 10_000)],
    });
    const { body } = await patch(id, {
      description: null,
      metadata: { a: null, c: '3' },
      tags: ['c'],
      limits: { per_second: null },
      upstream: { timeout_ms: null },
      pricing: { amount: '2' },
      visibility: null,
      allowed: null,
      example: null,
      openapi: { info: { title: 'new' } },
      split: null,
    });
    expect(body).toMatchObject({
      description: null,
      metadata: { b: '2', c: '3' },
      tags: ['c'],
      limits: { per_second: 100, concurrent: 6 },
      upstream: { url: MINIMAL.upstream.url, timeout_ms: 30_000 },
      pricing: { amount: '2', token: 'USDC' },
      visibility: 'unlisted',
      allowed: [],
      example: null,
      openapi: { info: { title: 'new', version: '1' } },
      split: [{ recipient: alice.address, bps: 10_000 }],
      version: 2,
    });
    expect(body['metadata']).toEqual({ b: '2', c: '3' });
    expect((await get(id)).body).toEqual(body);
    expect((await patch(id, { openapi: null, metadata: null })).body).toMatchObject({ openapi: null, metadata: null });
  });

  test('tells its event with the fields that changed', async () => {
    const id = await create();
    await patch(id, { pricing: { token: 'SOL' }, visibility: 'listed', openapi: { a: 1 } });
    await fixture.ask('POST', `${PROJECTS}/${id}/pause`, asAlice);
    await fixture.ask('POST', `${PROJECTS}/${id}/resume`, asAlice);
    await fixture.ask('DELETE', `${PROJECTS}/${id}`, asAlice);
    const events = await fixture.database.query(
      { name: 'test_events_of', text: 'select type, data from tollhouse_event where project_id = $1 order by seq' },
      id,
    );
    expect(events.map(({ type, data }) => [type, JSON.parse(String(data)).changed])).toEqual([
      ['project.created', undefined],
      ['project.updated', expect.arrayContaining(['pricing', 'visibility', 'openapi'])],
      ['project.paused', ['state']],
      ['project.updated', ['state']],
      ['project.deleted', ['state']],
    ]);
  });

  test('that changes nothing is no version', async () => {
    const id = await create({ tags: ['a'] });
    const answer = await patch(id, { tags: ['A'], pricing: { amount: '0.010' }, description: null });
    expect(answer.body['version']).toBe(1);
    expect((await fixture.ask('POST', `${PROJECTS}/${id}/resume`, asAlice)).body['version']).toBe(1);
  });

  test.each<[string, unknown, string]>([
    ['the slug', { slug: 'another-slug' }, '/slug'],
    ['what is needed, taken away', { name: null }, '/name'],
    ['what cannot be changed', { owner: bob.address }, '/owner'],
    ['a bad upstream', { upstream: { url: 'https://10.0.0.1/' } }, '/upstream/url'],
    ['a split that does not sum', { split: [share(carol, 1)] }, '/split'],
    ['a price too small for the split', { pricing: { amount: '0.000001' } }, '/split'],
  ])('of %s is refused with 422', async (_name, change, pointer) => {
    const id = await create(split(share(carol, 5_000), share(bob.address, 5_000)));
    const answer = await patch(id, change);
    expect(outcomeOf(answer)).toEqual([422, 'validation_failed']);
    expect(pointersOf(answer)).toContain(pointer);
    expect((await get(id)).body['version']).toBe(1);
  });

  test('that is no object, or has the key __proto__, is refused', async () => {
    const id = await create();
    for (const body of ['[]', '"x"', '{"metadata":{"__proto__":{"a":"b"}}}']) {
      expect((await patch(id, body)).status).toBeGreaterThanOrEqual(400);
    }
    expect((await get(id)).body['version']).toBe(1);
  });

  test('does not ask again for an upstream that stays', async () => {
    const id = await create();
    await fixture.database.query(
      { name: 'test_move', text: `update tollhouse_project set details = replace(details, $2, $3) where id = $1` },
      id,
      'weather.example',
      'gone.example',
    );
    expect((await patch(id, { name: 'x' })).status).toBe(200);
  });

  test('with If-Match is made only of the version that it names', async () => {
    const id = await create();
    const first = tagOf(await get(id));
    const second = await patch(id, { name: 'second' }, { 'if-match': first });
    expect(second).toMatchObject({ status: 200, body: { name: 'second' } });
    const stale = { ...asAlice, 'if-match': first };
    const path = `${PROJECTS}/${id}`;
    const attempts = [
      await patch(id, { name: 'third' }, stale),
      await fixture.ask('POST', `${path}/pause`, stale),
      await fixture.ask('POST', `${path}/rotate-secret`, stale),
      await fixture.ask('DELETE', path, stale),
      await patch(id, { name: 'third' }, { 'if-match': `W/${tagOf(second)}` }),
      await patch(id, { name: 'third' }, { 'if-match': 'nonsense' }),
    ];
    expect(attempts.map(outcomeOf)).toEqual(attempts.map(() => [412, 'precondition_failed']));
    expect((await get(id)).body).toEqual(second.body);
    expect((await patch(id, { name: 'third' }, { 'if-match': '*' })).status).toBe(200);
    expect((await patch(id, { name: 'fourth' }, { 'if-match': '"7", "3"' })).status).toBe(200);
  });

  test('of many at once for one version is made once; without If-Match all are made', async () => {
    const id = await create();
    const rivals = await Promise.all(
      [1, 2, 3, 4].map((at) => patch(id, { name: `Name ${at}` }, { 'if-match': '"1"' })),
    );
    expect(rivals.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
    const fields = await Promise.all([patch(id, { description: 'd' }), patch(id, { tags: ['t'] })]);
    expect(fields.map(({ status }) => status)).toEqual([200, 200]);
    expect((await get(id)).body).toMatchObject({ description: 'd', tags: ['t'], version: 4 });
  });

  test('of the secret leaves the one before good for a day', async () => {
    const slug = newSlug();
    const id = await create({ slug });
    const before = (await get(id)).body['gateway_secret'];
    const after = (await fixture.ask('POST', `${PROJECTS}/${id}/rotate-secret`, asAlice)).body['gateway_secret'];
    expect(after).toMatch(/^gws_/);
    expect(after).not.toBe(before);
    const project = await fixture.projects.bySlug(slug);
    expect(project).toMatchObject({ secret: after, previousSecret: before, previousSecretUntil: NOON + DAY_MS });
    const ended = await fixture.ask('POST', `${PROJECTS}/${id}/rotate-secret`, asAlice, { expire_old_in: 0 });
    expect(await fixture.projects.bySlug(slug)).toMatchObject({
      secret: ended.body['gateway_secret'],
      previousSecretUntil: 0,
    });
  });
});

test('a project that was read is not sent again when it has not changed', async () => {
  const id = await create();
  const path = `${fixture.url}/api/v1${PROJECTS}/${id}`;
  const known = { ...asAlice, 'if-none-match': tagOf(await get(id)), 'cache-control': 'max-age=0' };
  expect((await fetch(path, { headers: known })).status).toBe(304);
  await patch(id, { name: 'x' });
  expect((await fetch(path, { headers: known })).status).toBe(200);
});

describe('the list', () => {
  type Page = { data: { id: string }[]; has_more: boolean; next_cursor: string | null; object: string };
  const page = async (query: string, headers: ProofHeaders) =>
    (await fixture.ask('GET', `${PROJECTS}?${query}`, headers)).body as object as Page;

  test('is read page by page, newest first, whatever is made or deleted meanwhile', async () => {
    const own = await fixture.keys.token(walletKey('lister'));
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      ids.unshift(await create({}, own));
      fixture.keys.fixture.advance(1);
    }
    const first = await page('limit=2', own);
    expect(first).toMatchObject({ object: 'list', has_more: true });
    await create({}, own);
    await fixture.ask('DELETE', `${PROJECTS}/${ids[1]}`, own);
    const second = await page(`limit=2&cursor=${first.next_cursor}`, own);
    const third = await page(`limit=2&cursor=${second.next_cursor}`, own);
    expect([first, second, third].flatMap(({ data }) => data.map(({ id }) => id))).toEqual(ids);
    expect(third).toMatchObject({ has_more: false, next_cursor: null });
    expect((await page('limit=100', own)).data).toHaveLength(5);
  });

  test.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'cursor=x',
    'cursor=',
    `cursor=${Buffer.from('[1]').toString('base64url')}`,
    `cursor=${Buffer.from('[1,"a\\u0000"]').toString('base64url')}`,
  ])('with %s is refused with 422', async (query) => {
    expect(outcomeOf(await fixture.ask('GET', `${PROJECTS}?${query}`, asAlice))).toEqual([422, 'validation_failed']);
  });
});

describe('a look by the slug', () => {
  test('sees at once what this process changes', async () => {
    const slug = newSlug();
    expect(await fixture.projects.bySlug(slug)).toBeUndefined();
    const id = await create({ slug });
    expect((await fixture.projects.bySlug(slug))?.id).toBe(id);
    await fixture.ask('POST', `${PROJECTS}/${id}/pause`, asAlice);
    expect((await fixture.projects.bySlug(slug))?.state).toBe('paused');
    await fixture.ask('DELETE', `${PROJECTS}/${id}`, asAlice);
    expect(await fixture.projects.bySlug(slug)).toBeUndefined();
  });

  test('sees within five seconds what another process changes, and asks the database once meanwhile', async () => {
    const slug = newSlug();
    const elsewhere = fixture.another();
    expect(await elsewhere.bySlug(slug)).toBeUndefined();
    const id = await create({ slug });
    expect(await elsewhere.bySlug(slug)).toBeUndefined();
    fixture.keys.fixture.advance(5_001);
    const found = await elsewhere.bySlug(slug);
    expect(found?.id).toBe(id);
    await patch(id, { name: 'new' });
    expect(await elsewhere.bySlug(slug)).toBe(found);
    fixture.keys.fixture.advance(5_001);
    expect((await elsewhere.bySlug(slug))?.name).toBe('new');
  });
});
