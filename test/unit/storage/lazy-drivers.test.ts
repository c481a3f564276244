/** @jest-environment node */
// Jest's own environment: in ours, packages may be loaded already.
import * as tollhouse from '../../../src/index.js';

test('importing the package loads no database driver', () => {
  const loaded = Object.keys(require.cache);
  const packages = new Set(loaded.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));

  expect(Object.keys(tollhouse)).toContain('openStorage');
  expect(packages).toContain('lru-cache');
  for (const driver of ['better-sqlite3', 'pg', 'ioredis']) expect(packages).not.toContain(driver);
});
