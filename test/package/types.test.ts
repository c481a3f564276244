import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '../..');
const TYPES = join(__dirname, 'types');
const FILES = readdirSync(TYPES).filter((name) => name.endsWith('.mts'));

/** The names that an entry exports, each of them by name. */
function exportsOf(entry: string): readonly string[] {
  const { statements } = parse(join(ROOT, entry));
  return statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return namesOf(statement.exportClause);
    const isOwn =
      ts.isFunctionDeclaration(statement) && ts.getModifiers(statement)?.[0]?.kind === ts.SyntaxKind.ExportKeyword;
    return isOwn && statement.name !== undefined ? [statement.name.text] : [];
  });
}

/** The names that the tests of types import from an entry, and use: an unused one does not compile. */
function importsOf(entry: string): readonly string[] {
  return FILES.flatMap((file) =>
    parse(join(TYPES, file)).statements.flatMap((statement) => {
      if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return [];
      return statement.moduleSpecifier.text === entry ? namesOf(statement.importClause?.namedBindings) : [];
    }),
  );
}

function namesOf(bindings: ts.NamedExportBindings | ts.NamedImportBindings | undefined): readonly string[] {
  return bindings !== undefined && 'elements' in bindings ? bindings.elements.map(({ name }) => name.text) : [];
}

function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2023);
}

const ENTRIES = [
  ['tollhouse', 'src/index.ts'],
  ['tollhouse/sandbox', 'src/sandbox/start-sandbox.ts'],
  ['tollhouse/webhooks', 'src/entries/webhooks.ts'],
  ['tollhouse/gateway', 'src/entries/gateway.ts'],
  ['tollhouse/storage', 'src/entries/storage.ts'],
] as const;

test.each(ENTRIES)('every name that %s exports is compiled in test/package/types', (entry, source) => {
  const names = exportsOf(source);
  const used = new Set(importsOf(entry));

  expect(names.length).toBeGreaterThan(4);
  expect(names.filter((name) => !used.has(name))).toEqual([]);
});

/** The other files are compiled with all of the repository; what these declare would be there for everything. */
test.each(['declared', 'renamed'])('an app with properties of its own compiles: %s', (name) => {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  const path = join(TYPES, 'own-properties', `${name}.mts`);
  const program = ts.createProgram([path], { ...options, paths: { tollhouse: [join(ROOT, 'src/index.ts')] } });
  const source = program.getSourceFile(path);
  const faults = [...program.getGlobalDiagnostics(), ...program.getSemanticDiagnostics(source)];

  expect(source).toBeDefined();
  expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([]);
});

/** Where an option may be left out and may not be `undefined`, as `file: Type.option`, of all that is given to the package. */
function optionsThatRefuseUndefined(): readonly string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  const entries = ENTRIES.map(([, source]) => join(ROOT, source));
  const program = ts.createProgram(entries, options);
  const checker = program.getTypeChecker();
  const found = new Set<string>();
  const seen = new Set<ts.Type>();

  function visit(type: ts.Type): void {
    if (seen.has(type)) return;
    seen.add(type);
    if (type.isUnionOrIntersection()) return type.types.forEach(visit);
    // What has methods is made by the package, and not written by its users.
    if (type.getProperties().some(({ flags }) => (flags & ts.SymbolFlags.Method) !== 0)) return;
    for (const inner of checker.getTypeArguments(type as ts.TypeReference)) visit(inner);
    for (const property of type.getProperties()) look(property);
  }

  function look(property: ts.Symbol): void {
    const [declaration] = property.declarations ?? [];
    if (declaration === undefined || !declaration.getSourceFile().fileName.startsWith(join(ROOT, 'src'))) return;
    if (!ts.isPropertySignature(declaration) || declaration.type === undefined) return;
    const type = checker.getTypeFromTypeNode(declaration.type);
    const takes = (type.isUnion() ? type.types : [type]).some((it) => (it.flags & ts.TypeFlags.Undefined) !== 0);
    const isUnknown = (type.flags & ts.TypeFlags.Unknown) !== 0;
    const file = relative(ROOT, declaration.getSourceFile().fileName);
    if (declaration.questionToken && !takes && !isUnknown) found.add(`${file}: ${property.name}`);
    if (type.getCallSignatures().length === 0) visit(type);
  }

  for (const source of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(source) as ts.Node);
    for (const it of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const symbol = it.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(it) : it;
      if (symbol.flags & ts.SymbolFlags.Type && /Options?$/.test(symbol.name))
        visit(checker.getDeclaredTypeOfSymbol(symbol));
    }
  }
  return [...found].sort();
}

test('every option that may be left out may be undefined, under exactOptionalPropertyTypes too', () => {
  expect(optionsThatRefuseUndefined()).toEqual([]);
});
