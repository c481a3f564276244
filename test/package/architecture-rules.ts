import { posix } from 'node:path';
import ts from 'typescript';

/** Path below `src/` → text of the file. */
export type Sources = ReadonlyMap<string, string>;

/** One rule: its name, and what it finds wrong, each finding naming the file. */
export interface Rule {
  readonly name: string;
  readonly check: (sources: Sources) => string[];
}

const BASE = ['errors', 'lib'];
const CORE = ['facilitator', 'storage', 'protocol', ...BASE];
const GATES = ['pages', 'facilitator', 'identity', 'access', 'protocol', ...BASE];
const ROUTES = [
  'middleware',
  'pages',
  'gateway',
  'identity',
  'access',
  'facilitator',
  'storage',
  'solana',
  'protocol',
  ...BASE,
];
const SERVER = ['http', 'sandbox', ...ROUTES];

/** Which room may import which: a folder of `src/`, or a file directly in it. Its own always. */
export const ARROWS: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  lib: ['package.json', 'errors'],
  protocol: BASE,
  solana: ['protocol', ...BASE],
  storage: ['protocol', ...BASE],
  facilitator: ['solana', 'storage', 'protocol', ...BASE],
  identity: CORE,
  access: CORE,
  middleware: GATES,
  gateway: ['storage', ...GATES],
  http: ROUTES,
  pages: ['protocol', ...BASE],
  sandbox: ['protocol', ...BASE],
  server: SERVER,
  cli: ['server', ...SERVER],
  entries: ROUTES,
  index: ['server', ...SERVER],
};

/**
 * The sub-rooms of each room, from the ground up: each may import those that stand before it. A name without a slash is a
 * file directly in the room; those that are not named here may import everything in their room, and no sub-room imports them.
 */
export const FLOORS: Readonly<Record<string, readonly string[]>> = {
  lib: ['ed25519/', 'http/'],
  protocol: [
    'address',
    'limits',
    'reasons',
    'address-input',
    'types',
    'networks/',
    'challenge',
    'money/',
    'supported',
    'wire/',
    'codecs/',
  ],
  solana: ['keypair', 'transaction/', 'building/', 'rpc/', 'accounts/', 'confirmation/', 'rules/', 'landed/'],
  storage: [
    'sql/',
    'counters/',
    'events/',
    'idempotency/',
    'ledger/',
    'webhooks/',
    'keys/',
    'payouts/',
    'projects/',
    'calls/',
    'books/',
  ],
  facilitator: [
    'events/',
    'holdings',
    'setup/',
    'types',
    'backend/',
    'payments/',
    'setup-check/',
    'sponsorship/',
    'x402-client',
    'assemble-facilitator',
    'chain/',
    'facilitator-options',
    'payouts/',
    'proofs/',
    'reconcile/',
    'recovery/',
    'remote/',
    'requests/',
  ],
  identity: ['lock-out', 'sign-in-options', 'store-warning', 'types', 'service-keys/', 'sign-in/', 'tokens/'],
  middleware: [
    'gate/',
    'rate-limit/',
    'response/',
    'terms/',
    'wallet/',
    'idempotency/',
    'service-key/',
    'payment/',
    'paywall/',
  ],
  gateway: ['calls/', 'network-guard/', 'payouts/', 'token-label', 'figures/', 'projects/', 'proxy/', 'webhooks/'],
  http: [
    'framework/',
    'openapi/',
    'analytics/',
    'auth/',
    'calls/',
    'discovery/',
    'events/',
    'keys/',
    'payments/',
    'payouts/',
    'projects/',
    'spending/',
    'token-gate/',
    'webhooks/',
    'service/',
    'document/',
    'settlement/',
  ],
  sandbox: [
    'faults',
    'programs/',
    'runtime/',
    'sandbox-options',
    'chain/',
    'encoding/',
    'tokens/',
    'rpc/',
    'endpoint/',
  ],
  server: ['configuration/', 'flood-guard/', 'chain-parts', 'logger', 'needed-packages', 'examine/', 'upkeep/'],
  cli: [
    'command',
    'output/',
    'arguments/',
    'sub-command',
    'operator/',
    'session/',
    'pay/',
    'report-error',
    'seller/',
    'books/',
  ],
};

