import { packagesFor } from '../../../../src/storage/sql/needed-packages.js';

test.each([
  ['sqlite:./a.db', '20.19.0', ['better-sqlite3']],
  ['memory:', '22.20.0', ['better-sqlite3']],
  ['sqlite:./a.db', '24.0.0', []],
  ['postgres://127.0.0.1/a', '26.0.0', ['pg']],
])('%s on Node %s needs %j', (url, node, packages) => {
  expect(packagesFor(url, undefined, node)).toEqual(packages);
  expect(packagesFor(url, 'redis://127.0.0.1', node)).toEqual([...packages, 'ioredis']);
});
