import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Router } from 'express';
import { ERRORS } from '../../../src/errors/errors.js';
import { createRouter } from '../../../src/http/create-router.js';
import { SCOPES } from '../../../src/identity/service-keys/scopes.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { useGatewayFixture } from '../../helpers/fixtures/gateway-fixture.js';
import { EXPRESSES } from '../../helpers/fixtures/toll-fixture.js';
import { type DocumentedOperation, type OpenApi, operationOf } from '../../helpers/http/documented.js';
import { ask } from '../../helpers/http/raw-http.js';

const VALIDATOR = require.resolve('@seriousme/openapi-schema-validator/bin/validate-api-cli.js');
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

const fixture = useGatewayFixture();

beforeAll(() => {
  const { facilitator, payTo } = fixture();
  const described = { facilitator, price: '$0.01', payTo, description: 'One report' };
  requirePayment({ ...described, discovery: { path: '/reports/:id', tags: ['reports'] } });
  requirePayment({ ...described, discovery: { path: '/reports', bodyType: 'json' }, baseUrl: 'https://shop.example/' });
  requirePayment(described);
});

async function documentAt(url: string): Promise<OpenApi> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
}

const documentOf = async (express = EXPRESSES[0][1]) =>
  documentAt(await fixture().serve((app) => app.use(fixture().router), express));

type Documented = [method: string, path: string, operation: DocumentedOperation];

function operationsOf({ paths }: OpenApi): Documented[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Documented => [method, path, operation]),
  );
}

/** Every method and path of a router that has a handler other than the one for all methods. */
function mountedOn({ stack }: Router): string[] {
  return stack.flatMap(({ route, handle }) => {
    if (route === undefined) return 'stack' in handle ? mountedOn(handle as Router) : [];
    const methods = route.stack.flatMap(({ method }) => method ?? []).filter((it) => METHODS.includes(it));
    return methods.map((method) => `${method} ${route.path.replace(/:(\w+)/g, '{$1}')}`);
  });
}

test('the document is valid by the schema of OpenAPI 3.1', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  const file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify(await documentOf()));
  const { stdout } = await promisify(execFile)(process.execPath, [VALIDATOR, file]);
  await rm(folder, { recursive: true });
  expect(JSON.parse(stdout)).toEqual({ valid: true });
});

test('the document is not sent again to who has it, is of the address that was asked, and has a length for HEAD', async () => {
  const url = await fixture().serve((app) => app.use(fixture().router));
  const [first, other] = await Promise.all(
    [url, url.replace('127.0.0.1', 'localhost')].map((it) => fetch(`${it}/openapi.json`)),
  );
  const tag = String(first?.headers.get('etag'));
  const text = String(await first?.text());
  // What fetch sends with a condition asks for all of it.
  const known = String((await ask(url, 'GET /openapi.json')).headers.get('etag'));
  const same = await ask(url, 'GET /openapi.json', [`If-None-Match: ${known}`]);
  const head = await fetch(`${url}/openapi.json`, { method: 'HEAD' });

  expect(text).toBe(JSON.stringify(JSON.parse(text)));
  expect(JSON.parse(text).servers).toEqual([{ url }]);
  expect([same.status, same.headers.get('etag'), same.body]).toEqual([304, known, '']);
  expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  expect(other?.headers.get('etag')).not.toBe(tag);
});

test('the validator finds fault with a document that is not valid', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  const file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify({ ...(await documentOf()), paths: { '/x': { get: { responses: 7 } } } }));
  const told = promisify(execFile)(process.execPath, [VALIDATOR, file]).then(({ stdout }) => stdout);
  const outcome = await told.catch((error: { stdout: string }) => error.stdout);
  await rm(folder, { recursive: true });
  expect(outcome).toContain('"valid": false');
});

