import { didYouMean } from '../../lib/did-you-mean.js';
import { CommandError } from '../command.js';

/** What {@link selectItem} looks for. */
export interface Selection<T> {
  /** What it is, for messages: `project`. */
  readonly what: string;
  /** What the user typed. */
  readonly name: string;
  /** By which an item may be called, the most usual first. */
  readonly namesOf: (item: T) => readonly string[];
  /** How one is found that is no longer among the items, for the message that there is none. */
  readonly gone?: string;
}

/** The item that the user means. Throws a {@link CommandError} with the nearest name when there is none. */
export function selectItem<T>(items: readonly T[], { what, name, namesOf, gone }: Selection<T>): T {
  const [found, ...others] = items.filter((item) => namesOf(item).includes(name));
  if (found !== undefined && others.length === 0) return found;
  if (found !== undefined)
    throw new CommandError(`there are ${others.length + 1} with the name "${name}"; give the id`);
  const names = items.map((item) => namesOf(item)[0] ?? '');
  const meant = didYouMean(name, items.flatMap(namesOf));
  const near = meant === undefined ? listOf(what, names) : `did you mean "${meant}"?`;
  throw new CommandError([`you have no ${what} "${name}"`, near, ...(gone === undefined ? [] : [gone])].join('; '));
}

const SHOWN = 10;

function listOf(what: string, names: readonly string[]): string {
  if (names.length === 0) return `you have no ${what}${what.endsWith('s') ? 'es' : 's'} at all`;
  return `there ${names.length === 1 ? 'is' : 'are'} ${names.slice(0, SHOWN).join(', ')}${names.length > SHOWN ? ', …' : ''}`;
}
