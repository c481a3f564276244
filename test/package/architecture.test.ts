import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { importsOf, RULES, type Sources } from './architecture-rules.js';
import { ARROWS } from './architecture-tables.js';

const ROOT = join(__dirname, '../../src');

function readSources(): Sources {
  const files = readdirSync(ROOT, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => path.endsWith('.ts'));
  return new Map(paths.map((path) => [relative(ROOT, path).split(sep).join('/'), readFileSync(path, 'utf8')]));
}

function foldersIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function findings(files: Readonly<Record<string, string>>): string[] {
  const sources = new Map(Object.entries(files));
  return RULES.flatMap((rule) => rule.check(sources));
}

describe('the source', () => {
  const sources = readSources();

  test('is read: the entry and the error table are among the files', () => {
    expect([...sources.keys()]).toEqual(expect.arrayContaining(['index.ts', 'errors/errors.ts', 'protocol/types.ts']));
  });

  test.each(RULES)('$name', ({ check }) => {
    expect(check(sources)).toEqual([]);
  });
});

test('the reading path of src/README.md has five files, below 900 lines together', () => {
  const guide = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const path = [...guide.matchAll(/^\d\. \[`([^`]+)`\]/gm)].map(([, file = '']) => file);
  const lines = path.map((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1);
  const total = lines.reduce((sum, count) => sum + count, 0);
  const told = `${total} lines, which must be below 900: move what decides nothing about a payment out of one of them, as newcomers read all five`;
  expect(path).toHaveLength(5);
  expect(total < 900 ? [] : [told, ...path.map((file, at) => `${file}: ${lines[at]}`)]).toEqual([]);
});

test('the README of a room names each of its folders', () => {
  const rooms = foldersIn('').filter((room) => existsSync(join(ROOT, room, 'README.md')));
  const unnamed = rooms.flatMap((room) => {
    const guide = readFileSync(join(ROOT, room, 'README.md'), 'utf8');
    return foldersIn(room).flatMap((folder) => (guide.includes(`\`${folder}/`) ? [] : [`${room}/${folder}`]));
  });
  expect(rooms.length).toBeGreaterThan(10);
  expect(unnamed).toEqual([]);
});

describe('the table of arrows', () => {
  test('names no unit that it does not describe', () => {
    const targets = Object.values(ARROWS).flat();
    const units = targets.map((target) => target.split('/')[0]).filter((unit) => unit !== 'package.json');
    expect(units.filter((unit) => unit === undefined || !(unit in ARROWS))).toEqual([]);
  });

  test('has no cycle', () => {
    const order = Object.keys(ARROWS);
    const reach = (unit: string): Set<string> => {
      const seen = new Set<string>();
      const queue = [...(ARROWS[unit] ?? [])];
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const name = next.split('/')[0] ?? next;
        if (seen.has(name)) continue;
        seen.add(name);
        queue.push(...(ARROWS[name] ?? []));
      }
      return seen;
    };
    expect(order.filter((unit) => reach(unit).has(unit))).toEqual([]);
  });
});

describe('imports are found in every form', () => {
  test.each([
    ["import { a } from './a.js';", './a.js'],
    ["import type { A } from './a.js';", './a.js'],
    ["import './a.js';", './a.js'],
    ["export { a } from './a.js';", './a.js'],
    ["export type * from './a.js';", './a.js'],
    ["const a = await import('./a.js');", './a.js'],
    ['const a = await import(`./a.js`);', './a.js'],
    ["const a = require('./a.js');", './a.js'],
    ["import a = require('./a.js');", './a.js'],
    ["let a: import('./a.js').A;", './a.js'],
    ["let a: typeof import('./a.js');", './a.js'],
  ])('%s', (text, specifier) => {
    expect(importsOf('x.ts', text)).toEqual([specifier]);
  });

  test('not in comments and texts', () => {
    expect(importsOf('x.ts', `// import './a.js'\nconst a = "import './b.js'";`)).toEqual([]);
  });
});

