// Compiles the files of this folder in a project that has the package installed, as its users would, with what they may have set.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = dirname(fileURLToPath(import.meta.url));
const PLAIN = readdirSync(SOURCES).filter((name) => name.endsWith('.mts'));

/** What is compiled together: properties that an app declares are there for all of its files. */
const PROGRAMS = [
  { files: PLAIN, flags: [] },
  { files: ['own-properties/declared.mts', 'exact.mts'], flags: ['--skipLibCheck'] },
  { files: ['own-properties/renamed.mts', 'exact.mts'], flags: [] },
];
const NODENEXT = ['--module', 'nodenext', '--moduleResolution', 'nodenext'];
const EXACT = ['--strict', '--exactOptionalPropertyTypes'];

/** How the module is called that is made of a source, and how it calls another one. */
const FORMS = {
  mts: { extension: '.mts', import: '.mjs' },
  cts: { extension: '.cts', import: '.cjs' },
  ts: { extension: '.ts', import: '' },
};

const SETTINGS = [
  { form: 'mts', flags: [...NODENEXT, ...EXACT] },
  { form: 'cts', flags: [...NODENEXT, ...EXACT] },
  // What an app declares for itself depends on none of these.
  { form: 'mts', flags: [...NODENEXT, '--strict'], isBrief: true },
  { form: 'mts', flags: NODENEXT, isBrief: true },
  { form: 'mts', flags: ['--module', 'esnext', '--moduleResolution', 'bundler', ...EXACT], isBrief: true },
  // Where exports of packages are not known, the types of @x402/core cannot be found: without them two methods are missing.
  {
    form: 'ts',
    flags: ['--module', 'commonjs', '--moduleResolution', 'node10', '--esModuleInterop', '--skipLibCheck', ...EXACT],
  },
];

/** In a project with `typescript`, `express` and their types installed; with one setting where time is short. */
export function checkTypes(project, settings = SETTINGS) {
  for (const form of new Set(settings.map((it) => it.form))) writeSources(project, form);
  const compile = compilerOf(project);
  for (const { form, flags, isBrief } of settings) {
    for (const program of isBrief ? PROGRAMS.slice(0, 1) : PROGRAMS) {
      compile(
        [...flags, ...program.flags],
        program.files.map((file) => join(project, 'types', fileIn(form, file))),
      );
    }
  }
}

/** The setting that most begin with. */
export const COMMON_SETTING = SETTINGS.slice(0, 1);

function writeSources(project, form) {
  for (const file of new Set(PROGRAMS.flatMap(({ files }) => files))) {
    const text = readFileSync(join(SOURCES, file), 'utf8').replaceAll("/exact.mjs'", `/exact${FORMS[form].import}'`);
    const target = join(project, 'types', fileIn(form, file));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}

function fileIn(form, file) {
  return file.replace(/\.mts$/, FORMS[form].extension);
}

/**
 * The compiler that is installed in the project, in this process: what it has read once, it need not read for every program.
 * Library checks stay on, and only what our types or the consumer get wrong counts, not other packages.
 */
function compilerOf(project) {
  const ts = createRequire(join(project, 'package.json'))('typescript');
  const common = ['--noEmit', '--target', 'es2022', '--types', 'node'];
  const parsed = new Map();
  const names = { getCurrentDirectory: () => project, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };
  return (flags, files) => {
    const { options, errors } = ts.parseCommandLine([...common, ...flags]);
    const host = { ...ts.createCompilerHost(options), getCurrentDirectory: () => project };
    const { getSourceFile } = host;
    host.getSourceFile = (name, how, ...more) => {
      // A file is parsed and bound in another way for another kind of module, and where all is strict.
      const key = JSON.stringify([name, how, options.module, options.moduleResolution, options.strict]);
      if (!parsed.has(key)) parsed.set(key, getSourceFile(name, how, ...more));
      return parsed.get(key);
    };
    const program = ts.createProgram(files, options, host);
    const faults = [...errors, ...ts.getPreEmitDiagnostics(program)];
    const lines = ts.formatDiagnostics(faults, names).split('\n');
    const ours = lines.filter((line) => /^(types\/|node_modules\/tollhouse\/|error)/.test(line));
    assert.deepEqual(ours, [], `types hold under ${flags.join(' ')} in ${relative(dirname(project), project)}`);
  };
}
