import { loadLater } from '../../lib/work/load-later.js';
import type { FacilitatorParts } from '../assemble-facilitator.js';
import type { SetupParts } from './setup-check.js';

const setupChecks = loadLater(() => import('./setup-check.js'));

/** What a facilitator checks its set-up with. */
export function setupChecker({ feePayers, ...chain }: CheckedParts): FacilitatorParts['checkSetup'] {
  const parts: SetupParts = { ...chain, feePayers: [...feePayers.keys()] };
  return async (needs, signal) => (await setupChecks()).checkSetup(parts, needs, signal);
}

type CheckedParts = Omit<SetupParts, 'feePayers'> & { readonly feePayers: ReadonlyMap<string, unknown> };
