// Starts a clone as the README says, and pays by the line that it prints; says nothing but how long both took.
// Run by .ci/run: node test/package/start-and-pay.mjs
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'tollhouse-start-'));
const begun = Date.now();
const server = spawn('npm', ['start'], {
  cwd: root,
  env: { ...process.env, PORT: '0', LOG_FORMAT: 'text', DATABASE_URL: `sqlite:${join(folder, 'tollhouse.db')}` },
  detached: true,
});
try {
  const { line, printed } = await startedLine();
  const started = Date.now();
  assert.doesNotMatch(printed, /Warning:|bigint/, 'nothing is complained of');
  const [command, ...args] = line.split(' ');
  // By this Node: PATH may name another one.
  assert.equal(command, 'node');
  const { stdout } = await run(process.execPath, args, { cwd: root });
  assert.match(stdout, /Paid\. This answer cost one cent\./);
  console.log(`Node ${process.versions.node}: up in ${started - begun} ms, paid in ${Date.now() - started} ms`);
} finally {
  if (server.exitCode === null) {
    process.kill(-server.pid, 'SIGTERM');
    await once(server, 'close');
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Waits for the line that pays; throws all that was printed when the server ends before. */
async function startedLine() {
  let printed = '';
  const ended = once(server, 'close').then(() => assert.fail(`npm start ended:\n${printed}`));
  // Who ends it at last is nobody to complain.
  ended.catch(() => undefined);
  const line = new Promise((resolve) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream.on('data', (chunk) => {
        printed += chunk;
        const found = /node \S+ pay .*--demo.*(?=\n)/.exec(printed);
        if (found !== null) resolve(found[0]);
      });
    }
  });
  return { line: await Promise.race([line, ended]), printed };
}
