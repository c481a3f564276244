import express from 'express';
import fc from 'fast-check';
import { callRoute } from '../../../src/gateway/prices/call-route.js';
import { callPathReadings } from '../../../src/gateway/prices/path-readings.js';
import { matchesRoute } from '../../../src/gateway/prices/route-pattern.js';
import { upstreamTarget } from '../../../src/gateway/proxy/upstream-target.js';
import { newProject } from '../../contracts/project-samples.js';
import { type AppServer, serveApp } from '../../helpers/http/app-server.js';
import { ask } from '../../helpers/http/raw-http.js';

const TOKEN = { symbol: 'USDC', mint: 'mint', decimals: 6, program: 'program' };
const DEAR = 1_000_000n;
const CHEAP = 1n;
const priced = (amount: bigint) => ({ amount, token: TOKEN });
const PROJECT = {
  ...newProject(),
  price: { ...priced(CHEAP), network: 'solana-devnet' as const },
  routes: [
    { path: '/open/*', free: true as const },
    { method: 'GET', path: '/reports/**', price: priced(DEAR) },
    { path: '/a/*/dear', price: priced(DEAR) },
    { method: 'POST', path: '/getWeather/*', price: priced(DEAR) },
  ],
};

/** What a call costs, or the code with which it is refused. */
function costOf(method: string, rest: string): bigint | string {
  try {
    const { project, isFree } = callRoute(PROJECT, { method, rest });
    return isFree ? 0n : project.price.amount;
  } catch (error) {
    return String(Reflect.get(Object(error), 'code'));
  }
}

/** Parts of paths, honest ones and those by which servers are misled. */
const part = fc.constantFrom(
  ...[
    'getWeather',
    'getweather',
    'reports',
    'Reports',
    'open',
    'a',
    'b',
    'dear',
    'DEAR',
    'x',
    '',
    '.',
    '..',
    'may',
    'r%65ports',
    'r%2565ports',
    '%6fpen',
  ],
  ...[
    'reports;v=1',
    ';x',
    '%2f',
    '%5c',
    '\\',
    'open%2Fx',
    '%2e%2e',
    'dear%20',
    'dear.',
    'x%3Fy',
    'x%23',
    'x%00',
    '%',
    '%zz',
    '%e2%84%aa',
    'u@h:1',
    '(S(x))',
  ],
);
const paths = fc
  .tuple(fc.array(part, { maxLength: 5 }), fc.constantFrom('', '/', '//', '?q=/reports/x'))
  .map(([parts, end]) => `/${parts.join('/')}${end}`);

describe('what an upstream serves for a path is never dearer than what the path costs', () => {
  const upstreams: { readonly name: string; readonly server: AppServer }[] = [];
  let served: string;

  beforeAll(async () => {
    for (const [name, isStrict, read] of [
      ['as Express reads it', false, undefined],
      ['where letters and slashes at the end count', true, undefined],
      ['decoded first, with slashes merged and parameters cut off', false, tidied],
      ['as the address that new URL() makes of it', false, asAddress],
      ['without the sessions of ASP.NET', false, withoutSessions],
    ] as const) {
      const app = express();
      app.set('case sensitive routing', isStrict).set('strict routing', isStrict);
      if (read !== undefined) {
        app.use((req, _res, next) => {
          req.url = read(req.url);
          next();
        });
      }
      const say = (what: string) => (_req: unknown, res: express.Response) => {
        served = what;
        res.end(what);
      };
      app.get(/^\/reports(?:\/.*)?$/i, say('dear'));
      app.all('/a/:any/dear', say('dear'));
      app.post('/getWeather/:town', say('dear'));
      app.use(say('cheap'));
      // What it cannot decode it serves to nobody.
      app.use((_error: unknown, _req: unknown, res: express.Response, _next: unknown) => {
        served = 'nothing';
        res.status(400).end();
      });
      upstreams.push({ name, server: await serveApp((host) => host.use(app)) });
    }
  });
  afterAll(() => Promise.all(upstreams.map(({ server }) => server.close())));

  test('whatever is written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'POST', 'HEAD'), paths, async (method, rest) => {
        const cost = costOf(method, rest);
        for (const { name, server } of upstreams) {
          // What the proxy would send, byte for byte.
          const target = upstreamTarget(server.url, rest);
          if (target === undefined || typeof cost === 'string') return;
          served = 'nothing';
          await ask(server.url, `${method} ${target.path}`);
          const isPaid = served !== 'dear' || cost === DEAR;
          if (!isPaid) throw new Error(`${method} ${rest} costs ${cost}, and is ${served} to an upstream ${name}`);
        }
      }),
      { numRuns: 1_500 },
    );
  });
});

