import type { ContestantParts } from '../contestant.js';
import { createDriver, toldOf } from '../driver.js';
import { floodOf } from '../holders/flood.js';
import { openClient } from '../strangers/client.js';

interface Settings {
  /** The site under attack. */
  readonly url: string;
  /** Loopback addresses that it comes from. */
  readonly addresses: readonly string[];
}

const CONNECTIONS = 30;

/** Sign-ins, challenges, look-ups and garbage credentials at fixed rates, whatever becomes of them. */
export async function start({ url, addresses }: Settings): Promise<ContestantParts> {
  const clients = addresses.map((address) => openClient(url, address, CONNECTIONS));
  const drivers = floodOf(clients).map(createDriver);
  return {
    url: '',
    asks: {
      start() {
        for (const it of drivers) it.start();
      },
      async stop() {
        for (const it of drivers) it.stop();
        const told = toldOf(drivers);
        await Promise.all(clients.map((it) => it.close()));
        return told;
      },
    },
  };
}
