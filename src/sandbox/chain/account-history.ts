import type { Commitment } from '../../protocol/types.js';
import type { Runtime, RuntimeAccount } from '../runtime/runtime.js';
import type { Slots } from './slots.js';

/**
 * Accounts as they were at each commitment. The runtime holds the newest state only; this keeps, for every slot that is
 * not final yet, what the accounts changed in it were before.
 */
export interface AccountHistory {
  /** An account at a commitment, null when it does not exist there. */
  read(address: string, commitment: Commitment): RuntimeAccount | null;
  /** Notes that a transaction changed an account in the current slot. */
  changed(address: string, before: RuntimeAccount | null): void;
  /** Writes an account at every commitment at once, as if it had always been so. */
  write(address: string, state: RuntimeAccount): void;
  /** Addresses changed in a slot that is not final yet, or has just become so. */
  changedIn(slot: number): Iterable<string>;
  /** Addresses changed in any slot that is not final yet. */
  recent(): Set<string>;
}

/** Creates the history over a runtime. */
export function createAccountHistory(runtime: Runtime, slots: Slots): AccountHistory {
  const undo = new Map<number, Map<string, RuntimeAccount | null>>();

  slots.onSlot(() => {
    const final = slots.slot('finalized');
    for (const slot of undo.keys()) {
      if (slot < final) {
        undo.delete(slot);
      }
    }
  });

  return {
    read: (address, commitment) => {
      const visible = slots.slot(commitment);
      for (const [slot, before] of undo) {
        if (slot > visible && before.has(address)) {
          return before.get(address) ?? null;
        }
      }
      return runtime.account(address);
    },
    changed: (address, before) => {
      const changes = undo.get(slots.slot()) ?? new Map<string, RuntimeAccount | null>();
      undo.set(slots.slot(), changes);
      if (!changes.has(address)) {
        changes.set(address, before);
      }
    },
    write: (address, state) => {
      for (const changes of undo.values()) {
        changes.delete(address);
      }
      runtime.setAccount(address, state);
    },
    changedIn: (slot) => undo.get(slot)?.keys() ?? [],
    recent: () => new Set([...undo.values()].flatMap((changes) => [...changes.keys()])),
  };
}
