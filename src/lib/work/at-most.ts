/** Those who wait, by what names them: each name has its turn after the others that stand beside it. */
interface Line {
  readonly lines: Map<string, Line>;
  readonly first: (() => void)[];
}

/**
 * Lets so much be done at once, and the rest wait in turns: of those who wait each has one done before anybody has a second one, and those
 * of one name in the order in which they came.
 * @param places - how much is done at once
 * @returns what does something when there is a place for it; it rejects as that does. `names` say whose it is, the widest first: those
 *   of the same first name share the turns of that
 */
export function atMost(
  places: number,
): <Result>(names: readonly string[], act: () => Promise<Result>) => Promise<Result> {
  const waiting = newLine();
  let free = places;
  return async (names, act) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => wait(waiting, names, resolve));
    try {
      return await act();
    } finally {
      const next = takeNext(waiting);
      if (next === undefined) free += 1;
      else next();
    }
  };
}

function newLine(): Line {
  return { lines: new Map(), first: [] };
}

function wait(line: Line, [name, ...narrower]: readonly string[], next: () => void): void {
  if (name === undefined) return void line.first.push(next);
  const own = line.lines.get(name) ?? newLine();
  line.lines.set(name, own);
  wait(own, narrower, next);
}

function takeNext({ lines, first }: Line): (() => void) | undefined {
  const [name, line] = lines.entries().next().value ?? [];
  if (first.length > 0 || name === undefined || line === undefined) return first.shift();
  lines.delete(name);
  const next = takeNext(line);
  // Behind all others.
  if (line.first.length > 0 || line.lines.size > 0) lines.set(name, line);
  return next;
}
