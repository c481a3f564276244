import type { ContestantParts } from '../contestant.js';
import { createDriver, toldOf } from '../driver.js';
import { attacksOf } from '../strangers/attacks.js';
import { openStreams, stallBodies } from '../strangers/held-connections.js';
import { gatherHostile, type HostileSettings } from '../strangers/hostile-parties.js';

/** Three hostile owners and two hostile buyers, at work on one server at fixed rates, whatever becomes of it. */
export async function start(settings: HostileSettings): Promise<ContestantParts> {
  const parties = await gatherHostile(settings);
  const drivers = attacksOf(parties, settings).map(createDriver);
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
        const told = toldOf(drivers);
        await parties.close();
        return { ...told, stalled, streams, webhooks: parties.webhooks };
      },
    },
  };
}
