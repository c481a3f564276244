import { didYouMean } from '../lib/did-you-mean.js';
import { VERSION } from '../lib/version.js';
import { StoppedError, UsageError } from './command.js';
import { COMMANDS } from './commands.js';
import { watchOutput } from './output/watched-output.js';
import { reportError } from './report-error.js';

function overview(): string {
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(16)}${summary}`);
  return `tollhouse ${VERSION}: get paid on an Express route\n\n${lines.join('\n')}\n\n"tollhouse <command> --help" tells more; with --json a command prints for programs, its errors too.`;
}

async function run([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--version' || name === '-v' || name === 'version') {
    console.log(VERSION);
    return 0;
  }
  if (name === 'help' && args[0]?.startsWith('-') === false) return run([...args, '--help']);
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    console.log(overview());
    return 0;
  }
  const listed = COMMANDS.find((it) => it.name === name);
  if (listed === undefined) throw new UsageError(unknownCommand(name));
  const command = await listed.load();
  if (args.includes('--help') || args.includes('-h') || (args.length === 1 && args[0] === 'help')) {
    console.log(command.help);
    return 0;
  }
  return command.run(args);
}

function unknownCommand(name: string): string {
  if (name === 'export')
    return `there is no command "export"; "npx tollhouse db export" writes payments for the bookkeeper`;
  const names = COMMANDS.map((it) => it.name);
  const meant = didYouMean(name, [...names, 'help']);
  return `there is no command "${name}"; ${meant === undefined ? `the commands are ${names.join(', ')}` : `did you mean "${meant}"?`}`;
}

/**
 * Runs the command line.
 * @param args - what stands after `tollhouse`
 * @returns the exit code: 0 when it was done, 1 when it could not be done, 2 when it was not understood, 128 and more when a
 * signal has stopped it
 */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (error) {
    reportError(error, args.includes('--json'));
    return exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof StoppedError) return error.exitCode;
  return error instanceof UsageError ? 2 : 1;
}

/** The same as the program of this process, which fails where what it prints cannot be written. */
export function runProgram(args: readonly string[]): Promise<number> {
  watchOutput((error) => reportError(error, args.includes('--json')));
  return runCli(args);
}
