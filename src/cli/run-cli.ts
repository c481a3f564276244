import { nearest } from '../nearest.js';
import { VERSION } from '../routers/version.js';
import { accounts } from './accounts.js';
import { analytics } from './analytics.js';
import { balance } from './balance.js';
import { type Command, UsageError } from './command.js';
import { createPayment } from './create-payment.js';
import { db } from './db.js';
import { doctor } from './doctor.js';
import { keygen } from './keygen.js';
import { keys } from './keys.js';
import { login } from './login.js';
import { logout } from './logout.js';
import { pay } from './pay.js';
import { payouts } from './payouts.js';
import { projects } from './projects.js';
import { reconcile } from './reconcile.js';
import { reportError } from './report-error.js';
import { sandbox } from './sandbox.js';
import { serve } from './serve.js';
import { verify } from './verify.js';
import { webhooks } from './webhooks.js';

/** In the order in which a user meets them: the server, those who pay, those who sell, those who run it. */
const COMMANDS: readonly Command[] = [
  ...[serve, pay, balance, createPayment, verify],
  ...[login, logout, projects, keys, analytics, webhooks],
  ...[sandbox, keygen, accounts, doctor, db, reconcile, payouts],
];

function overview(): string {
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(16)}${summary}`);
  return `tollhouse ${VERSION}: get paid on an Express route\n\n${lines.join('\n')}\n\n"tollhouse <command> --help" tells more; with --json a command prints for programs, its errors too.`;
}

async function run([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--version' || name === '-v') {
    console.log(VERSION);
    return 0;
  }
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    console.log(overview());
    return 0;
  }
  const command = COMMANDS.find((it) => it.name === name);
  if (command === undefined) throw new UsageError(unknownCommand(name));
  if (args.includes('--help') || args.includes('-h')) {
    console.log(command.help);
    return 0;
  }
  return command.run(args);
}

function unknownCommand(name: string): string {
  if (name === 'export')
    return `there is no command "export"; "tollhouse db export" writes payments for the bookkeeper`;
  const names = COMMANDS.map((it) => it.name);
  const meant = nearest(name, names);
  return `there is no command "${name}"; ${meant === undefined ? `the commands are ${names.join(', ')}` : `did you mean "${meant}"?`}`;
}

/**
 * Runs the command line.
 * @param args - what stands after `tollhouse`
 * @returns the exit code: 0 when it was done, 1 when it could not be done, 2 when it was not understood
 */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (error) {
    reportError(error, args.includes('--json'));
    return error instanceof UsageError ? 2 : 1;
  }
}
