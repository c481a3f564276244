import fc from 'fast-check';
import { publicLocation, upstreamTarget } from '../../../../src/gateway/proxy/upstream-target.js';

const BASE = 'https://api.example/base';

test.each([
  [BASE, '', '/base'],
  [BASE, '/', '/base/'],
  [BASE, '/a/b', '/base/a/b'],
  [`${BASE}/`, '/a', '/base/a'],
  ['https://api.example', '', '/'],
  ['https://api.example', '/a', '/a'],
  ['https://api.example/', '//evil.example/x', '//evil.example/x'],
  [BASE, '?q=1', '/base?q=1'],
  [BASE, '/a?q=1&q=2', '/base/a?q=1&q=2'],
  [BASE, '/a?next=/../../x?y=..', '/base/a?next=/../../x?y=..'],
  [`${BASE}?key=k`, '/a', '/base/a?key=k'],
  [`${BASE}?key=k`, '/a?q=1', '/base/a?key=k&q=1'],
  [BASE, '/a%20b/%C3%A4', '/base/a%20b/%C3%A4'],
  [BASE, '/a%2Fb', '/base/a%2Fb'],
  [BASE, '/..a/...', '/base/..a/...'],
  [BASE, '/caf%E9/%C0', '/base/caf%E9/%C0'],
  [BASE, '/%E6%97%A5%E2%80%A6', '/base/%E6%97%A5%E2%80%A6'],
  [BASE, '/v1.2/.well-known/a', '/base/v1.2/.well-known/a'],
  [BASE, '/100%', '/base/100%'],
  [BASE, '/two%0Alines', '/base/two%0Alines'],
])('%s and "%s" become %s', (url, rest, path) => {
  expect(upstreamTarget(url, rest)).toEqual({ origin: 'https://api.example', path });
});

test.each([
  '/..',
  '/../admin',
  '/a/../../admin',
  '/./a',
  '/.',
  '/%2e%2e/admin',
  '/%2E./admin',
  '/.%2e/admin',
  '/a%2f..%2f..%2fadmin',
  '/a/..%2fadmin',
  '/..%5cadmin',
  '/..\\admin',
  '/a\\..\\..\\admin',
  '/%252e%252e/admin',
  '/%25252e%25252e/admin',
  '/%25%32%65%25%32%65/admin',
  '/..;/admin',
  '/..;a=b/admin',
  '/..%3b/admin',
  '/..%00/admin',
  '/..%20/admin',
  '/..%1f/admin',
  '/%09../admin',
  '/.%0a./admin',
  '/a/%250d../admin',
  '/%20../admin',
  '/..%3f/admin',
  '/%252525252525252525252e/admin',
  '/%u002e%u002e/admin',
  '/.%25u002e/admin',
  '/a%u002f..%u002fadmin',
  '/%c0%ae%c0%ae/admin',
  '/%e0%80%ae./admin',
  '/%f0%80%80%ae./admin',
  '/a%c0%af..%c0%afadmin',
  '/a%c1%9c..%c1%9cadmin',
  '/%ef%bc%8e%ef%bc%8e/admin',
  '/%e2%80%a5/admin',
  '/..%ef%bc%8fadmin',
  '/a%ef%bc%bc..%ef%bc%bcadmin',
  '/\xef\xbc\x8e./admin',
  '/%ef%bc%852e./admin',
  '/a#b',
  '/a b',
  'a',
  '.evil.example/',
  '@evil.example/',
  ':80@evil.example/',
])('"%s" is refused', (rest) => {
  expect(upstreamTarget(BASE, rest)).toBeUndefined();
});

test('whatever is appended, a server that decodes and normalises the path stays within the base', () => {
  const part = fc.constantFrom('/', '.', '..', '%2e', '%2f', '%25', '2e', '\\', '%5c', ';', 'a', '%32%65', '?', '%00');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const target = upstreamTarget(BASE, `/${parts.join('')}`);
      if (target === undefined) return;
      let path = target.path.split('?')[0]!;
      for (let layer = 0; layer < 6; layer += 1) {
        expect(new URL(`https://api.example${path.replaceAll('\\', '/')}`).pathname).toMatch(/^\/base(\/|$)/);
        path = path.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
        path = path.split(/[?#]/)[0]!;
      }
    }),
    { numRuns: 2000 },
  );
});

describe('places that an upstream names', () => {
  const sent = { origin: 'https://api.example', path: '/base/a/b?q=1' };
  const at = (location: string, url = BASE) => publicLocation(location, url, sent, '/v1/demo');

  test.each([
    ['/base/c?x=1#y', '/v1/demo/c?x=1#y'],
    ['c', '/v1/demo/a/c'],
    ['../c', '/v1/demo/c'],
    ['https://api.example/base/c', '/v1/demo/c'],
    ['http://api.example/base/c', '/v1/demo/c'],
    ['//api.example/base/c', '/v1/demo/c'],
    ['/base', '/v1/demo'],
    ['?page=2', '/v1/demo/a/b?page=2'],
  ])('%s becomes %s', (location, expected) => {
    expect(at(location)).toBe(expected);
  });

  test.each([
    'https://elsewhere.example/base/c',
    '/login',
    '/basement',
    '../../../login',
    'https://[broken',
    'mailto:a@b.example',
  ])('%s stays', (location) => {
    expect(at(location)).toBe(location);
  });

  test('without a base path everything on the host is below it', () => {
    expect(at('/login', 'https://api.example')).toBe('/v1/demo/login');
  });
});
