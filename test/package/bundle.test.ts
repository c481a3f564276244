import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import * as ts from 'typescript';
import manifest from '../../package.json' with { type: 'json' };
import { buildPackage } from '../helpers/processes/built-package.js';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

/** What the package imports of what is optional; the store of `rate-limit-redis` its user makes. */
const OPTIONAL = Object.keys(manifest.peerDependenciesMeta).filter((name) => name !== 'rate-limit-redis');

/** An app that asks itself what its gate answers, and opens a database without the package for it. */
const APP = `
  const { Keypair } = require('@solana/web3.js');
  const express = require('express');
  const { createFacilitator, openStorage, requirePayment } = require('./index.cjs');
  const [rpcUrl, wsUrl] = ['http://127.0.0.1:9', 'ws://127.0.0.1:9'];
  const keypair = Keypair.generate();
  const facilitator = createFacilitator({ network: 'solana-devnet', rpcUrl, wsUrl, keypair });
  const app = express();
  app.get('/paid', requirePayment({ facilitator, price: '$0.01', payTo: Keypair.generate().publicKey.toBase58() }));
  const server = app.listen(0, '127.0.0.1', async () => {
    const { status } = await fetch('http://127.0.0.1:' + server.address().port + '/paid');
    const told = await openStorage('postgres://127.0.0.1:9/none').catch((error) => error.message);
    console.log(JSON.stringify({ status, told }));
    process.exit();
  });
`;

/** Bundles a file into another one with all that it needs, but for what is optional. In a process of its own, as the bundler is an ES module. */
const BUNDLE = `
  const [file, into, format, bundler, ...external] = process.argv.slice(1);
  const { build } = await import(bundler);
  await build({ input: file, platform: 'node', external, output: { file: into, format, codeSplitting: false }, logLevel: 'silent' });
`;

let folder: string;
let bundles: string;

beforeAll(async () => {
  folder = await buildPackage();
  bundles = mkdtempSync(join(tmpdir(), 'tollhouse-bundle-'));
});

afterAll(() => {
  for (const made of [folder, bundles]) if (made !== undefined) rmSync(made, { recursive: true });
});

test.each(['.js', '.cjs'])(
  'bundlers find each import of an optional package in the try of its own function: %s',
  (ending) => {
    const files = readdirSync(folder).filter((file) => file.endsWith(ending));
    const imports = files.flatMap((file) => optionalImports(readFileSync(join(folder, file), 'utf8')));
    expect(imports.map(({ name }) => name).sort()).toEqual([...OPTIONAL].sort());
    expect(imports.filter(({ isInTry }) => !isInTry)).toEqual([]);
  },
);

test.each([
  ['esm', 'mjs'],
  ['cjs', 'cjs'],
] as const)(
  'an app in one file, without optional packages, answers 402 and tells what a database needs: %s',
  async (format, ending) => {
    const file = join(folder, `app.${ending}`);
    const into = join(bundles, `app.${ending}`);
    writeFileSync(file, format === 'esm' ? asModule(APP) : APP);
    const bundler = pathToFileURL(join(ROOT, 'node_modules/rolldown/dist/index.mjs')).href;
    const args = ['--input-type=module', '--eval', BUNDLE, '--', file, into, format, bundler, ...OPTIONAL];
    await run(process.execPath, args);
    const { stdout } = await run(process.execPath, [into], { cwd: bundles });
    expect(JSON.parse(stdout)).toEqual({
      status: 402,
      told: 'openStorage needs the optional package "pg": npm install pg@^8.23.0',
    });
  },
);

/** The same source, as an ES module. */
function asModule(source: string): string {
  return source.replaceAll(/const (.+) = require\((.+)\);/g, 'import $1 from $2;').replace('index.cjs', 'index.js');
}

/** The imports of optional packages in a file, by either module system. */
function optionalImports(text: string): { readonly name: string; readonly isInTry: boolean }[] {
  const found: { name: string; isInTry: boolean }[] = [];
  const visit = (node: ts.Node, isInTry: boolean): void => {
    const name = importedBy(node);
    if (name !== undefined) found.push({ name, isInTry });
    ts.forEachChild(node, (child) => {
      if (ts.isFunctionLike(node)) visit(child, false);
      else visit(child, ts.isTryStatement(node) ? child === node.tryBlock : isInTry);
    });
  };
  visit(ts.createSourceFile('any.js', text, ts.ScriptTarget.Latest), false);
  return found;
}

/** The optional package that a call imports; undefined for all else. */
function importedBy(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) || !/^(?:import|require)$/.test(calleeOf(node))) return undefined;
  const [of] = node.arguments;
  if (of === undefined || !ts.isStringLiteral(of)) return undefined;
  return OPTIONAL.find((name) => of.text === name || of.text.startsWith(`${name}/`));
}

function calleeOf({ expression }: ts.CallExpression): string {
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return 'import';
  return ts.isIdentifier(expression) ? expression.text : '';
}
