import { HTTPFacilitatorClient } from '@x402/core/http';
import type { PaymentPayload } from '@x402/core/types';
import {
  bazaarResourceServerExtension,
  type DiscoveryExtension,
  declareDiscoveryExtension,
  extractDiscoveryInfo,
  sanitizeResourceServiceMetadata,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
  withBazaar,
} from '@x402/extensions/bazaar';
import { createRouter } from '../../src/http/create-router.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import type { DiscoveryOptions } from '../../src/middleware/terms/discovery-options.js';
import { openTollFixture, type TollFixture } from '../helpers/fixtures/toll-fixture.js';
import { askTerms } from '../helpers/transactions/payments.js';

const text = { type: 'string' };
const query = { properties: { town: text }, required: ['town'] };
const answer = { example: { degrees: 21 }, schema: { properties: { degrees: { type: 'number' } } } };

/** What we are told, and what the official server would be told for the same route. */
const ROUTES: [string, DiscoveryOptions, object, string][] = [
  ['with nothing to tell', { path: '/bare' }, {}, '/bare'],
  [
    'with a query',
    { path: '/query', input: { town: 'Rome' }, inputSchema: query, output: answer },
    { input: { town: 'Rome' }, inputSchema: query, output: answer },
    '/query',
  ],
  [
    'with a body',
    {
      path: '/body',
      method: 'PUT',
      bodyType: 'json',
      input: { town: 'Rome' },
      inputSchema: { type: 'object', ...query },
    },
    { bodyType: 'json', input: { town: 'Rome' }, inputSchema: { type: 'object', ...query } },
    '/body',
  ],
  [
    'with a name in its path',
    { path: '/towns/:town', pathParams: { town: 'rome' }, pathParamsSchema: query },
    { pathParamsSchema: query },
    '/towns/rome',
  ],
];

let fixture: TollFixture;
let url: string;

beforeAll(async () => {
  fixture = await openTollFixture();
  const { facilitator, payTo } = fixture;
  url = await fixture.serve((app) => {
    for (const [, discovery] of ROUTES) {
      const gate = requirePayment({
        facilitator,
        payTo,
        price: '$0.01',
        discovery: { ...discovery, serviceName: 'Towns', tags: ['town'], iconUrl: 'https://towns.example/i.png' },
      });
      app.all(discovery.path, gate, (_req, res) => void res.json({}));
    }
    app.use(createRouter({ facilitator, limits: false }));
  });
});
afterAll(() => fixture.close());

function declaredByReference(config: object, { path, method = 'GET' }: DiscoveryOptions, asked: string) {
  const { bazaar } = declareDiscoveryExtension(config as Parameters<typeof declareDiscoveryExtension>[0]);
  const context = { method, routePattern: path, adapter: { getPath: () => asked } };
  return bazaarResourceServerExtension.enrichDeclaration?.(bazaar, context);
}

describe.each(ROUTES)('a route %s', (_name, options, config, path) => {
  const ask = async () => askTerms(url + path, { method: options.method ?? 'GET' });

  test('is declared as the official server declares it', async () => {
    const { extensions } = await ask();
    expect(extensions?.['bazaar']).toEqual(declaredByReference(config, options, path));
  });

  test('passes the official validators, and a facilitator reads it from a payment', async () => {
    const { extensions, resource, accepts } = await ask();
    const bazaar = extensions?.['bazaar'] as DiscoveryExtension;
    expect(validateDiscoveryExtension(bazaar)).toEqual({ valid: true });
    expect(validateDiscoveryExtensionSpec({ ...bazaar })).toEqual({ valid: true });
    const payment: PaymentPayload = {
      x402Version: 2,
      resource,
      accepted: accepts[0]!,
      payload: {},
      ...(extensions === undefined ? {} : { extensions }),
    };
    expect(extractDiscoveryInfo(payment, accepts[0]!)).toMatchObject({
      resourceUrl: url + options.path,
      method: options.method ?? 'GET',
      serviceName: 'Towns',
      tags: ['town'],
    });
    expect(sanitizeResourceServiceMetadata(resource)).toEqual({
      serviceName: 'Towns',
      tags: ['town'],
      iconUrl: 'https://towns.example/i.png',
    });
  });
});

test('the official client lists and searches', async () => {
  const { bazaar } = withBazaar(new HTTPFacilitatorClient({ url })).extensions;
  const listed = await bazaar.listResources({ type: 'http', payTo: fixture.payTo, limit: 2 });
  expect(listed.items.map(({ resource }) => resource)).toEqual([`${url}/bare`, `${url}/query`]);
  expect(listed.pagination).toEqual({ limit: 2, offset: 0, total: ROUTES.length });
  const found = await bazaar.search({ query: 'query', scheme: 'exact' });
  expect(found.resources.map(({ resource }) => resource)).toEqual([`${url}/query`]);
});