/** Packages (or `@scope/`) that only the named folders may import, type-only imports included. */
export const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  '@solana/': ['solana', 'sandbox'],
  litesvm: ['sandbox'],
  express: ['middleware', 'http', 'pages', 'server'],
  'express-serve-static-core': ['middleware', 'http', 'pages', 'server'],
  'express-rate-limit': ['middleware', 'http', 'server'],
  'better-sqlite3': ['storage'],
  pg: ['storage'],
  kysely: ['storage'],
  ioredis: ['storage'],
  pino: ['server'],
  helmet: ['server'],
  'prom-client': ['http'],
};

const MAX_LINES = 300;
const MAX_ENTRIES = 20;
const CONCRETE_STORE = /^storage\/.*\/(memory|sqlite|postgres|redis)-/;
const MEMORY_STORE = /^storage\/.*\/memory-/;
/** What a user makes without a store makes its own in memory. */
const MEMORY_USERS = ['facilitator', 'identity', 'http'];

export const RULES: readonly Rule[] = [
  { name: 'every import follows an arrow of the table', check: arrowsAgainstTable },
  { name: 'a sub-room imports what stands below it', check: floors },
  { name: 'no file imports itself through others', check: cycles },
  { name: `no folder holds more than ${MAX_ENTRIES} entries`, check: fullFolders },
  { name: 'a package is imported in its home folders only', check: strayPackages },
  { name: 'concrete stores are named in server and storage only', check: strayStores },
  { name: 'x402Version is written in protocol only', check: strayVersions },
  { name: `no file is longer than ${MAX_LINES} lines`, check: longFiles },
  { name: 'no any, no double cast', check: looseTypes },
  { name: 'no TODO and no silenced lint', check: leftovers },
];

/** Module names of all imports of a file: static, type-only, re-exports, dynamic, `require`, and types like `import('x').Y`. */
export function importsOf(path: string, text: string): string[] {
  const found: string[] = [];
  walk(parse(path, text), (node) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) found.push(specifier.text);
  });
  return found;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (!ts.isCallExpression(node)) return undefined;
  const callee = node.expression;
  const loads = callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');
  return loads ? node.arguments[0] : undefined;
}

/** The file below `src/` that a relative import means, `package.json` for the manifest, undefined for a package. */
function targetOf(path: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const target = posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
  return target === '../package.json' ? 'package.json' : target;
}

function internalImports(path: string, text: string): string[] {
  return importsOf(path, text).flatMap((specifier) => targetOf(path, specifier) ?? []);
}

/** The folder of a file, or the name of a file directly in `src/`. */
function unitOf(path: string): string {
  const slash = path.indexOf('/');
  return slash < 0 ? path.replace(/\.ts$/, '') : path.slice(0, slash);
}

function arrowsAgainstTable(sources: Sources): string[] {
  return each(sources, (path, text) => {
    const unit = unitOf(path);
    const allowed = ARROWS[unit];
    if (allowed === undefined) return [`${path}: "${unit}" is not in the table of arrows`];
    return internalImports(path, text)
      .filter((target) => !mayImport(unit, allowed, target))
      .map((target) => `${path}: imports ${target}, and ${unit} may import ${allowed.join(', ') || 'nothing'}`);
  });
}

function mayImport(unit: string, allowed: readonly string[], target: string): boolean {
  if (target === 'package.json') return allowed.includes(target);
  return unitOf(target) === unit || allowed.includes(unitOf(target));
}

/** `sub/` for a file in a sub-room, its own name for a file directly in the room. */
function floorOf(path: string): string {
  const [, first = '', ...deeper] = path.split('/');
  return deeper.length > 0 ? `${first}/` : first.replace(/\.ts$/, '');
}

