import { versionFault, versionOf } from '../../../../src/protocol/codecs/version.js';

test.each<[unknown, unknown]>([
  [{ x402Version: 2 }, 2],
  [{ x402Version: '2' }, '2'],
  [{}, undefined],
  [[], undefined],
  [null, undefined],
  [undefined, undefined],
  ['2', undefined],
])('the version of %j is %j', (value, version) => {
  expect(versionOf(value)).toBe(version);
});

test.each([1, 2] as const)('an object of version %i has no fault where that is expected', (version) => {
  expect(versionFault({ x402Version: version }, version)).toBeUndefined();
});

test.each<[unknown, string, string]>([
  [{ x402Version: 1 }, 'invalid_x402_version', 'x402Version must be 2 here, not 1'],
  [{ x402Version: '2' }, 'invalid_x402_version', 'x402Version must be 2 here, not "2"'],
  [{}, 'invalid_x402_version', 'x402Version must be 2 here, not undefined'],
  [null, 'invalid_payload', 'expected an object, not null'],
  [2, 'invalid_payload', 'expected an object, not 2'],
  [undefined, 'invalid_payload', 'expected an object, not undefined'],
])('%j is not of version 2, and it is said why', (value, reason, detail) => {
  expect(versionFault(value, 2)).toEqual({ ok: false, reason, detail });
});
