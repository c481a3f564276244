import type { Command } from '../../../src/cli/command.js';
import type { Ended } from './run-file.js';

/**
 * Runs a command of `tollhouse` in this process, to start one for each would take longer than all that they do; one at a time.
 * @param environment - variables that it sees beside those of this process; undefined ones are taken away
 */
export async function runCommand(
  command: Command,
  environment: NodeJS.ProcessEnv,
  args: readonly string[],
): Promise<Ended> {
  const before = { ...process.env };
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  const lines: string[] = [];
  const keep = (line: unknown): void => void lines.push(`${line}\n`);
  const spies = [
    jest.spyOn(console, 'log').mockImplementation(keep),
    jest.spyOn(console, 'error').mockImplementation(keep),
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0),
  ];
  try {
    return { code: await command.run(args), text: lines.join('') };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.env = before;
  }
}