test('every schema in it is one', async () => {
  const document = await documentOf();
  const setup = { strict: true, allowUnionTypes: true, strictRequired: false, validateFormats: false };
  const ajv = new Ajv2020({ ...setup, inlineRefs: false });
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    ajv.addSchema(schema, `#/components/schemas/${name}`);
  }
  const schemas = operationsOf(document).flatMap(([, , { responses, requestBody, parameters = [] }]) => {
    const contents = [requestBody?.content ?? {}, ...Object.values(responses).map(({ content = {} }) => content)];
    return [...contents.flatMap((content) => Object.values(content)), ...parameters].map(({ schema }) => schema);
  });
  const unlike = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  for (const schema of unlike.values()) expect(() => ajv.compile(schema)).not.toThrow();
});

test('what is documented is what is mounted, and what is listed', async () => {
  const documented = operationsOf(await documentOf()).map(([method, path]) => `${method} ${path}`);
  const listed = ['get /reports/{id}', 'post /reports'];
  // Every method and every path below it is a call.
  const calls = 'post /v1/{slug}';
  expect(documented.sort()).toEqual([...new Set(mountedOn(fixture().router)), ...listed, calls].sort());
});

test('without sign-in and a gateway their paths are neither mounted nor documented', async () => {
  const without = createRouter({ facilitator: fixture().facilitator });
  const document = await documentAt(await fixture().serve((app) => app.use(without)));
  expect(Object.keys(document.paths).filter((it) => /^\/(api\/)?v1/.test(it))).toEqual([]);
});

test.each(EXPRESSES)('on %s every documented operation is answered', async (_name, express) => {
  const url = await fixture().serve((app) => app.use(fixture().router), express);
  const document = await documentAt(url);
  for (const [method, template, operation] of operationsOf(document)) {
    if (template.startsWith('/reports')) continue;
    const path = template.replace(/\{\w+\}/g, 'x');
    const answer = await fetch(url + path, { method: method.toUpperCase(), redirect: 'manual' });
    expect(operation.responses).toHaveProperty(String(answer.status));
    expect(answer.headers.get('allow')).toBeNull();
    await answer.text();
  }
});

/** How an operation answers a request that shows no more than these headers. */
async function answerTo(url: string, [method, template]: Documented, headers = {}) {
  const path = template.replace(/\{\w+\}/g, 'x');
  const answer = await fetch(url + path, { method: method.toUpperCase(), headers, redirect: 'manual' });
  const isProblem = answer.status >= 400;
  const code = isProblem ? ((await answer.json()) as { code: string }).code : undefined;
  if (!isProblem) await answer.body?.cancel();
  return { status: answer.status, code };
}

const isServed = ([, path]: Documented) => !path.startsWith('/reports') && !path.startsWith('/v1/');

test('every operation names schemes that are there, and asks nobody for anything just where it lets everybody in', async () => {
  const url = await fixture().serve((app) => app.use(fixture().router));
  const document = await documentAt(url);
  const known = Object.keys(document.components.securitySchemes);
  const all = operationsOf(document);
  const ways = all.flatMap(([, , { security = [{ missing: [] }] }]) => security.flatMap((it) => Object.keys(it)));
  expect([...new Set(ways)].sort()).toEqual(known.sort());
  for (const it of all.filter(isServed)) {
    const [method, path, { security = [] }] = it;
    const isOpen = security.length === 0 || security.some((way) => Object.keys(way).length === 0);
    const { status } = await answerTo(url, it);
    expect([method, path, status === 401]).toEqual([method, path, !isOpen]);
  }
});

test('an operation asks for a service key just where one that may everything is let in', async () => {
  const { key } = await fixture().newCaller({ scopes: SCOPES });
  const url = await fixture().serve((app) => app.use(fixture().router));
  const asked = operationsOf(await documentAt(url)).filter((it) => isServed(it) && it[2].security?.length !== 0);
  for (const it of asked) {
    const [method, path, operation] = it;
    // A key is given another secret by itself alone.
    const named = path.endsWith('keys/{id}/rotate') ? path.replace('{id}', key.id) : path;
    const { code } = await answerTo(url, [method, named, operation], key.headers);
    const isKeyTaken = operation.security?.some((way) => 'serviceKey' in way) === true;
    const isRefused = ['unauthenticated', 'insufficient_scope'].includes(String(code));
    expect([method, path, isRefused]).toEqual([method, path, !isKeyTaken]);
  }
  expect(asked.length).toBeGreaterThan(40);
});

