// Mocha loads the TypeScript of this project as jest does: through swc, `.js` in imports meaning `.ts`.
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { transformSync } = require('@swc/core');
const { jest } = require('../../package.json');

const [, options] = jest.transform['^.+\\.ts$'];
const ENTRIES = {
  tollhouse: path.resolve(__dirname, '../../src/index.ts'),
  ...Object.fromEntries(
    ['webhooks', 'gateway', 'storage'].map((name) => [
      `tollhouse/${name}`,
      path.resolve(__dirname, `../../src/entries/${name}.ts`),
    ]),
  ),
  'tollhouse/sandbox': path.resolve(__dirname, '../../src/sandbox/start-sandbox.ts'),
};

require.extensions['.ts'] = (module, filename) => {
  module._compile(transformSync(readFileSync(filename, 'utf8'), { ...options, filename }).code, filename);
};

const resolve = Module._resolveFilename;
Module._resolveFilename = function resolveTypeScript(request, parent, ...rest) {
  if (request in ENTRIES) return ENTRIES[request];
  if (/^\.{1,2}\/.*\.js$/.test(request) && parent?.filename?.endsWith('.ts')) {
    const source = path.resolve(path.dirname(parent.filename), request.replace(/\.js$/, '.ts'));
    if (existsSync(source)) return source;
  }
  return resolve.call(this, request, parent, ...rest);
};
