import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import { DOLLARS } from '../../protocol/networks/tokens.js';
import { leastOf, UNLISTED_WAIT_MS } from './payout-minimum.js';
import { createPayouts, type Payouts, type PayoutsParts } from './payouts.js';

/** What payouts have in common, whatever network they are on. */
type SharedParts = Required<Pick<PayoutsParts, 'book' | 'now' | 'onFault'>>;

/** The payouts of one network. */
type OnNetwork = Payouts & Pick<EmbeddedFacilitator, 'network' | 'tokens'>;

/** The payouts on all networks whose facilitator has a split wallet; undefined where none has. What is owed is paid on its own. */
export function createNetworkPayouts(
  facilitators: readonly EmbeddedFacilitator[],
  shared: SharedParts,
): Payouts | undefined {
  const each = facilitators.flatMap((it) => payoutsOn(it, shared));
  const [first, ...others] = each;
  return first === undefined || others.length === 0 ? first : together(first, each);
}

function payoutsOn(
  { network, tokens, payouts: sender }: EmbeddedFacilitator,
  shared: SharedParts,
): readonly OnNetwork[] {
  if (sender === undefined) return [];
  const thresholds = new Map(
    tokens
      .filter(({ symbol }) => DOLLARS.has(symbol))
      .map(({ mint, decimals }) => [mint, 10n * 10n ** BigInt(decimals)]),
  );
  const bounds = { thresholds, minimums: leastOf(tokens), unlistedWaitMs: UNLISTED_WAIT_MS };
  return [{ network, tokens, ...createPayouts({ ...shared, ...bounds, sender }) }];
}

/** One book is kept of all: whoever has it answers for all, and each pays on its own network. */
function together(first: OnNetwork, each: readonly OnNetwork[]): Payouts {
  return {
    token(mint) {
      const own = each.find(({ tokens }) => tokens.some((it) => it.mint === mint)) ?? first;
      return own.token(mint);
    },
    async owed(projectId) {
      const sums = await Promise.all(each.map(async (it) => ({ it, owed: await it.owed(projectId) })));
      // Each says of the money of the others only that it is not theirs.
      const known = sums.flatMap(({ it, owed }) => owed.filter(({ network }) => network === it.network));
      const isElsewhere = ({ network }: (typeof known)[number]) => !each.some((it) => it.network === network);
      return [...known, ...(sums[0]?.owed.filter(isElsewhere) ?? [])];
    },
    isOwner: first.isOwner,
    list: first.list,
    find: first.find,
    async resolve(payout) {
      const own = each.find(({ network }) => network === payout.network);
      // Nobody here can ask the chain of a network that is not served any more.
      return own === undefined ? { status: 'open', payout } : own.resolve(payout);
    },
    request: async (projectId) => (await Promise.all(each.map((it) => it.request(projectId)))).flat(),
    async run() {
      const done = await Promise.allSettled(each.map((it) => it.run()));
      const failed = done.find((it) => it.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
    start(everyMs) {
      for (const it of each) it.start(everyMs);
    },
    async close() {
      await Promise.all(each.map((it) => it.close()));
    },
  };
}
