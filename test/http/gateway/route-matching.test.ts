import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import express from 'express';
import fc from 'fast-check';
import { callRoute } from '../../../src/gateway/prices/call-route.js';
import { callPathReadings } from '../../../src/gateway/prices/path-readings.js';
import { matchesRoute } from '../../../src/gateway/prices/route-pattern.js';
import { upstreamTarget } from '../../../src/gateway/proxy/upstream-target.js';
import type { ProjectRecord } from '../../../src/storage/projects/projects.js';
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
function costOf(method: string, rest: string, at: ProjectRecord = PROJECT): bigint | string {
  try {
    const { project, isFree } = callRoute(at, { method, rest });
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
    '%09reports',
    're%0Aports',
    'reports%1f',
    '%2509',
    '%09..',
  ],
);
const paths = fc
  .tuple(fc.array(part, { maxLength: 5 }), fc.constantFrom('', '/', '//', '?q=/reports/x'))
  .map(([parts, end]) => `/${parts.join('/')}${end}`);

describe('what an upstream serves for a path is never dearer than what the path costs', () => {
  type Served = 'dear' | 'cheap' | 'nothing';
  const upstreams: { readonly name: string; serves(req: IncomingMessage, res: ServerResponse): Promise<Served> }[] = [];
  /** One server for all of them: each reads the request that it is sent. */
  let server: AppServer;
  let served: ReadonlyMap<string, Served>;

  beforeAll(async () => {
    for (const [name, isStrict, read] of [
      ['as Express reads it', false, undefined],
      ['where letters and slashes at the end count', true, undefined],
      ['decoded first, with slashes merged and parameters cut off', false, tidied],
      ['as the address that new URL() makes of it', false, asAddress],
      ['without the sessions of ASP.NET', false, withoutSessions],
      ['decoded, and as new URL() reads that', false, (url: string) => asAddress(bytesOf(url))],
      ['decoded, without blanks around segments', false, trimmed],
    ] as const) {
      const app = express();
      app.set('case sensitive routing', isStrict).set('strict routing', isStrict);
      if (read !== undefined) {
        app.use((req, _res, next) => {
          req.url = read(req.url);
          next();
        });
      }
      const told = new EventEmitter();
      const say = (what: Served) => () => void told.emit('served', what);
      app.get(/^\/reports(?:\/.*)?$/i, say('dear'));
      app.all('/a/:any/dear', say('dear'));
      app.post('/getWeather/:town', say('dear'));
      app.use(say('cheap'));
      // What it cannot decode it serves to nobody.
      app.use((_error: unknown, _req: unknown, _res: unknown, _next: unknown) => void told.emit('served', 'nothing'));
      upstreams.push({
        name,
        async serves(req, res) {
          const { url } = req;
          const answer = once(told, 'served');
          app(req, res);
          req.url = url;
          return (await answer)[0];
        },
      });
    }
    server = await serveApp((host) =>
      host.use(async (req, res) => {
        const answers = new Map<string, Served>();
        for (const { name, serves } of upstreams) answers.set(name, await serves(req, res));
        served = answers;
        res.end();
      }),
    );
  });
  afterAll(() => server.close());

  test('whatever is written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'POST', 'HEAD'), paths, async (method, rest) => {
        const cost = costOf(method, rest);
        // What the proxy would send, byte for byte.
        const target = upstreamTarget(server.url, rest);
        if (target === undefined || typeof cost === 'string') return;
        served = new Map();
        await ask(server.url, `${method} ${target.path}`);
        for (const [name, what] of served) {
          const isPaid = what !== 'dear' || cost === DEAR;
          if (!isPaid) throw new Error(`${method} ${rest} costs ${cost}, and is ${what} to an upstream ${name}`);
        }
      }),
      { numRuns: 1_500 },
    );
  });
});

function bytesOf(path: string): string {
  return path.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function trimmed(url: string): string {
  const [path = '', query] = url.split('?');
  const segments = bytesOf(path)
    .split('/')
    .map((it) => it.trim());
  return encodeURI(segments.join('/')).concat(query === undefined ? '' : `?${query}`);
}

function tidied(url: string): string {
  const [path = '', query] = url.split('?');
  const plain = bytesOf(path);
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
  ['GET', '/%09/reports', 'ambiguous_path'],
  ['GET', '/re%0aports', 'ambiguous_path'],
  ['GET', '/re%250Dports', 'ambiguous_path'],
  ['GET', '/%20reports', 'ambiguous_path'],
  ['GET', '/open/%09../reports', 'ambiguous_path'],
  ['GET', '/notes/two%0Alines', CHEAP],
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

test.each([
  'X-HTTP-Method-Override',
  'X_HTTP_METHOD_OVERRIDE',
  'x-original_url',
  'X-Script-Name',
  'X.HTTP.Method!Override',
])('a call with the header field %s has no cost, as it could be another one', (field) => {
  const headers = { [field.toLowerCase()]: 'x' };
  expect(() => callRoute(PROJECT, { method: 'GET', rest: '/x', headers })).toThrow(field.toLowerCase());
  expect(callRoute({ ...PROJECT, routes: [] }, { method: 'GET', rest: '/y' }).isFree).toBe(false);
});

test('a plain path has one reading', () => {
  expect(callPathReadings('/some/plain-path/1.0/x_y')).toEqual(['/some/plain-path/1.0/x_y']);
});

test('a route is not matched by an empty segment', () => {
  expect(matchesRoute({ path: '/a/*' }, 'GET', '/a//')).toBe(false);
});
