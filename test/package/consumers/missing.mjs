// What is said where optional packages are missing: everything at once, with one command that installs versions that fit.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { SQLITE } from './sqlite.mjs';

/** What `npm install` takes, by the ranges of the manifest: of two, the latter is for the Node-API 10. */
function specsOf(manifest, names) {
  const at = Number(process.versions.napi) < 10 ? 0 : -1;
  return names.map((name) => `${name}@${manifest.peerDependencies[name].split(' || ').at(at)}`);
}

/** In a project without optional packages. */
export function checkMissing(folder, manifest) {
  // Whoever runs this may have set it for a server of his own.
  const env = { ...process.env, REDIS_URL: '' };
  const run = (program, ...args) =>
    spawnSync(process.execPath, [...program, ...args], { cwd: folder, env, encoding: 'utf8', timeout: 120_000 });
  const cli = [join(folder, 'node_modules/tollhouse/dist/cli.js')];
  const served = run(cli, 'serve', '--port', '0');
  const all = specsOf(manifest, ['litesvm', ...SQLITE, 'pino', 'prom-client']);
  assert.equal(served.status, 1);
  assert.match(served.stderr, /^tollhouse: tollhouse serve needs the optional packages .+\n$/);
  assert.ok(served.stderr.includes(`: npm install ${all.join(' ')}\n`), `all in one command: ${served.stderr}`);

  const examined = run(cli, 'doctor', '--json');
  assert.equal(examined.status, 2);
  assert.ok(examined.stdout.includes(`npm install ${all.join(' ')}`), `the doctor says so: ${examined.stdout}`);

  const open = `const { openStorage } = require('tollhouse');
    openStorage('postgres://127.0.0.1/books', { redisUrl: 'redis://127.0.0.1' }).catch(({ code, message }) => console.log(code, message));`;
  const opened = run(['--input-type=commonjs', '--eval', open]).stdout;
  const needed = specsOf(manifest, ['pg', 'ioredis']).join(' ');
  assert.ok(
    opened.startsWith('missing_dependency openStorage needs') && opened.includes(`npm install ${needed}`),
    opened,
  );

  // Where the code has no file, `__filename` is a global that names none.
  const opening = (url) => `import('tollhouse').then(({ openStorage }) => openStorage('${url}'))
    .then((storage) => storage.close()).then(() => 'opened', ({ code }) => code).then(console.log)`;
  assert.equal(run(['--eval', opening('postgres://127.0.0.1/books')]).stdout, 'missing_dependency\n');
  assert.equal(
    run(['--eval', opening('sqlite:./books/first.db')]).stdout,
    SQLITE.length === 0 ? 'opened\n' : 'missing_dependency\n',
    'SQLite needs a package only where Node has none of its own',
  );

  const paid = run(cli, 'pay', 'http://127.0.0.1:9/demo', '--demo');
  assert.equal(paid.status, 1);
  assert.match(paid.stderr, /^tollhouse: [^\n]+ cannot be reached [^\n]+\n$/, 'one sentence, no stack');
}
