import { defineConfig } from 'tsdown';

/** An `import()` that is awaited, as rolldown writes it where `import()` may not be used. */
const AWAITED_IMPORT = /\bawait Promise\.resolve\(\)\.then\(\(\) => (.+?\brequire\("[^"]+"\), 1\))\)/g;

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    webhooks: 'src/entries/webhooks.ts',
    gateway: 'src/entries/gateway.ts',
    storage: 'src/entries/storage.ts',
    sandbox: 'src/sandbox/start-sandbox.ts',
    cli: 'src/cli/main.ts',
  },
  format: ['esm', 'cjs'],
  platform: 'node',
  target: 'node20.19',
  dts: { sourcemap: true },
  sourcemap: true,
  inputOptions: { experimental: { chunkOptimization: false } },
  outputOptions: {
    sourcemapExcludeSources: true,
    // A runner without import() in CommonJS, such as Jest, fails at it.
    dynamicImportInCjs: false,
    comments: { annotation: true, jsdoc: false, legal: false },
  },
  fixedExtension: false,
  report: false,
  logLevel: 'error',
  plugins: [
    {
      // Within a function of its own a `require` is no longer in the `try` around it, and bundlers fail at what they do not find.
      name: 'require-where-awaited',
      renderChunk(code, _chunk, { format }) {
        return format === 'cjs' ? code.replace(AWAITED_IMPORT, 'await $1') : null;
      },
    },
  ],
});
