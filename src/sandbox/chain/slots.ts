import type { Commitment } from '../../protocol/types.js';

/** What a slot listener is told. */
export type SlotListener = (slot: number) => void;

/** The chain's clock: one slot is one block. */
export interface Slots {
  /** The newest slot at a commitment; `processed` by default. */
  slot(commitment?: Commitment): number;
  /** Height of the newest block at a commitment; `processed` by default. */
  height(commitment?: Commitment): number;
  /** How settled a slot is by now. */
  commitmentOf(slot: number): Commitment;
  /** Unix time of a slot in seconds, null for a slot before the start or still to come. */
  blockTime(slot: number): number | null;
  /** Goes on by one slot and tells the listeners. */
  advance(): void;
  /** Calls back on every new slot, in the order of registration, until the returned function is called. */
  onSlot(listener: SlotListener): () => void;
  /** Stops the ticking. */
  pause(): void;
  /** Ticks again, if the chain ticks at all. */
  resume(): void;
}

// Heights lag behind slots on a real chain (some slots have no block): clients that mix the two up must fail here too.
const FIRST_HEIGHT = 5_000;
const SLOTS_AHEAD = 250;

/**
 * Creates the clock of a chain, standing still until it is resumed.
 *
 * @param slotMs - milliseconds per slot; 0 leaves the advancing to the caller
 * @param confirmedAfterSlots - slots until a slot counts as confirmed
 * @param finalizedAfterSlots - slots until a slot counts as finalized
 */
export function createSlots(slotMs: number, confirmedAfterSlots: number, finalizedAfterSlots: number): Slots {
  const lag: Record<Commitment, number> = {
    processed: 0,
    confirmed: confirmedAfterSlots,
    finalized: finalizedAfterSlots,
  };
  const first = FIRST_HEIGHT + SLOTS_AHEAD;
  const times = [unixNow()];
  const listeners = new Set<SlotListener>();
  let current = first;
  let timer: NodeJS.Timeout | undefined;

  const slots: Slots = {
    slot: (commitment = 'processed') => current - lag[commitment],
    height: (commitment = 'processed') => current - lag[commitment] - SLOTS_AHEAD,
    commitmentOf: (slot) => {
      const age = current - slot;
      return age >= finalizedAfterSlots ? 'finalized' : age >= confirmedAfterSlots ? 'confirmed' : 'processed';
    },
    blockTime: (slot) => times[slot - first] ?? null,
    advance: () => {
      current += 1;
      times.push(unixNow());
      for (const listener of listeners) {
        listener(current);
      }
    },
    onSlot: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    pause: () => {
      clearInterval(timer);
      timer = undefined;
    },
    resume: () => {
      if (slotMs > 0 && timer === undefined) {
        timer = setInterval(slots.advance, slotMs);
      }
    },
  };
  return slots;
}

function unixNow(): number {
  return Math.floor(Date.now() / 1000);
}
