import { setTimeout as pause } from 'node:timers/promises';
import { failing } from './doors-failing.js';
import { bad, badSettle, gated, looked, unpaid } from './doors-free.js';
import { hangsUp, manifold, poor, vanishing } from './doors-hostile.js';
import { called, native, proven, stolen } from './doors-native.js';
import { passes } from './doors-passes.js';
import { strangers } from './doors-strangers.js';
import { robbed, thief } from './doors-thief.js';
import { another, copies, type Door, facilitated, identified, official, presigned, streamed } from './doors-x402.js';
import type { OpenShop } from './open-shop.js';

/** Clients that go through all doors of a shop, in no order. */
export interface Load {
  /** Begins nothing new, and resolves when everything has come to its end. */
  rest(): Promise<void>;
  goOn(): void;
}

const DOORS: readonly (readonly [weight: number, door: Door])[] = [
  [4, official(2)],
  [1, official(1)],
  [5, presigned],
  [4, copies],
  [3, identified],
  [3, facilitated],
  [2, another],
  [2, streamed],
  [4, native],
  [4, proven],
  [4, called],
  [1, stolen],
  [3, strangers],
  [4, passes],
  [5, failing],
  [8, hangsUp],
  [5, manifold],
  [6, thief],
  [3, robbed],
  [1, poor],
  [1, vanishing],
  [2, gated(true)],
  [1, gated(false)],
  [4, unpaid],
  [3, bad],
  [2, badSettle],
  [2, looked],
];
const MOST_REST_MS = 400;

/** Begins to buy. */
export function startLoad(shop: OpenShop): Load {
  let isOn = true;
  let working: Promise<unknown> = Promise.resolve();

  async function work(buyer: OpenShop['buyers'][number]): Promise<void> {
    while (isOn) {
      const door = shop.chance.weighted(DOORS);
      try {
        await door(shop, buyer);
      } catch (error) {
        shop.findings.broke(`${shop.name}: a client met ${error instanceof Error ? error.stack : String(error)}`);
      }
      await pause(shop.chance.between(0, MOST_REST_MS));
    }
  }

  const load = {
    async rest() {
      isOn = false;
      await working;
    },
    goOn() {
      isOn = true;
      working = Promise.all(shop.buyers.map(work));
    },
  };
  load.goOn();
  return load;
}
