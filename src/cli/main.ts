#!/usr/bin/env node
// A decoder that spl-token brings tells whoever has no compiler that it goes without. There is nothing to do about that.
const { warn } = console;
console.warn = (...said: unknown[]) => {
  if (!/^bigint: Failed to load bindings/.test(String(said[0]))) warn(...said);
};

import('./run-cli.js')
  .then(({ runProgram }) => runProgram(process.argv.slice(2)))
  .then((code) => {
    process.exitCode = code;
  });

export {};
