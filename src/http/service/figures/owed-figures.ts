import { type Members, membersOf } from '../../../facilitator/networks/joined-facilitator.js';
import type { Facilitator } from '../../../facilitator/types.js';
import { passesOwed } from '../../../gateway/figures/passes-owed.js';
import { responsesOwed } from '../../../gateway/figures/responses-owed.js';
import { labelOf } from '../../../gateway/token-label.js';
import { groupBy } from '../../../lib/group-by.js';
import { moneyOf } from '../../../protocol/networks/tokens.js';
import { type OwedFigures, type OwedInToken, readOwed } from '../../../storage/books/owed-figures.js';
import { addRead } from './backlog-figures.js';
import { type FiguresHome, MILLISECONDS } from './home.js';
import { restedReader } from './rested-reader.js';

/** It looks at every key with credit and every open pass: one part in two hundred of a database's time goes to it at most. */
const REST = { leastMs: 60_000, times: 200 };

/** Something of what is owed. */
interface Owed extends OwedInToken {
  readonly kind: 'credit' | 'passes' | 'responses';
}

/**
 * Adds what was paid and is not served yet, by token and network: money of a test is never among that of a live network. Tokens that
 * the facilitator of the network does not name are passed over: anybody may sell in one of his own making.
 */
export function addOwed(home: FiguresHome, facilitator: Facilitator): void {
  const { storage } = facilitator;
  if (storage === undefined) return;
  const { database } = storage;
  const members = membersOf(facilitator);
  const look = restedReader(() => readOwed(database, Date.now()), REST);
  addRead(home, look, [
    {
      name: 'tollhouse_owed_tokens',
      help: 'What was paid and is not served yet, in whole tokens: credit of keys, what is left of passes and of what failed, and responses that nobody has come for',
      labels: ['kind', 'network', 'token'],
      rows: (read) => allOwed(read).flatMap((it) => inTokens(members, it)),
    },
    {
      name: 'tollhouse_owed_responses',
      help: 'Payments that have landed and whose response nobody has had',
      labels: ['network'],
      rows: ({ responses }) => members.map(({ network }) => [{ network }, openOn(responses, network).open] as const),
    },
    {
      name: 'tollhouse_owed_responses_oldest_seconds',
      help: 'Age of the oldest of them',
      labels: ['network'],
      rows: ({ responses }) =>
        members.map(({ network }) => {
          const { oldestAt } = openOn(responses, network);
          return [{ network }, oldestAt === undefined ? 0 : Math.max(0, Date.now() - oldestAt) / MILLISECONDS] as const;
        }),
    },
  ]);
}

function openOn(responses: OwedFigures['responses'], network: string) {
  return responsesOwed(responses.filter((it) => it.network === network));
}

function inTokens(members: Members, { kind, network, mint, amount }: Owed) {
  const { tokens = [] } = members.find((it) => it.network === network) ?? {};
  const token = tokens.find((it) => moneyOf(it.mint) === mint);
  if (token === undefined) return [];
  const { symbol, decimals } = labelOf(token, tokens);
  return [[{ kind, network, token: symbol }, Number(amount) / 10 ** decimals] as const];
}

/** One for each money, on each network. */
function allOwed({ credit, passes, responses }: OwedFigures): readonly Owed[] {
  const ofPasses = [...groupBy(passes, ({ network }) => network)].flatMap(([network, some]) =>
    [...passesOwed(some).owed].map(([mint, amount]) => ({ kind: 'passes' as const, network, mint, amount })),
  );
  return [...summed('credit', credit), ...ofPasses, ...summed('responses', responses)];
}

function summed(kind: Owed['kind'], owed: readonly OwedInToken[]): readonly Owed[] {
  return [...groupBy(owed, (it) => `${it.network} ${moneyOf(it.mint)}`).values()].flatMap((some) =>
    some.slice(0, 1).map(({ network, mint }) => {
      const amount = some.reduce((sum, it) => sum + it.amount, 0n);
      return { kind, network, mint: moneyOf(mint), amount };
    }),
  );
}
