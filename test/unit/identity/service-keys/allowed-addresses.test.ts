import fc from 'fast-check';
import {
  clientOfAddress,
  isAllowedAddress,
  readAllowedAddress,
} from '../../../../src/identity/service-keys/allowed-addresses.js';

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['203.0.113.9/24', '203.0.113.0/24'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8::1', '2001:db8::1'],
  ['2001:db8:1:2::/64', '2001:db8:1:2::/64'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9/120', '203.0.113.0/24'],
])('%s is kept as %s', (text, kept) => {
  expect(readAllowedAddress(text)).toBe(kept);
});

test.each([
  '',
  'localhost',
  '203.0.113',
  '0x7f.1',
  '203.0.113.9/',
  '203.0.113.9/33',
  '203.0.113.9/24/24',
  '203.0.113.9/-1',
  '203.0.113.9/2e1',
  '2001:db8::/129',
  '::ffff:203.0.113.9/64',
  'fe80::1%eth0',
  ' 203.0.113.9',
])('%j is no address and no network', (text) => {
  expect(readAllowedAddress(text)).toBeUndefined();
});

test.each([
  ['203.0.113.77', '203.0.113.0/24', true],
  ['203.0.114.77', '203.0.113.0/24', false],
  ['::ffff:203.0.113.77', '203.0.113.0/24', true],
  ['203.0.113.77', '203.0.113.77', true],
  ['203.0.113.78', '203.0.113.77', false],
  ['2001:db8::5', '2001:db8::/32', true],
  ['2001:db9::5', '2001:db8::/32', false],
  ['203.0.113.77', '::/0', false],
  ['2001:db8::5', '0.0.0.0/0', false],
  ['', '0.0.0.0/0', false],
  ['unix', '0.0.0.0/0', false],
])('%s in %s: %s', (address, allowed, isIn) => {
  expect(isAllowedAddress(address, [allowed])).toBe(isIn);
  expect(isAllowedAddress(address, ['198.51.100.1', allowed])).toBe(isIn);
  expect(isAllowedAddress(address, [])).toBe(true);
});

test('every address is in each network of its own, as it is kept', () => {
  const v4 = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }));
  const v6 = fc.tuple(fc.ipV6(), fc.integer({ min: 96, max: 128 }));
  fc.assert(
    fc.property(fc.oneof(v4, v6), ([address, bits]) => {
      const kept = readAllowedAddress(`${address}/${bits}`);
      expect(kept).toBeDefined();
      expect(isAllowedAddress(address, [kept ?? ''])).toBe(true);
      expect(readAllowedAddress(kept ?? '')).toBe(kept);
    }),
  );
});

test('a client is its IPv4 address, or its /56 network', () => {
  expect(clientOfAddress('::ffff:203.0.113.9')).toBe('203.0.113.9');
  expect(clientOfAddress('2001:db8:1:1::1')).toBe(clientOfAddress('2001:db8:1:ff:ffff::2'));
  expect(clientOfAddress('2001:db8:1:1::1')).not.toBe(clientOfAddress('2001:db8:1:100::1'));
  expect(clientOfAddress('')).toBe(clientOfAddress('no address'));
});
