import type { ContestantParts } from '../contestant.js';
import { type Attack, attacksOf } from '../strangers/attacks.js';
import { openStreams, stallBodies } from '../strangers/holders.js';
import { gatherHostile, type HostileSettings } from '../strangers/hostile-parties.js';

const TICK_MS = 5;
/** Of each kind so many are under way at most; what is beyond is not sent. */
const MOST_AT_ONCE = 100;

/** Three hostile owners and two hostile buyers, at work on one server at fixed rates, whatever becomes of it. */
export async function start(settings: HostileSettings): Promise<ContestantParts> {
  const parties = await gatherHostile(settings);
  const drivers = attacksOf(parties, settings).map(createDriver);
  const sum = (pick: (it: Driver) => number) => drivers.reduce((all, it) => all + pick(it), 0);
  let held: ReturnType<typeof stallBodies>[] = [];
  return {
    url: '',
    asks: {
      start() {
        held = [stallBodies(settings.url, parties), openStreams(settings.url, parties)];
        for (const it of drivers) it.start();
      },
      async stop() {
        for (const it of drivers) it.stop();
        const [stalled, streams] = held.map((it) => it.count());
        for (const it of held) it.stop();
        const answers = Object.fromEntries(drivers.map(({ name, answers }) => [name, Object.fromEntries(answers)]));
        const told = { offered: sum((it) => it.offered()), withheld: sum((it) => it.withheld()) };
        await parties.close();
        return { ...told, stalled, streams, webhooks: parties.webhooks, answers };
      },
    },
  };
}

interface Driver {
  readonly name: string;
  /** How often each answer came. */
  readonly answers: ReadonlyMap<string, number>;
  offered(): number;
  withheld(): number;
  start(): void;
  stop(): void;
}

/** Sends at a rate, whether answers come or not. */
function createDriver({ name, perSecond, act }: Attack): Driver {
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
