import { createHash } from 'node:crypto';
import { newId } from '../../lib/ids.js';
import { ALLOWANCE, type NewPass, type PassStore } from '../../storage/passes/pass-store.js';
import type { FreeCallRule, FreeCallWindow } from '../../storage/projects/project-routes.js';
import { projectScope } from '../prices/project-scope.js';

/** A call for which a free one is wanted. */
export interface FreeCallUse {
  readonly projectId: string;
  readonly keyId: string;
  /** Names the call: it takes one at most. */
  readonly requestId: string;
}

/** A free call that a key may have, in the window of this moment. */
export interface OpenFreeCall {
  readonly rule: FreeCallRule;
  /** When the next window begins, milliseconds since the epoch. */
  readonly resetsAt: number;
  /** Where it is counted, and under which name. */
  readonly passId: string;
  readonly requestId: string;
}

/** What came of it, and how many the key has left in this window. */
export type TakenFreeCall = OpenFreeCall & { readonly left: bigint; readonly ok: boolean };

/** Calls that keys have without paying, counted in the store of passes: each window of a key is a pass with so many uses. */
export interface FreeCalls {
  /** Tells where a free call of a key would be counted, and takes none. Rejects with `store_unavailable` when the store cannot be reached. */
  open(use: FreeCallUse, rule: FreeCallRule): Promise<OpenFreeCall>;
  /** Takes it, where the key has one left. Rejects in the same way. */
  take(free: OpenFreeCall): Promise<TakenFreeCall>;
  /** The call has not had its price. */
  giveBack(taken: TakenFreeCall): Promise<void>;
}

/**
 * Makes the free calls of a gateway's projects.
 * @param passes - where they are counted
 * @param now - clock, milliseconds since the epoch
 */
export function createFreeCalls(passes: Pick<PassStore, 'open' | 'debit' | 'giveBack'>, now: () => number): FreeCalls {
  return {
    async open({ requestId, ...use }, rule) {
      const { resetsAt, pass } = passFor(use, rule, now());
      const { id: passId } = await passes.open(pass);
      return { rule, resetsAt, passId, requestId };
    },
    async take(free) {
      const { passId, requestId } = free;
      const taken = await passes.debit({ passId, requestId, amount: 1n });
      return { ...free, ok: taken.ok, left: taken.ok ? taken.left : 0n };
    },
    async giveBack({ passId, requestId }) {
      await passes.giveBack(passId, requestId);
    },
  };
}

/** How many free calls are left, of how many, and until when: `99; limit=100; window=day; reset=3600`, in seconds from now. */
export function freeCallsHeader({ left, rule, resetsAt }: TakenFreeCall, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.ceil((resetsAt - now) / SECOND_MS));
  return `${left}; limit=${rule.count}; window=${rule.window}; reset=${seconds}`;
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

/**
 * The pass of a key's window: opened twice, by whichever instance, it is one. A rule that is changed begins anew: what a window held
 * is part of its name. It is the key's and no wallet's, so that it is in nobody's list of passes, and nobody shows it.
 */
function passFor({ projectId, keyId }: Omit<FreeCallUse, 'requestId'>, { count, window }: FreeCallRule, at: number) {
  const { begins, ends } = windowAt(window, at);
  const scope = `${projectScope(projectId)} free calls`;
  const digest = createHash('sha256')
    .update(JSON.stringify([scope, keyId, window, begins, count]))
    .digest('hex');
  const pass: NewPass = {
    ...{ id: newId('pas'), paymentId: `${ALLOWANCE}${digest}`, wallet: keyId, site: projectId, scope },
    ...{ kind: 'uses', bought: BigInt(count), left: BigInt(count), lastsMs: ends - at },
  };
  return { pass, resetsAt: ends };
}

function windowAt(window: FreeCallWindow, at: number): { readonly begins: number; readonly ends: number } {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (window) {
    case 'hour':
      return { begins: at - (at % HOUR_MS), ends: at - (at % HOUR_MS) + HOUR_MS };
    case 'day':
      return { begins: Date.UTC(year, month, day), ends: Date.UTC(year, month, day + 1) };
    case 'month':
      return { begins: Date.UTC(year, month), ends: Date.UTC(year, month + 1) };
  }
}
