import { loadLater } from '../../lib/work/load-later.js';
import type { SetupFinding } from '../setup/setup-finding.js';
import type { PaymentNeed } from '../setup/setup-target.js';
import type { SetupParts } from './setup-check.js';

const setupChecks = loadLater(() => import('./setup-check.js'));

/** What {@link setupChecker} works with. */
export type CheckedParts = Omit<SetupParts, 'feePayers'> & { readonly feePayers: ReadonlyMap<string, unknown> };

/** Makes what a facilitator checks its set-up with. */
export function setupChecker({ feePayers, ...chain }: CheckedParts) {
  const parts: SetupParts = { ...chain, feePayers: [...feePayers.keys()] };
  return async (needs: readonly PaymentNeed[], signal?: AbortSignal): Promise<readonly SetupFinding[]> =>
    (await setupChecks()).checkSetup(parts, needs, signal);
}
