import { didYouMean } from '../../lib/did-you-mean.js';

/** A variable that is set, is none of ours, and looks like one of ours that is not set. */
export interface Misspelt {
  readonly name: string;
  readonly meant: string;
}

/** Names as short as `PORT` and `HOST` are near to too many that mean something else. */
const SHORTEST = 6;
/** From this length on two characters may be wrong, before that one. */
const LONG = 12;

/** Variables of an environment that are probably misspelt. Those of others, however many there are, are left alone. */
export function misspeltVariables(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): readonly Misspelt[] {
  const missing = known.filter((name) => name.length >= SHORTEST && !env[name]);
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name) || !env[name]) return [];
    const meant = didYouMean(name, missing, name.length < LONG ? 1 : 2);
    return meant === undefined ? [] : [{ name, meant }];
  });
}

/** Tells of such variables: what they were to say counts for nothing. */
export function warnOfMisspelt(misspelt: readonly Misspelt[]): void {
  for (const { name, meant } of misspelt) {
    process.emitWarning(`the environment variable ${name} is none of ours; did you mean ${meant}?`, {
      code: 'TOLLHOUSE_ENVIRONMENT',
    });
  }
}
