// Compiles the files of this folder in a project that has the package installed, as its users would, with what they may have set.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  for (const { form, flags, isBrief } of settings) {
    for (const program of isBrief ? PROGRAMS.slice(0, 1) : PROGRAMS) {
      const files = program.files.map((file) => join('types', fileIn(form, file)));
      compile(project, [...flags, ...program.flags, ...files]);
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

/** Library checks stay on, and only what our types or the consumer get wrong counts, not other packages. */
function compile(project, options) {
  const tsc = join(project, 'node_modules/typescript/bin/tsc');
  const flags = ['--noEmit', '--target', 'es2022', '--types', 'node', '--pretty', 'false'];
  const run = spawnSync(process.execPath, [tsc, ...flags, ...options], { cwd: project, encoding: 'utf8' });
  const ours = run.stdout.split('\n').filter((line) => /^(types\/|node_modules\/tollhouse\/|error)/.test(line));
  assert.deepEqual(ours, [], `types hold under ${options.join(' ')} in ${relative(dirname(project), project)}`);
}
