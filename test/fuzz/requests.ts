import fc from 'fast-check';
import { anyText } from '../helpers/any-text.js';
import type { DocumentedOperation, OpenApi } from '../helpers/http/documented.js';

/** A request as it is sent. */
export interface FuzzRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** What is real in a service: addresses, ids, headers that prove something. */
export interface Dictionary {
  readonly texts: readonly string[];
  /** Sets of headers that let somebody in. */
  readonly proofs: readonly Readonly<Record<string, string>>[];
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const SEGMENTS = ['..', '%2e%2e', '%2F', '%5C', '%00', '%', '%zz', '', ';', '~', '__proto__', 'a'.repeat(300)];
const TYPES = [
  'application/json',
  'application/json; charset=utf-7',
  'application/merge-patch+json',
  'text/plain',
  'multipart/form-data',
];
const ODD = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  '0.0000000001',
  '9'.repeat(60),
  'null',
  '__proto__',
  '\u0000',
  '💥',
  'x'.repeat(5_000),
];

/** Requests for everything that a service documents, from nearly right to nonsense. */
export function requestsFor(document: OpenApi, dictionary: Dictionary): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return fc
    .constantFrom(...operations)
    .chain(({ path, method, operation }) =>
      fc.record({
        method: mostly(fc.constant(method), fc.constantFrom(...METHODS)),
        path: fc.tuple(aPath(path, dictionary), aQuery(operation, dictionary)).map((parts) => parts.join('')),
        headers: someHeaders(dictionary),
        body: aBody(document, operation, dictionary),
      }),
    )
    .map((it) => (it.method === 'GET' || it.method === 'HEAD' ? { ...it, body: undefined } : it));
}

function mostly<T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: other });
}

function aText({ texts }: Dictionary): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...texts) },
    { weight: 2, arbitrary: fc.constantFrom(...ODD) },
    { weight: 2, arbitrary: anyText({ maxLength: 40 }) },
  );
}

function aPath(template: string, dictionary: Dictionary): fc.Arbitrary<string> {
  const segments = template.split('/').map((segment) => {
    const given = segment.startsWith('{') ? aText(dictionary).map(encoded) : fc.constant(segment);
    return fc.oneof({ weight: 40, arbitrary: given }, { weight: 1, arbitrary: fc.constantFrom(...SEGMENTS) });
  });
  return fc.tuple(...segments).map((parts) => `/${parts.join('/').replace(/^\/+/, '')}`);
}

function aQuery({ parameters = [] }: DocumentedOperation, dictionary: Dictionary): fc.Arbitrary<string> {
  const name = fc.constantFrom(...parameters.map((it) => it.name), 'x[y]', '__proto__', 'limit', 'cursor');
  return fc
    .array(fc.tuple(name, aText(dictionary)), { maxLength: 3 })
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.map(encoded).join('=')).join('&')}`));
}

function encoded(text: string): string {
  return encodeURIComponent(text);
}

function someHeaders(dictionary: Dictionary): fc.Arbitrary<Record<string, string>> {
  const value = aText(dictionary).map((text) => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 4_000));
  const names = [
    'authorization',
    'x-service-key',
    'x-service-secret',
    'payment-signature',
    'x-payment',
    'x-service-payment',
  ];
  const more = [
    'sign-in-with-x',
    'idempotency-key',
    'if-match',
    'accept',
    'origin',
    'last-event-id',
    'x-request-id',
    'content-encoding',
  ];
  const odd = fc.dictionary(fc.constantFrom(...names, ...more, 'traceparent', 'x-forwarded-for'), value, {
    maxKeys: 2,
  });
  const type = mostly(fc.constant('application/json'), fc.constantFrom(...TYPES));
  const proof = mostly(fc.constantFrom(...dictionary.proofs), fc.constant({}));
  return fc.tuple(type, proof, odd).map(([it, proofs, others]) => ({ 'content-type': it, ...proofs, ...others }));
}

function aBody(document: OpenApi, { requestBody }: DocumentedOperation, dictionary: Dictionary) {
  const [content] = Object.values(requestBody?.content ?? {});
  const right = content === undefined ? fc.jsonValue() : fitting(content.schema, document, dictionary, 4);
  const json = mostly(right, fc.jsonValue()).map((it) => JSON.stringify(it));
  return fc.oneof(
    { weight: 18, arbitrary: json },
    { weight: 1, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('{', '[[', '"', '{"a":1,}', '\u0000', `${'['.repeat(5_000)}`, '9'.repeat(200_000)),
    },
  );
}

/** A value that fits a schema more often than not. */
function fitting(schema: Json, document: OpenApi, dictionary: Dictionary, depth: number): fc.Arbitrary<unknown> {
  const inner = (it: unknown) => fitting(Object(it) as Json, document, dictionary, depth - 1);
  const wild = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    aText(dictionary),
    fc.constantFrom(...ODD, 2 ** 53, -1, 1e300, null),
  );
  if (depth === 0) return wild;
  const { $ref, anyOf, oneOf, enum: values, properties, items, type } = schema;
  if (typeof $ref === 'string') return inner(Reflect.get(document.components.schemas, $ref.split('/').at(-1) ?? ''));
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices) && choices.length > 0) return fc.oneof(...choices.map(inner));
  if (Array.isArray(values) && values.length > 0) return mostly(fc.constantFrom<unknown>(...values), wild);
  if ('const' in schema) return mostly(fc.constant(schema['const']), wild);
  if (properties !== undefined) return mostly(objectOf(schema, inner), wild);
  if (type === 'array') return mostly<unknown>(fc.array(inner(items), { maxLength: 3 }), wild);
  if (type === 'integer' || type === 'number') return mostly(fc.integer({ min: 0, max: 5_000 }), wild);
  if (type === 'boolean') return mostly(fc.boolean(), wild);
  return mostly(aText(dictionary), wild);
}

function objectOf({ properties, required }: Json, inner: (schema: unknown) => fc.Arbitrary<unknown>) {
  const entries = Object.entries(Object(properties) as Json).map(([name, schema]) => [name, inner(schema)] as const);
  const needed = Array.isArray(required) ? required.map(String) : [];
  const fields = fc.record(Object.fromEntries(entries), { requiredKeys: needed, noNullPrototype: true });
  const stray = fc.dictionary(
    fc.constantFrom('stray', '__proto__', 'constructor', 'amount'),
    fc.jsonValue({ maxDepth: 1 }),
    { maxKeys: 1 },
  );
  return fc.tuple(fields, mostly(fc.constant({}), stray)).map(([known, more]): unknown => ({ ...known, ...more }));
}
