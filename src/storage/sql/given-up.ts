/** Holds that their holders have given up while the database did not answer: they are ended when it does again. */
export interface GivenUp {
  /**
   * Takes something for the first time, or anew, once what was given up of it has ended. Where that rejects nobody here has it,
   * whatever the database has made of it.
   * @param end - ends the hold, and tells whether there was any
   */
  taking<T>(hold: NamedHold, take: () => Promise<T>, end: () => Promise<boolean>): Promise<T>;
  /**
   * Ends a hold. Where that rejects it is over for its holder all the same.
   * @param end - ends it without what else was to be done. Default: the same
   */
  ending(hold: NamedHold, letGo: () => Promise<boolean>, end?: () => Promise<boolean>): Promise<boolean>;
  /** Ends now what was given up of something. Rejects as the database does. */
  endOf(id: string): Promise<void>;
}

/** A hold: on what, and the name that nobody else has. */
export interface NamedHold {
  readonly id: string;
  readonly lease: string;
}

interface Hold {
  readonly end: () => Promise<boolean>;
  /** Since when it is given up, and when it is looked at again, in milliseconds by a clock that only rises. */
  readonly since: number;
  dueAt: number;
}

const RETRY_MS = 1_000;
/** Longer than a statement that nobody waits for any more is under way in a database. */
const UNDER_WAY_MS = 15_000;
/** Longer than anything is held: it has ended by itself. */
const LONGEST_MS = 600_000;
/** Beyond so many a hold ends with its time. */
const MOST = 10_000;

/** Remembers what was given up; nothing of that keeps the process alive. */
export function createGivenUp(): GivenUp {
  const all = new Map<string, Map<string, Hold>>();
  let isTrying = false;

  function note({ id, lease }: NamedHold, end: Hold['end']): void {
    if (all.size >= MOST) return;
    const since = performance.now();
    const holds = all.get(id) ?? new Map<string, Hold>();
    all.set(id, holds.set(lease, { end, since, dueAt: since }));
    if (!isTrying) again();
  }

  function again(): void {
    isTrying = all.size > 0;
    if (isTrying) setTimeout(() => void endDue().then(again, again), RETRY_MS).unref();
  }

  async function endOne(id: string, lease: string, hold: Hold): Promise<void> {
    const heldFor = performance.now() - hold.since;
    const isOver = heldFor >= LONGEST_MS || (await hold.end()) || heldFor >= UNDER_WAY_MS;
    // What has taken it may be under way still, and take it after this.
    hold.dueAt = hold.since + UNDER_WAY_MS;
    const holds = all.get(id);
    if (isOver) holds?.delete(lease);
    if (holds?.size === 0) all.delete(id);
  }

  async function endDue(): Promise<void> {
    for (const [id, holds] of [...all]) {
      for (const [lease, hold] of [...holds]) {
        if (hold.dueAt <= performance.now()) await endOne(id, lease, hold);
      }
    }
  }

  async function endOf(id: string): Promise<void> {
    for (const [lease, hold] of [...(all.get(id) ?? [])]) await endOne(id, lease, hold);
  }

  async function orNote<T>(hold: NamedHold, work: () => Promise<T>, end: Hold['end']): Promise<T> {
    try {
      return await work();
    } catch (error) {
      note(hold, end);
      throw error;
    }
  }

  return {
    endOf,
    async taking(hold, take, end) {
      if (all.has(hold.id)) await endOf(hold.id);
      return orNote(hold, take, end);
    },
    ending: (hold, letGo, end = letGo) => orNote(hold, letGo, end),
  };
}
