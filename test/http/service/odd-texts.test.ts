import { Keypair } from '@solana/web3.js';
import { mergePatch } from '../../../src/gateway/projects/merge-patch.js';
import { type GatewayFixture, openGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import type { OpenApi } from '../../helpers/http/documented.js';
import type { ProofHeaders } from '../../helpers/http/sign-in.js';
import { type PostgresServer, startPostgres } from '../../helpers/storage/postgres.js';

type Json = Readonly<Record<string, unknown>>;
/** A place in a body: names of fields, numbers in lists. */
type Place = readonly (string | number)[];

/** What Postgres keeps in no text, and what is half a character. */
const ODD = { zero: '\0', surrogate: '\ud800' };
const ANY_NAME = 'x-any';
/** What a body needs though its schema does not say it. */
const BASES: Json = { createProject: { pricing: { amount: '1', token: 'USDC' } } };
/** What is made, changed or asked for as it stands, so that what is odd in it comes as far as the database. */
const HONEST = ['createPayment', 'generateKey', 'createProject', 'createWebhook', 'updateWebhook'];

const operator = Keypair.generate();
let postgres: PostgresServer;
let fixtures: readonly GatewayFixture[];
let made = 0;

beforeAll(async () => {
  postgres = await startPostgres();
  const more = { operators: [operator.publicKey.toBase58()], secretsKey: 'k'.repeat(32) };
  const urls = ['memory:', await postgres.newDatabase()];
  fixtures = await Promise.all(urls.map((url) => openGatewayFixture(url, {}, more)));
});
afterAll(async () => {
  for (const fixture of fixtures) await fixture.close();
  await postgres.stop();
});

const isJson = (it: unknown): it is Json => typeof it === 'object' && it !== null && !Array.isArray(it);

/** Reads schemas of a document. */
function reader({ components }: OpenApi, texts: (name: string) => string) {
  const schemas: Json = components.schemas;
  /** What a schema may be, each way on its own. */
  function waysOf(schema: unknown): readonly Json[] {
    if (!isJson(schema)) return [];
    const { $ref, anyOf, oneOf } = schema;
    if (typeof $ref === 'string') return waysOf(schemas[$ref.split('/').at(-1) ?? '']);
    const some = anyOf ?? oneOf;
    return Array.isArray(some) ? some.flatMap(waysOf) : [schema];
  }
  const isOf = (type: string, it: Json) => [it['type']].flat().includes(type);
  const propertiesOf = ({ properties }: Json): readonly (readonly [string, unknown])[] =>
    isJson(properties) ? Object.entries(properties) : [];

  /** Every place of a text that is not one of a few. */
  function placesIn(schema: unknown, depth = 8): readonly Place[] {
    if (depth === 0) return [];
    return waysOf(schema).flatMap((it) => {
      if (isOf('string', it)) return it['enum'] === undefined && it['const'] === undefined ? [[]] : [];
      const below = (at: string | number, inner: unknown) => placesIn(inner, depth - 1).map((rest) => [at, ...rest]);
      const fields = propertiesOf(it).flatMap(([name, inner]) => below(name, inner));
      return [...fields, ...below(ANY_NAME, it['additionalProperties']), ...below(0, it['items'])];
    });
  }

  /** A value with what it needs, and with whatever is on the way to a place. */
  function sampleOf(schema: unknown, name: string, place: Place | undefined): unknown {
    const ways = waysOf(schema);
    const [at, ...rest] = place ?? [];
    const fits = (it: Json) =>
      at === undefined ? isOf('string', it) : placesIn(it).some((other) => other.join('/') === place?.join('/'));
    const way = (place && ways.find(fits)) ?? ways.find((it) => !isOf('null', it)) ?? ways[0] ?? {};
    const [first] = [way['enum']].flat();
    if (way['const'] !== undefined || first !== undefined) return way['const'] ?? first;
    if (isOf('string', way)) return texts(name);
    if (isOf('boolean', way)) return true;
    if (isOf('array', way)) {
      const isWanted = at === 0 || Number(way['minItems'] ?? 0) > 0;
      return isWanted ? [sampleOf(way['items'], name, at === 0 ? rest : undefined)] : [];
    }
    if (isOf('object', way) || isJson(way['properties'])) {
      const required = [way['required']].flat();
      const wanted = propertiesOf(way).filter(([field]) => field === at || required.includes(field));
      const fields = wanted.map(([field, inner]) => [field, sampleOf(inner, field, field === at ? rest : undefined)]);
      const other = at === ANY_NAME ? [[at, sampleOf(way['additionalProperties'], at, rest)]] : [];
      return Object.fromEntries([...fields, ...other]);
    }
    return Number(way['minimum'] ?? 1) || 1;
  }
  return { placesIn, sampleOf };
}

/** The same with a text at a place made another one. */
function changedAt(value: unknown, [at, ...rest]: Place, change: (text: string) => string): unknown {
  if (at === undefined) return change(String(value));
  const inner = changedAt(Reflect.get(Object(value), at), rest, change);
  return Array.isArray(value) ? [inner] : { ...Object(value), [at]: inner };
}

/** What texts of a name are in requests that are in order. */
function textsOf({ owner, payer, upstream }: GatewayFixture) {
  const wallet = payer.publicKey.toBase58();
  const texts: Readonly<Record<string, () => string>> = {
    slug: () => `odd-${++made}`,
    url: () => `${upstream.origin}/odd`,
    token: () => 'USDC',
    amount: () => '1',
    limit: () => '1',
    recipient: () => owner.publicKey.toBase58(),
    network: () => 'solana-devnet',
    path: () => '/odd',
    method: () => 'GET',
    since: () => '2030-01-02T03:04:05Z',
    expires_at: () => '2130-01-02T03:04:05Z',
    for: () => '1h',
    ...Object.fromEntries(['wallet', 'payer', 'account', 'target', 'allowed'].map((it) => [it, () => wallet])),
  };
  return (name: string): string => texts[name]?.() ?? 'odd';
}

/** Answers with the value of a path's parameter. */
async function parametersOf({ client, project, asOwner, upstream, owner }: GatewayFixture) {
  const webhook = await client.ask('POST', '/api/v1/webhooks', { url: upstream.origin, events: ['*'] }, asOwner);
  const key = await client.key(asOwner);
  const asked = { amount: '1', token: 'USDC', recipient: owner.publicKey.toBase58() };
  const payment = await client.ask('POST', '/create-payment', asked);
  const ids = [
    ['/webhooks/', webhook.body['id']],
    ['/keys/', key.id],
    ['/payments/', payment.body['payment_id']],
  ] as const;
  return (path: string, name: string): string => {
    if (name === 'wallet') return owner.publicKey.toBase58();
    return String(name === 'id' ? (ids.find(([part]) => path.includes(part))?.[1] ?? project.id) : 'odd');
  };
}

/** Statuses by what was asked. */
async function askAll(fixture: GatewayFixture): Promise<Readonly<Record<string, number>>> {
  const { client, asOwner } = fixture;
  const document = (await (await fetch(`${client.url}/openapi.json`)).json()) as OpenApi;
  const { placesIn, sampleOf } = reader(document, textsOf(fixture));
  const parameter = await parametersOf(fixture);
  const asOperator = await client.signIn(operator);
  const statuses: Record<string, number> = {};
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  for (const { path, method, operation } of operations) {
    const by: ProofHeaders = path.startsWith('/api/v1/operator') ? asOperator : asOwner;
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => parameter(path, name));
    for (const { schema } of Object.values(operation.requestBody?.content ?? {}).slice(0, 1)) {
      const places = new Map(placesIn(schema).map((it) => [it.join('/'), it]));
      for (const [named, place] of places) {
        const kinds = { honest: (text: string) => text, ...spoiling() };
        for (const [kind, change] of Object.entries(kinds)) {
          const sample = mergePatch(BASES[operation.operationId ?? ''] ?? {}, sampleOf(schema, '', place));
          const body = changedAt(sample, place, change);
          const { status } = await client.ask(method, filled, body, by);
          statuses[`${operation.operationId} ${named}: ${kind}`] = status;
        }
      }
    }
  }
  return statuses;
}

function spoiling(): Readonly<Record<string, (text: string) => string>> {
  const kinds = Object.entries(ODD).map(([kind, odd]) => [kind, (text: string) => text + odd]);
  return Object.fromEntries(kinds);
}

test('what no database keeps is answered alike on both, and never with 500, in every text of every body', async () => {
  const [onSqlite = {}, onPostgres = {}] = await Promise.all(fixtures.map(askAll));
  const asked = Object.entries(onPostgres);
  expect(asked.filter(([, status]) => status >= 500)).toEqual([]);
  expect(onPostgres).toEqual(onSqlite);
  for (const id of HONEST) {
    const ofIt = asked.filter(([name]) => name.startsWith(`${id} `) && name.endsWith(': honest'));
    expect([id, ofIt.some(([, status]) => status < 300)]).toEqual([id, true]);
  }
  for (const name of ['createWebhook url', 'updateWebhook url', 'createProject upstream/url']) {
    const wrong = Object.keys(ODD).map((kind) => onPostgres[`${name}: ${kind}`]);
    expect([name, wrong]).toEqual([name, [422, 422]]);
  }
  expect(asked.length).toBeGreaterThan(100);
});
