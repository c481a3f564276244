import { didYouMean } from '../lib/did-you-mean.js';
import { VERSION } from '../lib/version.js';
import { db } from './books/db.js';
import { payoutsCommand } from './books/payouts.js';
import { reconcileCommand } from './books/reconcile.js';
import { refundCommand } from './books/refund.js';
import { callsCommand } from './buyer/calls.js';
import { eventsCommand } from './buyer/events.js';
import { marketplaceCommand } from './buyer/marketplace.js';
import { receiptCommand } from './buyer/receipt.js';
import { spendingCommand } from './buyer/spending.js';
import { type Command, UsageError } from './command.js';
import { accounts } from './operator/accounts.js';
import { doctor } from './operator/doctor.js';
import { keygen } from './operator/keygen.js';
import { operatorCommand } from './operator/operator.js';
import { sandbox } from './operator/sandbox.js';
import { serve } from './operator/serve.js';
import { balance } from './pay/balance.js';
import { createPayment } from './pay/create-payment.js';
import { passesCommand } from './pay/passes.js';
import { pay } from './pay/pay.js';
import { verify } from './pay/verify.js';
import { reportError } from './report-error.js';
import { analytics } from './seller/analytics.js';
import { keys } from './seller/keys.js';
import { projectsCommand } from './seller/projects.js';
import { webhooksCommand } from './seller/webhooks.js';
import { login } from './session/login.js';
import { logout } from './session/logout.js';

/** In the order in which a user meets them: the server, those who pay, those who sell, those who run it. */
const COMMANDS: readonly Command[] = [
  ...[serve, pay, balance, createPayment, verify, passesCommand],
  ...[marketplaceCommand, callsCommand, receiptCommand, spendingCommand, eventsCommand],
  ...[login, logout, projectsCommand, keys, analytics, webhooksCommand],
  ...[sandbox, keygen, accounts, doctor, db, reconcileCommand, payoutsCommand, refundCommand, operatorCommand],
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
  const meant = didYouMean(name, names);
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