function floors(sources: Sources): string[] {
  return each(sources, (path, text) => {
    const unit = unitOf(path);
    const floor = floorOf(path);
    const order = FLOORS[unit] ?? [];
    if (floor.endsWith('/') && !order.includes(floor))
      return [`${path}: "${floor}" is not among the floors of ${unit}`];
    if (!order.includes(floor)) return [];
    return internalImports(path, text)
      .filter((target) => target.startsWith(`${unit}/`) && floorOf(target) !== floor)
      .filter((target) => !order.slice(0, order.indexOf(floor)).includes(floorOf(target)))
      .map((target) => `${path}: imports ${target}, which does not stand below ${floor}`);
  });
}

function fullFolders(sources: Sources): string[] {
  const entries = new Map<string, Set<string>>();
  for (const path of sources.keys()) {
    for (let at = path; at !== '.'; at = posix.dirname(at)) {
      const folder = posix.dirname(at);
      entries.set(folder, (entries.get(folder) ?? new Set()).add(at));
    }
  }
  return [...entries]
    .filter(([, { size }]) => size > MAX_ENTRIES)
    .map(([folder, { size }]) => `${folder}: ${size} entries`);
}

function cycles(sources: Sources): string[] {
  const graph = new Map([...sources].map(([path, text]) => [path, internalImports(path, text)] as const));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push([...trail.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

function strayPackages(sources: Sources): string[] {
  return each(sources, (path, text) =>
    importsOf(path, text).flatMap((specifier) => {
      const home = Object.entries(PACKAGE_HOMES).find(([name]) => isFrom(specifier, name));
      if (home === undefined || home[1].includes(unitOf(path))) return [];
      return [`${path}: imports ${specifier}, which belongs in ${home[1].join(', ')}`];
    }),
  );
}

function isFrom(specifier: string, name: string): boolean {
  return specifier === name || specifier.startsWith(name.endsWith('/') ? name : `${name}/`);
}

function strayStores(sources: Sources): string[] {
  return each(sources, (path, text) => {
    const unit = unitOf(path);
    if (['server', 'storage', 'entries', 'index'].includes(unit)) return [];
    return internalImports(path, text)
      .filter((target) => CONCRETE_STORE.test(target) && !(MEMORY_USERS.includes(unit) && MEMORY_STORE.test(target)))
      .map((target) => `${path}: names the store ${target}`);
  });
}

function strayVersions(sources: Sources): string[] {
  return each(sources, (path, text) =>
    unitOf(path) !== 'protocol' && text.includes('x402Version') ? [`${path}: writes x402Version`] : [],
  );
}

function longFiles(sources: Sources): string[] {
  return each(sources, (path, text) => {
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
    return lines > MAX_LINES ? [`${path}: ${lines} lines`] : [];
  });
}

function looseTypes(sources: Sources): string[] {
  return each(sources, (path, text) => {
    const file = parse(path, text);
    const found: string[] = [];
    walk(file, (node) => {
      const loose = looseTypeOf(node);
      if (loose === undefined) return;
      found.push(`${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}: ${loose}`);
    });
    return found;
  });
}

function looseTypeOf(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return 'any';
  if (!ts.isAsExpression(node)) return undefined;
  let inner = node.expression;
  while (ts.isParenthesizedExpression(inner)) inner = inner.expression;
  return ts.isAsExpression(inner) && inner.type.kind === ts.SyntaxKind.UnknownKeyword ? 'as unknown as' : undefined;
}

function leftovers(sources: Sources): string[] {
  const marks = ['TODO', 'FIXME', 'biome-ignore', '@ts-ignore', '@ts-expect-error', '@ts-nocheck'];
  return each(sources, (path, text) =>
    marks.filter((mark) => text.includes(mark)).map((mark) => `${path}: contains ${mark}`),
  );
}

function each(sources: Sources, check: (path: string, text: string) => string[]): string[] {
  return [...sources].flatMap(([path, text]) => check(path, text));
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, false);
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}
