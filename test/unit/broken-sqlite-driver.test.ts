import { brokenDriver } from '../../src/storage/sql/sqlite/better-sqlite3.js';

test.each([
  ['no compiled part', new Error('Could not locate the bindings file. Tried:\n → /app/build/better_sqlite3.node')],
  ['a part for another Node', Object.assign(new Error('compiled against'), { code: 'ERR_DLOPEN_FAILED' })],
  ['a bundle', new Error('Could not find module root given file: "/app/app.cjs". Do you have a `package.json` file? ')],
  ['a bundle that is an ES module', new ReferenceError('__filename is not defined')],
])('a driver that does not find its compiled part says what helps: %s', (_what, cause) => {
  expect(brokenDriver(cause)).toMatchObject({
    code: 'missing_dependency',
    message: expect.stringMatching(
      /^openStorage: better-sqlite3 is not compiled .* npm rebuild better-sqlite3; or it was put into a bundle: mark it external$/,
    ),
  });
});

test('what else a driver says is not taken for a broken one', () => {
  expect(brokenDriver(new Error('unable to open database file'))).toBeUndefined();
});
