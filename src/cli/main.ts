#!/usr/bin/env node
import { TollhouseError } from '../errors.js';
import { nearest } from '../nearest.js';
import { VERSION } from '../routers/version.js';
import { balance } from './balance.js';
import { type Command, CommandError, UsageError } from './command.js';
import { createPayment } from './create-payment.js';
import { pay } from './pay.js';
import { sandbox } from './sandbox.js';
import { serve } from './serve.js';
import { verify } from './verify.js';

const COMMANDS: readonly Command[] = [serve, pay, balance, createPayment, verify, sandbox];

function overview(): string {
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(16)}${summary}`);
  return `tollhouse ${VERSION}: get paid on an Express route\n\n${lines.join('\n')}\n\n"tollhouse <command> --help" tells more.`;
}

async function main([name, ...args]: readonly string[]): Promise<number> {
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
  const names = COMMANDS.map((it) => it.name);
  const meant = nearest(name, names);
  return `there is no command "${name}"; ${meant === undefined ? `the commands are ${names.join(', ')}` : `did you mean "${meant}"?`}`;
}

/** Mistakes and outages are told in a sentence; only bugs show where they are. */
function report(error: unknown): number {
  const expected = error instanceof UsageError || error instanceof CommandError || error instanceof TollhouseError;
  console.error(expected || isSystemError(error) ? `tollhouse: ${error.message}` : error);
  return error instanceof UsageError ? 2 : 1;
}

function isSystemError(error: unknown): error is Error {
  return error instanceof Error && typeof Reflect.get(error, 'syscall') === 'string';
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.exitCode = report(error);
  },
);
