import { toCsv } from '../../../../src/http/framework/csv.js';

test('texts with commas, quotes and line breaks are quoted (RFC 4180), numbers and nothing are not', () => {
  const rows = [
    ['t', 'a,b', 'say "x"', 'two\nlines'],
    ['plain', 1.5, null, undefined],
  ];
  expect(toCsv(rows)).toBe('t,"a,b","say ""x""","two\nlines"\r\nplain,1.5,,\r\n');
});

test.each(['=1+1', '+1', '-1', '@sum', '\tx'])('%j is not taken for a formula', (text) => {
  expect(toCsv([[text]])).toBe(`'${text}\r\n`);
});

test('a formula with a comma is both', () => {
  expect(toCsv([['=a,"b"']])).toBe('"\'=a,""b"""\r\n');
});
