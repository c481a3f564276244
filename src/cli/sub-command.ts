import { didYouMean } from '../lib/did-you-mean.js';
import { UsageError } from './command.js';

/** What a subcommand does; answers the exit code. */
export type Action = (args: readonly string[]) => Promise<number>;

/** The action that the first argument names: `list` of `tollhouse projects list`. */
export function pickAction<A = Action>(command: string, actions: Readonly<Record<string, A>>, name = ''): A {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action !== undefined) return action;
  const names = Object.keys(actions);
  const meant = didYouMean(name, names);
  const hint = meant === undefined ? `say what to do: npx ${command} ${names.join(', ')}` : `did you mean "${meant}"?`;
  throw new UsageError(name === '' ? hint : `"${command} ${name}" is not understood; ${hint}`);
}
