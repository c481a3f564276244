/**
 * Lets so much be done at once, and the rest wait in the order in which it came.
 * @param places - how much is done at once
 * @returns what does something when there is a place for it; it rejects as that does
 */
export function atMost(places: number): <Result>(act: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (act) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
