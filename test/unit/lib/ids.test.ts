import bs58 from 'bs58';
import { newId, randomHex } from '../../../src/lib/ids.js';

test('each of many ids is the prefix and 16 bytes that no other has', () => {
  const ids = Array.from({ length: 2_000 }, () => newId('pay'));
  for (const id of ids) {
    const [prefix, text = ''] = id.split('_');
    expect([prefix, bs58.decode(text).length]).toEqual(['pay', 16]);
  }
  expect(new Set(ids).size).toBe(ids.length);
});

test('random bytes are written in hexadecimal, as many as were asked for, and others every time', () => {
  const texts = Array.from({ length: 500 }, (_, index) => ({
    bytes: 24 + (index % 9),
    text: randomHex(24 + (index % 9)),
  }));
  for (const { bytes, text } of texts) expect(text).toMatch(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
  expect(new Set(texts.map(({ text }) => text.slice(0, 48))).size).toBe(texts.length);
});