function tidied(url: string): string {
  const [path = '', query] = url.split('?');
  const plain = path.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const cut = plain
    .replaceAll('\\', '/')
    .replace(/[?#\0].*$/s, '')
    .replace(/;[^/]*/g, '');
  const merged = cut.replace(/[\s.]+(?=\/|$)/g, '').replace(/\/{2,}/g, '/');
  return encodeURI(merged).concat(query === undefined ? '' : `?${query}`);
}

function asAddress(url: string): string {
  if (!URL.canParse(url, 'http://upstream')) return '/nothing';
  const { pathname, search } = new URL(url, 'http://upstream');
  return pathname + search;
}

function withoutSessions(url: string): string {
  return url.replace(/\/\([A-Z]\(\w+\)\)(?=\/|$)/g, '') || '/';
}

test.each([
  ['GET', '/reports', DEAR],
  ['HEAD', '/reports/x', DEAR],
  ['POST', '/reports/x', CHEAP],
  ['GET', '/reports/a/b/c/', DEAR],
  ['GET', '/reportsx', CHEAP],
  ['PUT', '/a/b/dear', DEAR],
  ['PUT', '/a/b/c/dear', CHEAP],
  ['GET', '/open/x', 0n],
  ['GET', '/open', CHEAP],
  ['GET', '/open/x?y', 0n],
  ['GET', '?x', CHEAP],
  ['GET', '/Reports', 'ambiguous_path'],
  ['POST', '/getWeather/Berlin', DEAR],
  ['POST', '/getweather/berlin', 'ambiguous_path'],
  ['POST', '/GETWEATHER/berlin', 'ambiguous_path'],
  ['GET', '/getweather/berlin', CHEAP],
  ['POST', '/Reports', CHEAP],
  ['GET', '/other/Letters/and%20spaces', CHEAP],
  ['GET', '/reports/Letters/and%2Fslashes', DEAR],
  ['GET', `/${'x'.repeat(2_048)}`, 'ambiguous_path'],
  ['GET', '/%252525252fx', 'ambiguous_path'],
  ['GET', '//x/reports', 'ambiguous_path'],
  ['GET', '/\\x/reports', 'ambiguous_path'],
  ['GET', '///x\\reports', 'ambiguous_path'],
  ['GET', '//u@h:1/rep%6frts', 'ambiguous_path'],
  ['GET', '//u%2Fv@h/rep%6frts', 'ambiguous_path'],
  ['GET', '/(S(x))/reports', 'ambiguous_path'],
  ['GET', '/products(1)/open', CHEAP],
  ['GET', '/%u0072eports', 'ambiguous_path'],
  ['GET', '/%25u0072eports', 'ambiguous_path'],
  ['GET', '/%c1%b2eports', 'ambiguous_path'],
  ['GET', '/re%ffports', 'ambiguous_path'],
  ['GET', '/x%ef%bc%8freports', 'ambiguous_path'],
  ['GET', '/%ef%bc%85%37%32eports', 'ambiguous_path'],
  ['GET', '/caf%c3%a9/%e2%82%ac', CHEAP],
  ['POST', '/x?_method=GET', 'ambiguous_path'],
  ['POST', '/x?a=1;%5fMethod=GET', 'ambiguous_path'],
  ['POST', '/x?a?_method=GET', 'ambiguous_path'],
  ['POST', '/x?the_method=GET&_methods=x', CHEAP],
])('%s %s costs %s', (method, rest, cost) => {
  expect(costOf(method, rest)).toBe(cost);
});

test.each(['X-HTTP-Method-Override', 'X_HTTP_METHOD_OVERRIDE', 'x-original_url', 'X-Script-Name'])(
  'a call with the header field %s has no cost, as it could be another one',
  (field) => {
    const headers = { [field.toLowerCase()]: 'x' };
    expect(() => callRoute(PROJECT, { method: 'GET', rest: '/x', headers })).toThrow(field.toLowerCase());
    expect(callRoute({ ...PROJECT, routes: [] }, { method: 'GET', rest: '/y' }).isFree).toBe(false);
  },
);

test('a plain path has one reading', () => {
  expect(callPathReadings('/some/plain-path/1.0/x_y')).toEqual(['/some/plain-path/1.0/x_y']);
});

test('a route is not matched by an empty segment', () => {
  expect(matchesRoute({ path: '/a/*' }, 'GET', '/a//')).toBe(false);
});