test('a paid route asks for a payment, and a call of a project for a service key beside it', async () => {
  const document = await documentOf();
  expect(operationOf(document, 'GET', '/reports/7')?.operation.security).toEqual([{ payment: [] }, { paymentV1: [] }]);
  const call = operationOf(document, 'POST', '/v1/x')?.operation.security;
  expect(call).toContainEqual({ serviceKey: [], serviceSecret: [], payment: [] });
  expect(document.components.securitySchemes).toMatchObject({
    accessToken: { type: 'http', scheme: 'bearer' },
    serviceKey: { type: 'apiKey', in: 'header', name: 'X-Service-Key' },
    serviceSecret: { type: 'apiKey', in: 'header', name: 'X-Service-Secret' },
    payment: { type: 'apiKey', in: 'header', name: 'PAYMENT-SIGNATURE' },
  });
});

test('a route that is listed is described with its terms; one that is not listed is not described', async () => {
  const document = await documentOf();
  const report = operationOf(document, 'GET', '/reports/7')?.operation;
  expect(report).toMatchObject({
    summary: 'One report',
    servers: [{ url: document.servers[0]?.url }],
    parameters: [{ name: 'id', in: 'path', required: true }],
    responses: { 402: { headers: { 'PAYMENT-REQUIRED': expect.anything() } } },
  });
  expect(operationOf(document, 'POST', '/reports')?.operation).toMatchObject({
    servers: [{ url: 'https://shop.example' }],
  });
});

test('every operation has a name of its own', async () => {
  const names = operationsOf(await documentOf()).flatMap(([, , { operationId }]) => operationId ?? []);
  expect(new Set(names).size).toBe(names.length);
});

test('the schema of problems describes every code, and each operation has the codes under their statuses', async () => {
  const document = await documentOf();
  const { code } = document.components.schemas.Problem['properties'] as { code: { oneOf: { const: string }[] } };
  expect(code.oneOf.map((it) => it.const)).toEqual(Object.keys(ERRORS));
  for (const [, , { responses }] of operationsOf(document)) {
    for (const [status, { description }] of Object.entries(responses)) {
      const codes = [...description.matchAll(/`(\w+)`: /g)].map(([, name]) => name as keyof typeof ERRORS);
      expect(codes.map((name) => String(ERRORS[name].status))).toEqual(codes.map(() => status));
      if (Number(status) >= 400) expect(codes).not.toEqual([]);
    }
  }
});

/** Codes of exceptions, of what is no request yet, and of gates in apps, which are described where they are listed. */
const ELSEWHERE = [
  'bad_option',
  // Of a command.
  'backup_failed',
  'missing_dependency',
  'headers_too_large',
  'request_timeout',
  'insufficient_balance',
  'insufficient_tier',
  'wallet_denied',
  'held_too_short',
  'invalid_delegation',
  // Of the function that pays back.
  'nothing_to_refund',
  'refund_limit_reached',
  'sign_in_required',
  // In the books, where the upstream's own answer was passed on.
  'upstream_error',
];

test('every other code is that of some operation', async () => {
  const descriptions = operationsOf(await documentOf()).flatMap(([, , { responses }]) =>
    Object.values(responses).map(({ description }) => description),
  );
  const text = descriptions.join(' ');
  expect(Object.keys(ERRORS).filter((code) => !text.includes(`\`${code}\`: `))).toEqual(ELSEWHERE);
});

test('under a prefix the document names the address of the router', async () => {
  const url = await fixture().serve((app) => app.use('/pay', fixture().router));
  expect((await documentAt(`${url}/pay`)).servers).toEqual([{ url: `${url}/pay` }]);
});

test('it is said which half of a service key goes into which header', async () => {
  const made = operationsOf(await documentOf()).find(
    ([method, path]) => method === 'post' && path.endsWith('/generate'),
  );
  expect(JSON.stringify(made)).toMatch(
    /`api_key` in the header `X-Service-Key` and `api_secret` in `X-Service-Secret`/,
  );
});
