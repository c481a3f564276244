import { toJson } from '../../../../src/sandbox/rpc/json.js';

test('a bigint is a number literal with all its digits', () => {
  expect(toJson({ rentEpoch: 2n ** 64n - 1n, lamports: 5_000n, time: -3n })).toBe(
    '{"rentEpoch":18446744073709551615,"lamports":5000,"time":-3}',
  );
});

test.each(['12', '\u0000', '\\"1n\\"', 'bigint:12'])('the text %j stays a text', (text) => {
  expect(JSON.parse(toJson({ text, amount: 1n }))).toEqual({ text, amount: 1 });
});
