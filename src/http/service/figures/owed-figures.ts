import type { Members } from '../../../facilitator/networks/joined-facilitator.js';
import { passesOwed } from '../../../gateway/figures/passes-owed.js';
import { labelOf } from '../../../gateway/token-label.js';
import { groupBy } from '../../../lib/group-by.js';
import { moneyOf } from '../../../protocol/networks/tokens.js';
import { type OwedFigures, type OwedInToken, readOwed } from '../../../storage/books/owed-figures.js';
import type { Storage } from '../../../storage/storage.js';
import { addRead } from './backlog-figures.js';
import type { FiguresHome } from './home.js';
import { restedReader } from './rested-reader.js';

/** It looks at every key with credit and every open pass: one part in two hundred of a database's time goes to it at most. */
const REST = { leastMs: 60_000, times: 200 };

/** Something of what is owed. */
interface Owed extends OwedInToken {
  readonly kind: 'credit' | 'passes';
}

/**
 * Adds what was paid and is not served yet, by token and network: money of a test is never among that of a live network. Tokens that
 * the facilitator of the network does not name are passed over: anybody may sell in one of his own making.
 */
export function addOwed(home: FiguresHome, { database }: Pick<Storage, 'database'>, members: Members): void {
  const look = restedReader(async () => allOwed(await readOwed(database, Date.now())), REST);
  addRead(home, look, [
    {
      name: 'tollhouse_owed_tokens',
      help: 'What was paid and is not served yet, in whole tokens: credit of keys, and what is left of passes',
      labels: ['kind', 'network', 'token'],
      rows: (all) =>
        all.flatMap(({ kind, network, mint, amount }) => {
          const { tokens = [] } = members.find((it) => it.network === network) ?? {};
          const token = tokens.find((it) => moneyOf(it.mint) === mint);
          if (token === undefined) return [];
          const { symbol, decimals } = labelOf(token, tokens);
          return [[{ kind, network, token: symbol }, Number(amount) / 10 ** decimals] as const];
        }),
    },
  ]);
}

/** One for each money, on each network. */
function allOwed({ credit, passes }: OwedFigures): readonly Owed[] {
  const ofPasses = [...groupBy(passes, ({ network }) => network)].flatMap(([network, some]) =>
    [...passesOwed(some).owed].map(([mint, amount]) => ({ kind: 'passes' as const, network, mint, amount })),
  );
  const ofCredit = [...groupBy(credit, (it) => `${it.network} ${moneyOf(it.mint)}`).values()].flatMap((some) =>
    some.slice(0, 1).map(({ network, mint }) => {
      const amount = some.reduce((sum, it) => sum + it.amount, 0n);
      return { kind: 'credit' as const, network, mint: moneyOf(mint), amount };
    }),
  );
  return [...ofCredit, ...ofPasses];
}
