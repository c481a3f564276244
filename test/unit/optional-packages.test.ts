import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  doWithout,
  namingAllMissing,
  requireHere,
  wantedRange,
  whyNotLoaded,
} from '../../src/lib/optional-packages.js';

/** Fails as Node does. */
function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

const NOT_FOUND = [
  [
    'import',
    'ERR_MODULE_NOT_FOUND',
    "Cannot find package 'litesvm' imported from /app/node_modules/tollhouse/dist/a.js",
  ],
  ['require', 'MODULE_NOT_FOUND', "Cannot find module 'litesvm/dist/internal.js'\nRequire stack:\n- /app/index.js"],
  [
    'Jest',
    'MODULE_NOT_FOUND',
    "Cannot find module 'litesvm/dist/internal.js' from 'node_modules/tollhouse/dist/a.cjs'",
  ],
  ['a bundle of Vite', undefined, 'Could not resolve "litesvm" imported by "tollhouse". Is it installed?'],
] as const;

test.each(NOT_FOUND)('a package that %s does not find is named with the command that installs it', (...found) => {
  const [, code, message] = found;
  const cause = failure(String(code), message);
  expect(whyNotLoaded('startSandbox', 'litesvm', cause)).toMatchObject({
    code: 'missing_dependency',
    message: 'startSandbox needs the optional package "litesvm": npm install --save-dev litesvm@^1.5.0',
  });
  expect(doWithout('litesvm', cause)).toBeUndefined();
});

const BROKEN = [
  ['a runner without import()', 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG', 'A dynamic import callback was invoked'],
  ['no native part', undefined, 'Cannot find native binding'],
  [
    'a package that is missing in turn',
    'MODULE_NOT_FOUND',
    "Cannot find module 'bindings'\n- /app/node_modules/pg/lib/a.js",
  ],
] as const;

test.each(BROKEN)('what else goes wrong is told as it is: %s', (_what, code, message) => {
  const cause = failure(String(code), message);
  expect(whyNotLoaded('openStorage', 'pg', cause)).toBe(cause);
  expect(() => doWithout('pg', cause)).toThrow(message);
});

test('what is installed is not named beside what is missing', async () => {
  const cause = failure('MODULE_NOT_FOUND', "Cannot find module 'ioredis'");
  const opened = namingAllMissing('openStorage', ['pg', 'ioredis'], async () => {
    throw whyNotLoaded('openStorage', 'ioredis', cause);
  });
  await expect(opened).rejects.toThrow('openStorage needs the optional package "ioredis": npm install ioredis@^6.0.0');
});

test.each([
  ['ioredis', 9, 'ioredis@^6.0.0'],
  ['better-sqlite3', 9, 'better-sqlite3@^12.11.1'],
  ['better-sqlite3', 10, 'better-sqlite3@^13.0.0'],
] as const)('the command fetches a version that fits: %s on the Node-API %s', (name, nodeApi, wanted) => {
  expect(wantedRange(name, nodeApi)).toBe(wanted);
});

test('no file imports createRequire by its name or asks whether there is a __filename, which webpack would answer itself', () => {
  const source = join(__dirname, '../../src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const named = files.filter((file) =>
    /import \{[^}]*createRequire|typeof __filename/.test(readFileSync(join(source, file), 'utf8')),
  );
  expect(named).toEqual([]);
  expect(typeof requireHere()('node:module')).toBe('function');
});
