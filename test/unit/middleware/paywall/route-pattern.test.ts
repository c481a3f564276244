import { covers, readRoutePattern, takesMethod } from '../../../../src/middleware/paywall/route-pattern.js';

const read = (text: string) => readRoutePattern('here', text);

describe('a route pattern', () => {
  test.each([
    ['/a', ['/a', '/a/', '/A'], ['/', '/a/b', '/ab', '/a//']],
    ['/', ['/'], ['/a']],
    ['*', ['/', '/a/b', '*'], []],
    ['/*', ['/', '/a/b'], []],
    ['/a/*', ['/a', '/a/', '/a/b/c'], ['/', '/ab']],
    ['/a*', ['/a', '/ab/c'], ['/b/a']],
    ['/a/*/c', ['/a/b/c', '/a/b/b/c', '/a//c'], ['/a/c', '/a/b/c/d']],
    ['/a/*/c/*', ['/a/b/c', '/a/b/c/d', '/a/b/b/c/d'], ['/a/b/cd']],
    ['/*.pdf', ['/x.pdf', '/a/b.PDF'], ['/xpdf', '/x.pdf.txt']],
    ['/:id', ['/a', '/a%2Fb'], ['/', '/a/b']],
    ['/[id]/x', ['/a/x'], ['/x', '/a/b/x']],
    ['/v:version/x', ['/v1/x'], ['/v/x', '/v1/2/x']],
    ['/a+b$', ['/a+b$'], ['/aab']],
    ['/caf%C3%A9', ['/café'], ['/cafe']],
    ['//a//b/', ['/a/b'], ['/a']],
  ])('%s is about the paths that it names and no others', (text, inside, outside) => {
    const { matchesPath } = read(text);
    expect(inside.filter((path) => !matchesPath(path))).toEqual([]);
    expect(outside.filter(matchesPath)).toEqual([]);
  });

  test.each([
    ['GTE /a', 'there is no method "GTE"; did you mean "GET"?'],
    ['a', 'its path must begin with "/"; did you mean "/a"?'],
    ['GET', 'its path must begin with "/"'],
    ['GET /a /b', 'a route is a method and a path'],
    ['GET,POST /a', 'there is no method "GET,POST"'],
    ['https://shop.example/a', 'write the path alone, without scheme and host'],
    ['/a?b=1', 'a route has no query'],
    ['/a/(\\d+)', 'write ":id" for a segment or "*"'],
    ['/a{/:b}', 'write ":id" for a segment or "*"'],
    ['/a/*rest', 'write "/*" at the end'],
    ['/a/../b', 'no segments "." and ".."'],
    ['/a/:b-:c', 'a segment holds one'],
    ['', 'its path must begin with "/"'],
  ])('%p is refused with what to write instead', (text, says) => {
    expect(() => read(text)).toThrow(says);
  });

  test('of GET is about HEAD, without a method about all', () => {
    const methods = ['GET', 'HEAD', 'POST'];
    const taken = (text: string) => methods.filter((method) => takesMethod(read(text), method));
    expect([taken('get /a'), taken('HEAD /a'), taken('/a'), taken('* /a')]).toEqual([
      ['GET', 'HEAD'],
      ['HEAD'],
      methods,
      methods,
    ]);
  });

  test('stands in the way of a later one that it leaves no request', () => {
    const pairs = [
      ['/a', 'GET /a'],
      ['GET /a', 'HEAD /A/'],
      ['GET /a/*', 'GET /a/b'],
      ['/:id', '/a'],
      ['/:id', '/:name'],
      ['*', '/a'],
      ['GET /*', 'get /*'],
    ] as const;
    expect(pairs.filter(([one, other]) => !covers(read(one), read(other)))).toEqual([]);
    const apart = [
      ['GET /a', '/a'],
      ['GET /a', 'POST /a'],
      ['/a', '/a/*'],
      ['/a/:id', '/a/*'],
      ['/a/b', '/a/:id'],
    ] as const;
    expect(apart.filter(([one, other]) => covers(read(one), read(other)))).toEqual([]);
  });
});
