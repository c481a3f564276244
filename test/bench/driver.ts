/** Something hostile that is done again and again. */
export interface Attack {
  readonly name: string;
  /** How often, by all of them together. */
  readonly perSecond: number;
  act(): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
}

const TICK_MS = 5;
/** Of each kind so many are under way at most; what is beyond is not sent. */
const MOST_AT_ONCE = 100;

/** Does one attack, again and again. */
export interface Driver {
  readonly name: string;
  /** How often each answer came. */
  readonly answers: ReadonlyMap<string, number>;
  offered(): number;
  withheld(): number;
  start(): void;
  stop(): void;
}

/** Sends at a rate, whether answers come or not. */
export function createDriver({ name, perSecond, act }: Attack): Driver {
  const answers = new Map<string, number>();
  let [offered, withheld, underWay, owed] = [0, 0, 0, 0];
  let timer: NodeJS.Timeout | undefined;

  async function once(): Promise<void> {
    underWay += 1;
    const answer = await act().then(
      ({ status, body }) => [status, body['code']].filter((it) => it !== undefined).join(' '),
      (error: unknown) => String(Reflect.get(Object(error), 'code') ?? error),
    );
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    underWay -= 1;
  }

  function tick(): void {
    for (; owed >= 1; owed -= 1) {
      if (underWay >= MOST_AT_ONCE) {
        withheld += 1;
        continue;
      }
      offered += 1;
      void once();
    }
  }

  return {
    ...{ name, answers, offered: () => offered, withheld: () => withheld },
    start() {
      let last = performance.now();
      timer = setInterval(() => {
        const now = performance.now();
        owed += ((now - last) / 1_000) * perSecond;
        last = now;
        tick();
      }, TICK_MS);
    },
    stop: () => clearInterval(timer),
  };
}

/** What attackers tell of themselves. */
export interface Told {
  readonly offered: number;
  /** Since too many were under way. */
  readonly withheld: number;
  /** How often each answer came, by the name of the attack. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** All that drivers have sent so far, and what they were answered. */
export function toldOf(drivers: readonly Driver[]): Told {
  const sum = (pick: (it: Driver) => number) => drivers.reduce((all, it) => all + pick(it), 0);
  return {
    offered: sum((it) => it.offered()),
    withheld: sum((it) => it.withheld()),
    answers: Object.fromEntries(drivers.map(({ name, answers }) => [name, Object.fromEntries(answers)])),
  };
}
