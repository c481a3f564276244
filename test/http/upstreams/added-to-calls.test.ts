import type { ClientResponse, MadeProject } from '../../helpers/fixtures/gateway-client.js';
import { type GatewayFixture, useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { Received, Respond } from '../../helpers/http/webhook-receiver.js';
import { DAILY_DATABASES } from '../../helpers/storage/both-databases.js';

const answers: Respond = (res) => void res.end('paid for');
const KEY = 'Bearer the-key-of-the-api';
const TOKEN = 'a token & of the=query';
const SECRETS_KEY = 'a secret for upstreams that is long enough';
const SET = { set: true };

describe.each(DAILY_DATABASES)('what owners add to the calls of their upstreams, on %s', (name, openDatabase) => {
  const opened = useGatewayFixture([name, openDatabase], { secretsKey: SECRETS_KEY });
  let fixture: GatewayFixture;

  beforeAll(() => {
    fixture = opened();
  });
  beforeEach(() => fixture.upstream.respond(answers));

  const newProject = (upstream: object = {}) =>
    fixture.newProject({
      upstream: {
        url: `${fixture.upstream.origin}/base`,
        headers: { Authorization: KEY, 'X-Api-Key': 'second-secret' },
        query: { api_key: TOKEN },
        ...upstream,
      },
    });
  const patch = (project: MadeProject, upstream: object) =>
    fixture.client.ask('PATCH', `/api/v1/projects/${project.id}`, { upstream }, fixture.asOwner);
  const upstreamOf = ({ body }: ClientResponse) => body['upstream'] as Readonly<Record<string, unknown>>;

  async function paidCall(project: MadeProject, rest = '', headers: Readonly<Record<string, string>> = {}) {
    const { header } = await fixture.pay({ project });
    const sent = { headers: { ...fixture.key.headers, ...header, ...headers } };
    return fixture.client.call(`${project.slug}${rest}`, sent);
  }
  async function received(project: MadeProject, rest?: string, headers?: Record<string, string>): Promise<Received> {
    const { status, text } = await paidCall(project, rest, headers);
    expect([status, text]).toEqual([200, 'paid for']);
    return fixture.upstream.received.at(-1)!;
  }

  test('comes with each call, below the path of the upstream, in the place of what the caller sent', async () => {
    const rest = '/x/y?town=Rome&api_key=mine&api%5Fkey=mine&api_key';
    const theirs = { authorization: 'Bearer mine', 'x-api-key': 'mine', X_Api_Key: 'mine', 'x-other': 'mine' };
    const { path, headers } = await received(await newProject(), rest, theirs);
    expect(path).toBe(`/base/x/y?town=Rome&api_key=${encodeURIComponent(TOKEN)}`);
    expect(headers).toMatchObject({ authorization: KEY, 'x-api-key': 'second-secret', 'x-other': 'mine' });
    expect(JSON.stringify(headers)).not.toContain('Bearer mine');
    expect(headers).not.toHaveProperty('x_api_key');
  });

  test('comes without a path and a query of the call as well', async () => {
    expect((await received(await newProject())).path).toBe(`/base?api_key=${encodeURIComponent(TOKEN)}`);
  });

  test('is shown by its names, to nobody by its values', async () => {
    const project = await newProject();
    const read = await fixture.client.ask('GET', `/api/v1/projects/${project.id}`, undefined, fixture.asOwner);
    expect(upstreamOf(read)).toMatchObject({
      headers: { authorization: SET, 'x-api-key': SET },
      query: { api_key: SET },
    });
  });

  test('stays where a patch leaves it out or says that it is set; null takes one away, a text replaces one', async () => {
    const project = await newProject();
    await patch(project, { timeout_ms: 5_000 });
    await patch(project, { headers: { 'X-API-KEY': null, authorization: { set: true }, 'x-new': 'third-secret' } });
    await patch(project, { query: { api_key: 'other' } });
    const { path, headers } = await received(project);
    expect(path).toBe('/base?api_key=other');
    expect(headers).toMatchObject({ authorization: KEY, 'x-new': 'third-secret' });
    expect(headers).not.toHaveProperty('x-api-key');

    const { body } = await patch(project, { headers: null, query: null });
    expect(body['upstream']).toMatchObject({ headers: {}, query: {} });
    const bare = await received(project);
    expect([bare.path, bare.headers.authorization]).toEqual(['/base', undefined]);
  });

  test('changes nothing when it is said to be set', async () => {
    const project = await newProject();
    const before = await fixture.client.ask('GET', `/api/v1/projects/${project.id}`, undefined, fixture.asOwner);
    const after = await patch(project, { headers: { authorization: SET }, query: { api_key: SET } });
    expect(after.body['version']).toBe(before.body['version']);
  });

  test('reaches no caller by a redirect or a header of the upstream', async () => {
    const project = await newProject();
    const base = `${fixture.upstream.origin}/base`;
    const places = [
      '#top',
      '/base/x/?town=Rome&api_key=a%20token%20%26%20of%20the%3Dquery',
      `${base}?api_key=${encodeURIComponent(TOKEN)}`,
      `https://elsewhere.example/?api_key=${encodeURIComponent(TOKEN)}&a=1`,
    ];
    const shown: unknown[] = [];
    for (const location of places) {
      const echo = { 'x-echo': KEY, 'x-echo-short': 'the-key-of-the-api', link: `<?k=second-secret>`, 'x-kept': 'yes' };
      fixture.upstream.respond((res) => void res.writeHead(302, { location, ...echo }).end());
      const { status, headers } = await paidCall(project, '/x');
      expect([status, headers.get('x-kept')]).toEqual([302, 'yes']);
      expect(JSON.stringify([...headers])).not.toMatch(/the-key-of|second-secret|token/);
      shown.push(headers.get('location'));
    }
    const here = `/v1/${project.slug}`;
    expect(shown).toEqual([
      expect.stringMatching(/x#top$/),
      `${here}/x/?town=Rome`,
      here,
      'https://elsewhere.example/?a=1',
    ]);
  });

  test.each([
    ['as addresses write it', (it: string) => String(new URLSearchParams({ page: '2', api_key: it }))],
    ['in small hexadecimal digits', (it: string) => encodeURIComponent(it).replace(/%../g, (hex) => hex.toLowerCase())],
    ['with some characters as they are', (it: string) => encodeURIComponent(it).replaceAll('%2F', '/')],
    ['in an address in an address', (it: string) => encodeURIComponent(`/data?api_key=${encodeURIComponent(it)}`)],
  ])('is in no header of a response %s', async (_, encode) => {
    const secrets = ['k3y!s(e)cret*value~x/q+R==', 'ein Schlüssel mit Wörtern'];
    for (const secret of secrets) {
      const project = await newProject({
        headers: { authorization: 'Token token="abcdef0123456789"' },
        query: { k: secret },
      });
      const said = {
        link: `<http://api.example/?${encode(secret)}>; rel=next`,
        'x-said': 'abcdef0123456789',
        'x-kept': 'yes',
      };
      const location = `https://login.example/?return=${encode(secret)}`;
      fixture.upstream.respond((res) => void res.writeHead(302, { ...said, location }).end());
      const { headers } = await paidCall(project);
      const seen = ['link', 'x-said', 'location', 'x-kept'].map((it) => headers.get(it));
      expect(seen).toEqual([null, null, null, 'yes']);
    }
  });

  test.each([
    ['another host', (origin: string) => origin.replace('127.0.0.1', 'localhost')],
    ['another path', (origin: string) => `${origin}/other`],
    ['a path that begins with the same letters', (origin: string) => `${origin}/basement`],
  ])('does not follow its project to %s: there it has to be given anew', async (_, elsewhere) => {
    const project = await newProject();
    const url = elsewhere(fixture.upstream.origin);
    const by = await fixture.client.signIn(fixture.owner);
    const { headers } = await fixture.client.key(by, { scopes: ['projects:write'] });
    for (const who of [by, headers]) {
      const refused = await fixture.client.ask('PATCH', `/api/v1/projects/${project.id}`, { upstream: { url } }, who);
      expect([refused.status, refused.body['code']]).toEqual([422, 'validation_failed']);
      expect(refused.text).toContain('give its value again');
    }
    expect((await received(project, '/x')).path).toContain('/base/x');
    const anew = { headers: { authorization: 'Bearer another', 'x-api-key': null }, query: null };
    expect((await patch(project, { url, ...anew })).status).toBe(200);
    expect((await received(project, '/x')).headers.authorization).toBe('Bearer another');
  });

  test.each([
    '..%2fother',
    '%2e%2e%2fother',
    '%252e%252e/other',
    '..;/other',
    '..;a=b/other',
    '..%5cother',
    'v2%2f..%2f..%2fother',
  ])('does not follow its project to a path below that leads elsewhere: %s', async (path) => {
    const project = await newProject();
    const url = `${fixture.upstream.origin}/base/${path}`;
    const refused = await patch(project, { url });
    const faults = refused.body['errors'] as readonly { readonly pointer: string }[];
    expect([refused.status, faults.map(({ pointer }) => pointer)]).toEqual([
      422,
      ['/upstream/url', '/upstream/headers/authorization', '/upstream/headers/x-api-key', '/upstream/query/api_key'],
    ]);
    const anew = { headers: { authorization: 'Bearer another', 'x-api-key': null }, query: null };
    expect((await patch(project, { url, ...anew })).status).toBe(422);
    expect((await received(project, '/x')).path).toContain('/base/x');
  });

  test('stays where its project moves to a path below', async () => {
    const project = await newProject();
    expect((await patch(project, { url: `${fixture.upstream.origin}/base/v2` })).status).toBe(200);
    expect((await received(project, '/x')).headers.authorization).toBe(KEY);
  });

  test('goes with its project', async () => {
    const project = await newProject();
    await fixture.client.ask('DELETE', `/api/v1/projects/${project.id}`, undefined, fixture.asOwner);
    const [row] = await fixture.storage.database.query({
      name: 'test_details',
      text: `select details, secrets_keys from tollhouse_project where slug = '${project.slug}'`,
    });
    expect(row?.['secrets_keys']).toBeNull();
    expect(String(row?.['details'])).not.toContain('sealed1');
  });

  test.each([
    ['headers', { host: 'x' }, '/upstream/headers/host'],
    ['headers', { 'Content-Length': '1' }, '/upstream/headers/content-length'],
    ['headers', { connection: 'close' }, '/upstream/headers/connection'],
    ['headers', { 'Transfer-Encoding': 'chunked' }, '/upstream/headers/transfer-encoding'],
    ['headers', { 'x-tollhouse-payer': 'me' }, '/upstream/headers/x-tollhouse-payer'],
    ['headers', { X_Tollhouse_Payer: 'me' }, '/upstream/headers/x_tollhouse_payer'],
    ['headers', { 'x-forwarded-for': '::1' }, '/upstream/headers/x-forwarded-for'],
    ['headers', { 'no name': 'x' }, '/upstream/headers/no name'],
    ['headers', { '': 'x' }, '/upstream/headers/'],
    ['headers', { 'x-a': '' }, '/upstream/headers/x-a'],
    ['headers', { 'x-a': 'two\r\nx-tollhouse-payer: me' }, '/upstream/headers/x-a'],
    ['headers', { 'x-a': 'ünïcode' }, '/upstream/headers/x-a'],
    ['headers', { 'x-a': 'x'.repeat(4_097) }, '/upstream/headers/x-a'],
    ['headers', { 'x-a': 'one', 'X-A': 'two' }, '/upstream/headers/x-a'],
    ['headers', { 'x-a': { set: true } }, '/upstream/headers/x-a'],
    ['headers', { 'x-a': { set: false } }, '/upstream/headers/x-a'],
    ['headers', { 'x-a': 1 }, '/upstream/headers/x-a'],
    ['headers', ['x'], '/upstream/headers'],
    ['headers', Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`x-${at}`, 'x'])), '/upstream/headers'],
    ['headers', { 'x-a': 'x'.repeat(4_096), 'x-b': 'x'.repeat(4_096), 'x-c': 'x' }, '/upstream/headers'],
    ['query', { 'a\nb': 'x' }, '/upstream/query/a\nb'],
    ['query', { a: '\u0000' }, '/upstream/query/a'],
    ['query', { 'a/b~c': { set: true } }, '/upstream/query/a~1b~0c'],
    ['retries', 4, '/upstream/retries'],
    ['health', { path: 'healthz' }, '/upstream/health/path'],
    ['health', { path: '/../admin' }, '/upstream/health/path'],
    ['health', { path: '/', interval: 9 }, '/upstream/health/interval'],
  ])('is refused where it cannot be: %s %j', async (field, value, pointer) => {
    const refused = await patch(fixture.project, { [field]: value });
    expect([refused.status, refused.body['code']]).toEqual([422, 'validation_failed']);
    const faults = refused.body['errors'] as readonly { readonly pointer: string; readonly detail: string }[];
    expect(faults.map((it) => it.pointer.toLowerCase())).toContain(pointer);
    expect(refused.text).not.toMatch(/ünïcode|tollhouse-payer: me|xxxx/);
  });
});

describe('a gateway without a key for secrets', () => {
  const fixture = useGatewayFixture();

  test('refuses to keep them, says what to do, and keeps everything else', async () => {
    const asked = { slug: 'keyless', name: 'x', pricing: { amount: '1', token: 'USDC' } };
    const { client, upstream, asOwner } = fixture();
    const url = upstream.origin;
    const refused = await client.ask(
      'POST',
      '/api/v1/projects',
      { ...asked, upstream: { url, headers: { authorization: KEY } } },
      asOwner,
    );
    expect([refused.status, refused.body['code']]).toEqual([501, 'secrets_key_missing']);
    expect(refused.body['detail']).toContain('SECRETS_KEY');
    const made = await client.ask('POST', '/api/v1/projects', { ...asked, upstream: { url, headers: {} } }, asOwner);
    expect(made.status).toBe(201);
  });
});
