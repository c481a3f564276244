interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** What is done in groups. */
export interface GroupWork<Item, Result> {
  /** Does it for some, all or nothing; answers a result for each, in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** How many go together at most. */
  readonly most: number;
  /** Whether a failure may be due to one of them: each is tried by itself then. It must have changed nothing. */
  readonly isOfOne: (error: unknown) => boolean;
}

/**
 * Does work for many who come at the same time at once: whoever comes while it is done for others waits, and goes with all
 * who wait. Each is answered when its own work is done, and nobody waits while nothing is under way.
 */
export function inGroups<Item, Result>(work: GroupWork<Item, Result>): (item: Item) => Promise<Result> {
  const { run, most, isOfOne } = work;
  const waiting: Waiting<Item, Result>[] = [];
  let isRunning = false;

  async function serve(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(group.map(({ item }) => item));
      for (const [at, result] of results.entries()) group[at]?.resolve(result);
    } catch (error) {
      if (group.length > 1 && isOfOne(error)) for (const one of group) await serve([one]);
      else for (const { reject } of group) reject(error);
    }
  }

  async function serveAll(): Promise<void> {
    while (waiting.length > 0) await serve(waiting.splice(0, most));
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      // Who comes in the same turn of the event loop goes with it.
      setImmediate(() => void serveAll());
    });
}
