import { SPENDING_PATH, spendingResponse } from '../../http/spending/schemas.js';
import { none, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { networkArgument } from '../arguments/network-argument.js';
import type { Command } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printLine } from '../output/terminal.js';
import { keyNames } from '../seller/find-key.js';
import { namingQuery } from '../session/name-flags.js';
import { openSession, understood } from '../session/session.js';
import { idsOf } from './named-ids.js';
import { queryOf } from './query-flags.js';

const OTHER_CALLS =
  '"npx tollhouse calls" lists the others as well: free ones, and those that a pass or credit has paid';
const HOW_SERVED =
  'send the same request with the same payment again, which is never taken twice: "npx tollhouse pay --resume <file>" where ' +
  '"tollhouse pay" has kept it';

/** `tollhouse spending`: what keys have spent, and may still spend. */
export const spendingCommand: Command = {
  help: `tollhouse spending [--key <key>] [--project <project>] [--mode live|test] [--network <name>] [options]

What your keys have spent by key, project and token, what is left of their budgets, what is credit, and what your wallet has
paid and had no response for. Only calls that came with a payment count in it: those that were free, that a pass covered or that
credit has paid are listed by "tollhouse calls". Money and test money are told apart, and never added up. Sign in first.

  --key <key>           id, public part or name of a key of yours
  --project <project>   slug or id of what was called; of one that is not listed its id
  --mode <mode>         live: what was spent and paid on mainnet; test: test money
  --network <name>      what was spent and paid on this network, such as solana-devnet
  --from, --to <time>   a day (2026-01-31) or a time (2026-01-31T12:00:00Z); default: the last 30 days
  --json                prints what the server answers
  --server <url>        Tollhouse server (default: the one signed in to last)

Example:
  tollhouse spending --from 2026-01-01 --to 2026-02-01`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      ...SERVER_FLAGS,
      key: { type: 'string' },
      project: { type: 'string' },
      mode: { type: 'string' },
      network: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
    });
    none(positionals, 'tollhouse spending');
    const { server, json, ...filters } = values;
    if (filters.network !== undefined) networkArgument(filters.network);
    const session = openSession(server);
    const query = queryOf({ ...filters, ...(await idsOf(session, filters)) });
    const answered = await namingQuery(query, session.get(`${SPENDING_PATH}?${query}`));
    if (json) printJson(answered);
    else printSpending(answered, await keyNames(session));
    return 0;
  },
};

/** An id, with the name that it is known by. */
function withName(id: string, name: string | null | undefined): string {
  return name == null ? id : `${name} (${id})`;
}

function moneyOn({ amount, token, network }: Record<'amount' | 'token', string> & { network: string | null }): string {
  return `${amount} ${token}${network === null ? '' : ` on ${network}`}`;
}

function printSpending(answered: unknown, keys: ReadonlyMap<string, string>): void {
  const keyOf = (id: string) => withName(id, keys.get(id));
  const { spending, totals, budgets, credit, responses } = understood(spendingResponse, answered);
  if (spending.length === 0) console.log('nothing was spent');
  else {
    const moneyOf = (it: (typeof totals)[number]) => [String(it.calls), it.amount, it.token, it.network ?? ''];
    const rows = spending.map((it) => [keyOf(it.key_id), withName(it.project_id, it.project), ...moneyOf(it)]);
    const sums = totals.map((it) => ['total', '', ...moneyOf(it)]);
    printTable(['key', 'project', 'paid calls', 'spent', 'token', 'network'], [...rows, ...sums]);
    printLine(OTHER_CALLS);
  }
  for (const it of budgets) {
    printLine(`budget of ${keyOf(it.key_id)}: ${it.left} of ${it.limit} ${it.token} left (${it.window})`);
  }
  for (const it of credit) {
    printLine(`credit of ${keyOf(it.key_id)} at ${withName(it.project_id, it.project)}: ${moneyOn(it)}`);
  }
  for (const it of responses) {
    printLine(`paid ${it.paid_at} and not served yet: ${moneyOn(it)} (${it.payment_id}); ${HOW_SERVED}`);
  }
}
