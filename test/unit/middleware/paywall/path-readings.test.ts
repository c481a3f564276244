import fc from 'fast-check';
import { pathReadings } from '../../../../src/middleware/paywall/path-readings.js';
import { timesLonger } from '../../../helpers/times-longer.js';

test.each(['/', '//(a)', '/a', '/.', '%5c', '/%2f', '/%61', '%252525255c/'])(
  'a path of 16 times as many "%s" takes no more than 16 times as long to be read, give or take',
  (part) => {
    const read = (length: number) => {
      const path = `//${part.repeat(Math.floor(length / part.length))}`;
      return () => pathReadings(path);
    };
    const [long, short] = [read(8_000), read(500)];
    long();
    // Were it the square, it would be 256 times as long.
    expect(timesLonger(long, short, (times) => times < 80)).toBeLessThan(80);
  },
);

test('a path that is too long for more than one reading has none, and a plain one itself', () => {
  expect(pathReadings('/'.repeat(8_193))).toBeUndefined();
  expect(pathReadings(`/${'%2f'.repeat(4_000)}`)).toBeUndefined();
  const plain = `/${'a/b'.repeat(4_000)}`;
  expect(pathReadings(plain)).toEqual([plain]);
});

test('a long path with many readings has none, and one with the few of an honest one has them', () => {
  expect(pathReadings(`/${'%25252f%c3%a9r1/\\\\//'.repeat(350)}`)).toBeUndefined();
  const text = encodeURIComponent('Wer zahlt / was? '.repeat(150));
  expect(pathReadings(`/translate/${text}`)).toContain(`/translate/${text}`);
});

test('a path has a bounded number of readings, which hold what decoding, new URL() and dot segments make of it', () => {
  const part = fc.constantFrom(
    ...['/', 'a', 'B', '.', '..', '%2e', '%2f', '%5c', '\\', '%252f', '%c3%a9', '%ff', '%61', '@', ':'],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const path = `/${parts.join('')}`;
      const readings = pathReadings(path);
      if (readings === undefined) return;
      expect(readings.length).toBeLessThanOrEqual(64);
      const { pathname } = new URL(`http://host${path}`);
      const read = /^(?:[^%\\]|%2F|%5C)*$/.test(pathname) && !pathname.includes('//') ? [pathname] : [];
      expect(readings).toEqual(expect.arrayContaining(read));
    }),
    { numRuns: 3_000 },
  );
});
