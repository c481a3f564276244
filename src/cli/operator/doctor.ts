import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { plain } from '../../lib/plain-text.js';
import type { Examined } from '../../server/examine/examination.js';
import { examine } from '../../server/examine/examine.js';
import { none, readArguments } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { asCalled } from '../output/own-command.js';
import { fileFault } from '../output/system-words.js';
import { printTable } from '../output/table.js';
import { printJson } from '../output/terminal.js';

const USAGE = 'tollhouse doctor [--env <file>] [--json]';

/** `tollhouse doctor`: whether a server with this configuration could take payments. */
export const doctor: Command = {
  help: `${USAGE}

Reads the environment variables of "tollhouse serve" and looks at all that they name: misspelt variables, key files and who can
read them, RPC and WebSocket, whether they belong to the network, what the fee payer holds, whether PAY_TO and the split wallet
can receive USDC, database and schema, Redis, JWT_SECRET, whether SECRETS_KEY opens what the database holds, BASE_URL and
TRUST_PROXY. Each thing is a line, with what mends it. Nothing is written, and no payment is made.

  --env <file>        a file of variables, NAME=value a line; what the environment sets goes before it. (--env-file is the
                      same; Node 20 takes it for its own, and ends without a word of ours where there is no such file.)
  --json              for programs: {"status", "checks": [{"what", "status", "detail", "fix"}]}

Exit code 0: all is well; 1: there are warnings; 2: payments cannot be taken.`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      env: { type: 'string' },
      'env-file': { type: 'string' },
      json: { type: 'boolean' },
    });
    none(positionals, USAGE);
    const checks = await examine({ ...readEnvFile(values.env ?? values['env-file']), ...process.env });
    const status = worstOf(checks);
    if (values.json) printJson({ status, checks });
    else printChecks(checks);
    return EXIT_CODES[status];
  },
};

const EXIT_CODES = { ok: 0, warning: 1, error: 2 } as const;

function readEnvFile(path: string | undefined): Readonly<Record<string, string | undefined>> {
  if (path === undefined) return {};
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`--env: the file "${path}" cannot be read (${fileFault(error)})`);
  }
}

function worstOf(checks: readonly Examined[]): Examined['status'] {
  if (checks.some(({ status }) => status === 'error')) return 'error';
  return checks.some(({ status }) => status === 'warning') ? 'warning' : 'ok';
}

function printChecks(checks: readonly Examined[]): void {
  printTable(
    ['', 'looked at', 'found'],
    checks.map(({ status, what, detail }) => [status, what, detail]),
  );
  const fixes = checks.flatMap(({ what, fix }) => (fix === undefined ? [] : [`  ${what}: ${fix}`]));
  if (fixes.length > 0) console.log(`\nTo do:\n${fixes.map((it) => asCalled(plain(it))).join('\n')}`);
}
