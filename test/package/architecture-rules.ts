import { posix } from 'node:path';
import ts from 'typescript';

/** Path below `src/` → text of the file. */
export type Sources = ReadonlyMap<string, string>;

/** One rule: its name, and what it finds wrong, each finding naming the file. */
export interface Rule {
  readonly name: string;
  readonly check: (sources: Sources) => string[];
}

const BASE = ['errors', 'options', 'nearest', 'soon', 'repeat', 'load-undici', 'optional-packages', 'received-body'];
const CORE = ['facilitator', 'storage', 'protocol', ...BASE];
const GATES = ['pages', 'facilitator', 'identity', 'access', 'protocol', ...BASE];
const ROUTES = [
  'package.json',
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
const SERVER = ['routers', 'sandbox', ...ROUTES];

/** Who may import whom: a folder of `src/`, or a file directly in it, to folders or single files. Its own folder always. */
export const ARROWS: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  nearest: [],
  soon: [],
  repeat: [],
  'load-undici': [],
  'undici-parts.d': [],
  'optional-packages': ['package.json', 'errors'],
  'parsed-bytes': [],
  'received-body': ['parsed-bytes'],
  options: ['errors', 'nearest'],
  protocol: BASE,
  solana: ['protocol', ...BASE],
  storage: ['protocol', ...BASE],
  facilitator: ['solana', 'storage', 'protocol', ...BASE],
  identity: CORE,
  access: CORE,
  middleware: GATES,
  gateway: ['storage', ...GATES],
  routers: ROUTES,
  pages: ['protocol', ...BASE],
  sandbox: ['solana/known-mints', 'protocol', ...BASE],
  server: SERVER,
  cli: ['server', ...SERVER],
  index: ['server', ...SERVER],
};

/** Packages (or `@scope/`) that only the named folders may import, type-only imports included. */
export const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  '@solana/': ['solana', 'sandbox'],
  litesvm: ['sandbox'],
  express: ['middleware', 'routers', 'pages', 'server'],
  'express-serve-static-core': ['middleware', 'routers', 'pages', 'server'],
  'express-rate-limit': ['middleware', 'routers', 'server'],
  'better-sqlite3': ['storage'],
  pg: ['storage'],
  kysely: ['storage'],
  ioredis: ['storage'],
  pino: ['server'],
  helmet: ['server'],
  'prom-client': ['routers'],
};

const MAX_LINES = 300;
const CONCRETE_STORE = /^storage\/(memory|sqlite|postgres|redis)\b/;
const MEMORY_STORE = /^storage\/memory\b/;
/** What a user makes without a store makes its own in memory. */
const MEMORY_USERS = ['facilitator', 'identity', 'routers'];

export const RULES: readonly Rule[] = [
  { name: 'every import follows an arrow of the table', check: arrowsAgainstTable },
  { name: 'no file imports itself through others', check: cycles },
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
  return unitOf(target) === unit || allowed.includes(unitOf(target)) || allowed.includes(target.replace(/\.ts$/, ''));
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
    if (['server', 'storage', 'index'].includes(unit)) return [];
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