describe('the rules bite', () => {
  const HONEST = {
    'errors/errors.ts': 'export const e = 1;\n',
    'index.ts':
      "export { settle } from './facilitator/chain/settle.js';\nexport { memory } from './storage/ledger/memory-ledger.js';\n",
    'protocol/types.ts': "import { e } from '../errors/errors.js';\nexport const x402Version: unknown = e;\n",
    'solana/rpc/rpc.ts': "import { Connection } from '@solana/web3.js';\nexport const rpc = Connection;\n",
    'storage/ledger/ledger.ts': 'export interface Ledger { claim(): void }\n',
    'storage/ledger/memory-ledger.ts': "import type { Ledger } from './ledger.js';\nexport let memory: Ledger;\n",
    'storage/ledger/sqlite-ledger.ts': "export const x = () => import('better-sqlite3');\n",
    'facilitator/payments/life.ts': "import '../types.js';\nexport const life = 1;\n",
    'facilitator/chain/settle.ts':
      "import { rpc } from '../../solana/rpc/rpc.js';\nimport { memory } from '../../storage/ledger/memory-ledger.js';\nimport '../payments/life.js';\nexport const settle = [rpc, memory];\n",
    'facilitator/create-facilitator.ts': "import './chain/settle.js';\n",
    'middleware/payment/require-payment.ts':
      "import type { RequestHandler } from 'express';\nimport { settle } from '../../facilitator/chain/settle.js';\nexport const s: RequestHandler = settle;\n",
    'sandbox/start-sandbox.ts': "export const vm = () => import('litesvm');\n",
    'server/start.ts': "import { memory } from '../storage/ledger/memory-ledger.js';\nexport const m = memory;\n",
    'lib/version.ts': "import pkg from '../../package.json' with { type: 'json' };\npkg;\n",
    'cli/main.ts': "import '../server/start.js';\n",
  };

  test('and leave honest sources alone', () => {
    expect(findings(HONEST)).toEqual([]);
  });

  const violations: [string, Record<string, string>, RegExp][] = [
    [
      'protocol imports solana',
      { 'protocol/a.ts': "import '../solana/rpc/rpc.js';" },
      /protocol\/a.ts: imports solana\/rpc\/rpc.ts/,
    ],
    [
      'errors import protocol',
      { 'errors/errors.ts': "import '../protocol/a.js';" },
      /errors\/errors.ts: imports protocol\/a.ts/,
    ],
    ['storage imports solana', { 'storage/a.ts': "import type { R } from '../solana/rpc.js';" }, /imports solana/],
    ['identity imports solana', { 'identity/a.ts': "export * from '../solana/rpc.js';" }, /imports solana/],
    ['middleware imports storage', { 'middleware/a.ts': "import '../storage/ledger.js';" }, /imports storage\/ledger/],
    ['middleware imports solana', { 'middleware/a.ts': "let r: import('../solana/rpc.js').R;" }, /imports solana\/rpc/],
    ['facilitator imports middleware', { 'facilitator/a.ts': "import '../middleware/a.js';" }, /imports middleware/],
    ['gateway imports http', { 'gateway/a.ts': "const r = import('../http/a.js');" }, /imports http/],
    ['sandbox imports the facilitator', { 'sandbox/a.ts': "import '../facilitator/a.js';" }, /imports facilitator/],
    ['sandbox imports the RPC client', { 'sandbox/a.ts': "import '../solana/rpc.js';" }, /imports solana\/rpc/],
    ['server imports cli', { 'server/a.ts': "import '../cli/main.js';" }, /server\/a.ts: imports cli/],
    ['somebody imports the index', { 'cli/a.ts': "import '../index.js';" }, /cli\/a.ts: imports index/],
    ['protocol reads the manifest', { 'protocol/a.ts': "import '../../package.json';" }, /imports package.json/],
    ['a folder nobody decided on', { 'utils/a.ts': '' }, /"utils" is not in the table/],
    ['a file nobody decided on', { 'helpers.ts': '' }, /"helpers" is not in the table/],
    [
      'two files import each other',
      { 'protocol/a.ts': "import './b.js';", 'protocol/b.ts': "import type { A } from './a.js';" },
      /protocol\/a.ts → protocol\/b.ts → protocol\/a.ts/,
    ],
    ['a file imports itself', { 'protocol/a.ts': "import './a.js';" }, /protocol\/a.ts → protocol\/a.ts/],
    [
      'three files in a ring beside an honest one',
      {
        'access/0.ts': "import './a.js';",
        'access/a.ts': "import './b.js';",
        'access/b.ts': "import './c.js';",
        'access/c.ts': "import './a.js';",
      },
      /^access\/a.ts → access\/b.ts → access\/c.ts → access\/a.ts$/,
    ],
    ['facilitator imports web3.js', { 'facilitator/a.ts': "import '@solana/web3.js';" }, /imports @solana\/web3.js/],
    ['a type of @solana in cli', { 'cli/a.ts': "import type { C } from '@solana/kit';" }, /imports @solana\/kit/],
    [
      'express in gateway',
      { 'gateway/a.ts': "import type { Request } from 'express';" },
      /gateway\/a.ts: imports express/,
    ],
    ['express in facilitator', { 'facilitator/a.ts': "import e from 'express';" }, /imports express/],
    ['express in sandbox', { 'sandbox/a.ts': "import('express');" }, /imports express/],
    ['a driver in server', { 'server/a.ts': "import pg from 'pg';" }, /imports pg/],
    ['a deep import of a driver', { 'gateway/a.ts': "import 'pg/lib/x.js';" }, /imports pg\/lib/],
    [
      'gateway names SQLite',
      { 'gateway/a.ts': "import '../storage/ledger/sqlite-ledger.js';" },
      /names the store storage\/ledger\/sqlite/,
    ],
    [
      'facilitator names Postgres',
      { 'facilitator/a.ts': "import '../storage/sql/postgres-database.js';" },
      /names the store/,
    ],
    ['server names Redis', { 'server/a.ts': "import '../storage/counters/redis-counters.js';" }, /names the store/],
    [
      'the index names Postgres',
      { 'index.ts': "export * from './storage/sql/postgres-database.js';" },
      /names the store/,
    ],
    [
      'access names memory',
      { 'access/a.ts': "import '../storage/ledger/memory-ledger.js';" },
      /names the store storage\/ledger\/memory/,
    ],
    ['x402Version in http', { 'http/a.ts': 'const body = { x402Version: 2 };' }, /writes x402Version/],
    [
      'a sub-room imports one above it',
      { 'facilitator/payments/a.ts': "import '../chain/settle.js';" },
      /payments\/a.ts: imports facilitator\/chain\/settle.ts, which does not stand below payments\//,
    ],
    [
      'a sub-room imports the wiring of its room',
      { 'facilitator/chain/a.ts': "import '../create-facilitator.js';" },
      /chain\/a.ts: imports facilitator\/create-facilitator.ts/,
    ],
    ['a sub-room nobody decided on', { 'facilitator/helpers/a.ts': '' }, /"helpers\/" is not among the floors/],
    [
      '21 files in a folder',
      Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`access/${at}.ts`, ''])),
      /access: 21 entries/,
    ],
    ['301 lines', { 'protocol/a.ts': 'const a = 1;\n'.repeat(301) }, /301 lines/],
    ['a parameter of type any', { 'protocol/a.ts': 'const f = (a: any) => a;' }, /protocol\/a.ts:1: any/],
    ['as any', { 'protocol/a.ts': '\nconst a = 1 as any;' }, /protocol\/a.ts:2: any/],
    ['a list of any', { 'protocol/a.ts': 'let a: Array<any>;' }, /: any/],
    ['a double cast', { 'protocol/a.ts': 'const a = 1 as unknown as string;' }, /as unknown as/],
    ['a double cast in brackets', { 'protocol/a.ts': 'const a = (1 as unknown) as string;' }, /as unknown as/],
    [
      'two files that export one name',
      { 'protocol/a.ts': 'export interface Reading {}', 'solana/a.ts': 'export const Reading = 1;' },
      /^Reading: protocol\/a.ts and solana\/a.ts$/,
    ],
    ['TODO', { 'protocol/a.ts': '// TODO: later' }, /contains TODO/],
    ['silenced lint', { 'protocol/a.ts': '// biome-ignore lint: no' }, /contains biome-ignore/],
  ];

  test.each(violations)('on: %s', (_name, files, message) => {
    expect(findings(files)).toEqual(expect.arrayContaining([expect.stringMatching(message)]));
  });

  test('300 lines are not too many', () => {
    expect(findings({ 'protocol/a.ts': 'const a = 1;\n'.repeat(300) })).toEqual([]);
  });
});
