import { newId, newIdAt, randomHex } from '../../../src/lib/ids.js';

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

test('each of many ids is the prefix and 22 characters of base58 that no other has', () => {
  const ids = Array.from({ length: 2_000 }, () => newId('pay'));
  for (const id of ids) expect(id).toMatch(new RegExp(`^pay_[${BASE58}]{22}$`));
  expect(new Set(ids).size).toBe(ids.length);
});

test('each character of base58 comes equally often in ids', () => {
  const counts = new Map<string, number>();
  for (let count = 0; count < 5_000; count += 1) {
    for (const it of newId('req').slice(4)) counts.set(it, (counts.get(it) ?? 0) + 1);
  }
  const mean = (5_000 * 22) / BASE58.length;
  // Seven times the deviation that chance gives: the remainder of one byte would be off by a tenth.
  const far = 7 * Math.sqrt(mean);
  expect([...BASE58].filter((it) => Math.abs((counts.get(it) ?? 0) - mean) > far)).toEqual([]);
});

test('ids of later times come after those of earlier ones, and no two of one time are the same', () => {
  const times = [0, 57, 58, Date.UTC(2026, 11, 1), Date.UTC(2026, 11, 1) + 0.5, 58 ** 7 - 1, 58 ** 7, 58 ** 8 - 1];
  const ids = times.map((at) => newIdAt('evt', at));
  for (const id of ids) expect(id).toMatch(new RegExp(`^evt_[${BASE58}]{22}$`));
  const parts = ids.map((id) => id.slice(0, 'evt_'.length + 8));
  expect(parts).toEqual([...parts].sort());
  expect(new Set(parts).size).toBe(times.length - 1);
  const many = Array.from({ length: 2_000 }, () => newIdAt('evt', 1));
  expect(new Set(many).size).toBe(many.length);
});

test('random bytes are written in hexadecimal, as many as were asked for, and others every time', () => {
  const texts = Array.from({ length: 500 }, (_, index) => ({
    bytes: 24 + (index % 9),
    text: randomHex(24 + (index % 9)),
  }));
  for (const { bytes, text } of texts) expect(text).toMatch(new RegExp(`^[0-9a-f]{${2 * bytes}}$`));
  expect(new Set(texts.map(({ text }) => text.slice(0, 48))).size).toBe(texts.length);
});
