import { posix } from 'node:path';
import ts from 'typescript';
import { ARROWS, FEATURE_BASE, FLOORS, PACKAGE_HOMES } from './architecture-tables.js';

/** Path below `src/` → text of the file. */
export type Sources = ReadonlyMap<string, string>;

/** One rule: its name, and what it finds wrong, each finding naming the file. */
export interface Rule {
  readonly name: string;
  readonly check: (sources: Sources) => string[];
}

const MAX_LINES = 300;
const MAX_ENTRIES = 20;
/** What was released in it is never changed, so that each change adds one. */
const GROWING = 'storage/sql/migrations';
const CONCRETE_STORE = /^storage\/.*\/(memory|sqlite|postgres|redis)-/;
const MEMORY_STORE = /^storage\/.*\/memory-/;
/** What a user makes without a store makes its own in memory; the package exports those. */
const MEMORY_USERS = ['facilitator', 'identity', 'http', 'server', 'entries', 'index'];

export const RULES: readonly Rule[] = [
  { name: 'every import follows an arrow of the table', check: arrowsAgainstTable },
  { name: 'a sub-room imports what stands below it', check: floors },
  { name: 'a feature of the service imports no other', check: featuresApart },
  { name: 'no file imports itself through others', check: cycles },
  { name: `no folder holds more than ${MAX_ENTRIES} entries`, check: fullFolders },
  { name: 'a package is imported in its home folders only', check: strayPackages },
  {
    name: 'databases are named in storage only, stores in memory also where nothing else is given',
    check: strayStores,
  },
  { name: 'x402Version is written in protocol only', check: strayVersions },
  { name: `no file is longer than ${MAX_LINES} lines`, check: longFiles },
  { name: 'no any, no double cast', check: looseTypes },
  { name: 'no exported name means two things', check: doubleNames },
  { name: 'no TODO and no silenced lint', check: leftovers },
];

/** Each rule reads all files. */
const parsed = new Map<string, ts.SourceFile>();
const imports = new WeakMap<ts.SourceFile, readonly string[]>();

/** Module names of all imports of a file: static, type-only, re-exports, dynamic, `require`, and types like `import('x').Y`. */
export function importsOf(path: string, text: string): readonly string[] {
  const file = parse(path, text);
  const known = imports.get(file);
  if (known !== undefined) return known;
  const found: string[] = [];
  walk(file, (node) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) found.push(specifier.text);
  });
  imports.set(file, found);
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
  const isNamed = allowed.some((it) => it.includes('/') && target.startsWith(it));
  return isNamed || unitOf(target) === unit || allowed.includes(unitOf(target));
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

function featuresApart(sources: Sources): string[] {
  return each(sources, (path, text) => {
    const floor = floorOf(path);
    if (unitOf(path) !== 'http' || !floor.endsWith('/')) return [];
    return internalImports(path, text)
      .filter((target) => unitOf(target) === 'http' && ![floor, ...FEATURE_BASE].includes(floorOf(target)))
      .map((target) => `${path}: imports ${target}, which is none of ${floor} or ${FEATURE_BASE.join(', ')}`);
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
    .filter(([folder, { size }]) => folder !== GROWING && size > MAX_ENTRIES)
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
    if (unit === 'storage') return [];
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

/** Steps of the database are called by their number, not by their name. */
const MIGRATIONS = 'storage/sql/migrations/';

function doubleNames(sources: Sources): string[] {
  const homes = new Map<string, string[]>();
  for (const [path, text] of sources) {
    if (path.startsWith(MIGRATIONS)) continue;
    for (const name of declaredExports(parse(path, text))) homes.set(name, [...(homes.get(name) ?? []), path]);
  }
  return [...homes].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(' and ')}`);
}

/** Names that a file declares and exports; what it passes on is declared elsewhere. */
function declaredExports(file: ts.SourceFile): string[] {
  return file.statements.flatMap((statement) => {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    if (!isExported) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
    }
    const isNamed =
      ts.isFunctionDeclaration(statement) ||
      ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement);
    return isNamed && statement.name !== undefined ? [statement.name.text] : [];
  });
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
  const known = parsed.get(path);
  if (known?.text === text) return known;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, false);
  parsed.set(path, file);
  return file;
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}
