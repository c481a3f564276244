import { createBlockhashes } from '../../../../src/sandbox/chain/blockhashes.js';

test('a hash is valid from its own block until its age is reached, and forgotten when nobody can ask for it', () => {
  const blockhashes = createBlockhashes(100, 10, 5);
  const hash = blockhashes.at(100);
  for (let height = 101; height <= 120; height += 1) {
    blockhashes.add(height);
  }
  expect([99, 100, 110, 111].map((height) => blockhashes.isValid(hash, height))).toEqual([false, false, false, false]);
  const kept = blockhashes.at(105);
  expect([104, 105, 115, 116].map((height) => blockhashes.isValid(kept, height))).toEqual([false, true, true, false]);
  expect(() => blockhashes.at(104)).toThrow('no blockhash is kept for height 104');
});

test('two chains never share a hash', () => {
  const [one, two] = [createBlockhashes(1, 10, 1), createBlockhashes(1, 10, 1)];
  expect(one.at(1)).not.toBe(two.at(1));
});
