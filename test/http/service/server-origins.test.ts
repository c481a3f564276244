import { readConfiguration } from '../../../src/server/configuration/configuration.js';
import { type RunningServer, startServer } from '../../../src/server/start-server.js';

const SHOP = 'https://shop.example';
const EVIL = 'https://evil.example';
/** A paid route, one of the service, one of projects, one that is none. */
const PATHS = ['/demo', '/supported', '/v1/nobody/x', '/api/v1/auth/keys', '/nowhere'];

/** What a response says of origins. */
async function saidTo(url: string, origin: string, method: 'GET' | 'OPTIONS'): Promise<unknown> {
  const asked = method === 'OPTIONS' ? { 'access-control-request-method': 'GET' } : {};
  const { headers } = await fetch(url, { method, headers: { origin, ...asked } });
  const varies = /(^|[\s,])origin($|[\s,])/i.test(headers.get('vary') ?? '');
  return [headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials'), varies];
}

describe.each<[string, Record<string, string>, (origin: string) => unknown]>([
  ['without CROSS_ORIGINS', {}, () => ['*', null, false]],
  ['with CROSS_ORIGINS=*', { CROSS_ORIGINS: '*' }, () => ['*', null, false]],
  [
    'with one of CROSS_ORIGINS',
    { CROSS_ORIGINS: `http://localhost:5173, ${SHOP}` },
    (origin) => [origin === SHOP ? SHOP : null, null, true],
  ],
])('a server %s', (_what, env, expected) => {
  let server: RunningServer;

  beforeAll(async () => {
    const configuration = readConfiguration({ PORT: '0', DATABASE_URL: 'memory:', LOG_LEVEL: 'silent', ...env });
    server = await startServer(configuration);
  });
  afterAll(() => server.close());

  test.each(PATHS)('says the same of origins in the preflight and the response of %s', async (path) => {
    for (const origin of [SHOP, EVIL]) {
      for (const method of ['OPTIONS', 'GET'] as const) {
        expect([method, await saidTo(server.url + path, origin, method)]).toEqual([method, expected(origin)]);
      }
    }
  });
});
