import { type DiscoveryExtension, validateDiscoveryExtension } from '@x402/extensions/bazaar';
import { bazaarExtension, type JsonSchema, pathNames, type RouteDeclaration } from '../../../src/protocol/bazaar.js';

const TEXT = { type: 'string' };
const FIXED = { type: { type: 'string', const: 'http' } };

/** The schema around that of the input, and of an output where there is one. */
function around(input: JsonSchema, required: readonly string[], output?: JsonSchema): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      input: {
        type: 'object',
        properties: input,
        required: ['type', 'method', ...required],
        additionalProperties: false,
      },
      ...(output === undefined ? {} : { output }),
    },
    required: ['input'],
  };
}

const town = { properties: { town: TEXT }, required: ['town'] };
const method = (name: string) => ({ type: 'string', enum: [name] });

const ROUTES: [string, RouteDeclaration, object][] = [
  [
    'with nothing to tell has an empty query of any form',
    { method: 'GET', path: '/report' },
    {
      info: { input: { type: 'http', method: 'GET', queryParams: {} } },
      schema: around({ ...FIXED, method: method('GET'), queryParams: { type: 'object', properties: {} } }, []),
    },
  ],
  [
    'with a query tells an example and the form, which is an object',
    { method: 'DELETE', path: '/report', input: { town: 'Rome' }, inputSchema: town },
    {
      info: { input: { type: 'http', method: 'DELETE', queryParams: { town: 'Rome' } } },
      schema: around({ ...FIXED, method: method('DELETE'), queryParams: { type: 'object', ...town } }, []),
    },
  ],
  [
    'with a body that is not described asks for one of any form',
    { method: 'POST', path: '/report', bodyType: 'text' },
    {
      info: { input: { type: 'http', method: 'POST', bodyType: 'text', body: {} } },
      schema: around(
        {
          ...FIXED,
          method: method('POST'),
          bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] },
          body: { properties: {} },
        },
        ['bodyType', 'body'],
      ),
    },
  ],
  [
    'with a body tells its form as it was declared',
    { method: 'PUT', path: '/report', bodyType: 'json', input: { town: 'Rome' }, inputSchema: town },
    {
      info: { input: { type: 'http', method: 'PUT', bodyType: 'json', body: { town: 'Rome' } } },
      schema: around(
        {
          ...FIXED,
          method: method('PUT'),
          bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] },
          body: town,
        },
        ['bodyType', 'body'],
      ),
    },
  ],
  [
    'with names in its path tells the template, and that each name stands for a text',
    { method: 'GET', path: '/towns/:town/days/:day' },
    {
      routeTemplate: '/towns/:town/days/:day',
      info: { input: { type: 'http', method: 'GET', queryParams: {} } },
      schema: around(
        {
          ...FIXED,
          method: method('GET'),
          queryParams: { type: 'object', properties: {} },
          pathParams: { type: 'object', properties: { town: TEXT, day: TEXT }, required: ['town', 'day'] },
        },
        [],
      ),
    },
  ],
  [
    'with names that are described tells an example and the form that was declared',
    {
      method: 'GET',
      path: '/towns/:town',
      pathParams: { town: 'Rome' },
      pathParamsSchema: { properties: { town: { enum: ['Rome'] } } },
    },
    {
      routeTemplate: '/towns/:town',
      info: { input: { type: 'http', method: 'GET', queryParams: {}, pathParams: { town: 'Rome' } } },
      schema: around(
        {
          ...FIXED,
          method: method('GET'),
          queryParams: { type: 'object', properties: {} },
          pathParams: { type: 'object', properties: { town: { enum: ['Rome'] } } },
        },
        [],
      ),
    },
  ],
];

describe.each(ROUTES)('a route %s', (_name, route, expected) => {
  test('as it goes over the wire', () => {
    expect(bazaarExtension(route)).toStrictEqual(expected);
  });

  test('the official validator finds that what it tells is of the form that it tells', () => {
    const extension: DiscoveryExtension = JSON.parse(JSON.stringify(bazaarExtension(route)));
    expect(validateDiscoveryExtension(extension)).toEqual({ valid: true });
  });
});

test.each<[string, unknown, JsonSchema | undefined, JsonSchema]>([
  ['an object', { degrees: 21 }, undefined, { type: 'object' }],
  ['an object with a schema', { degrees: 21 }, town, { type: 'object', ...town }],
  ['an object with a type of its own', {}, { type: ['object', 'null'] }, { type: ['object', 'null'] }],
  ['a list', [21], undefined, {}],
  ['null', null, undefined, {}],
  ['a text', 'warm', { type: 'string' }, { type: 'string' }],
  ['a number', 21, undefined, {}],
])('an answer that is %s is told with its form', (_name, example, schema, form) => {
  const { info, schema: whole } = bazaarExtension({ method: 'GET', path: '/', output: { example, schema } });
  expect(info).toStrictEqual({
    input: { type: 'http', method: 'GET', queryParams: {} },
    output: { type: 'json', example },
  });
  expect(whole).toStrictEqual(
    around({ ...FIXED, method: method('GET'), queryParams: { type: 'object', properties: {} } }, [], {
      type: 'object',
      properties: { type: TEXT, example: form },
      required: ['type'],
    }),
  );
});

test.each([
  ['/', []],
  ['/towns/:town', ['town']],
  ['/:a/:B_2/x:_c-d/:e.json', ['a', 'B_2', '_c', 'e']],
  ['/12:30/:/:%41', []],
])('the names in the path %s are %j', (path, names) => {
  expect(pathNames(path)).toEqual(names);
});
