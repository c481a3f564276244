import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { CommandError } from './command.js';

/**
 * A folder of the user's, as the XDG base directories have it: the one that a variable names, else one below the home folder.
 * @throws CommandError where neither is there, as for a user of a container without a name
 */
export function userFolder(variable: 'XDG_STATE_HOME' | 'XDG_CONFIG_HOME', below: string): string {
  const named = process.env[variable] ?? '';
  if (isAbsolute(named)) return named;
  const home = homeFolder();
  if (isAbsolute(home)) return join(home, below);
  throw new CommandError(`this user has no home folder: set HOME, or ${variable} to a folder for its files`);
}

/** Where the system knows no user of that number, Node throws. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}
