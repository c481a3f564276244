import type { z } from 'zod';
import { fillPath } from '../../http/framework/path.js';
import {
  MARKETPLACE_PATHS,
  type marketItemResponse,
  marketProjectResponse,
  marketResponse,
} from '../../http/projects/marketplace-schemas.js';
import { plain } from '../../lib/plain-text.js';
import { terminalExample } from '../../pages/market/listing-examples.js';
import { readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { counted } from '../output/counted.js';
import { printPrices, printRoutes } from '../output/price-text.js';
import { printTable } from '../output/table.js';
import { printJson, printLine, printStep } from '../output/terminal.js';
import { serverOf } from '../session/credentials.js';
import { namingQuery } from '../session/name-flags.js';
import { readJson, send } from '../session/server-client.js';
import { understood } from '../session/session.js';
import { queryOf, readLimit } from './query-flags.js';

const NOTHING_FITS = 'nothing is listed that fits; "npx tollhouse marketplace list" shows all';
const NOTHING_LISTED = 'nothing is listed; projects of your own are shown by "npx tollhouse projects list"';

type Item = z.output<typeof marketItemResponse>;

/** `tollhouse marketplace`: what can be bought. */
export const marketplaceCommand: Command = {
  help: `tollhouse marketplace [list] [<words>] [--tag <tag>] [--token <token>] [--min-price <amount>]
                      [--max-price <amount>] [--mode live|test] [--sort calls|price|new]
tollhouse marketplace show <slug>

APIs that are listed, with their prices, all of them or those with the words; "show" tells more of one, and how it is called.
Needs no sign-in.

  --tag <tag>          with this tag
  --token <token>      paid in this token, a symbol or a mint
  --min-price <amount> --max-price <amount>   between what its cheapest calls cost, in whole tokens
  --mode <mode>        live: what is sold on mainnet; test: for test money (default: live, where the server has mainnet)
  --sort <order>       calls (most wallets that paid; the default), price or new
  --limit <n>          how many, 1 to 100 (default 20)
  --json               prints what the server answers
  --server <url>       Tollhouse server (default: the one signed in to last)

Examples:
  tollhouse marketplace weather --max-price 0.05 --token USDC
  tollhouse marketplace show weather`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      ...SERVER_FLAGS,
      tag: { type: 'string' },
      token: { type: 'string' },
      'min-price': { type: 'string' },
      'max-price': { type: 'string' },
      mode: { type: 'string' },
      sort: { type: 'string' },
      limit: { type: 'string', default: '20' },
    });
    const server = serverOf(values.server);
    const [first, slug, ...rest] = positionals;
    if (first === 'show') {
      if (slug === undefined || rest.length > 0) throw new UsageError('npx tollhouse marketplace show <slug>');
      await show(server, slug, values.json);
      return 0;
    }
    const { tag, token, mode, sort, 'min-price': min_price, 'max-price': max_price } = values;
    const words = first === 'list' ? positionals.slice(1) : positionals;
    const q = words.length === 0 ? undefined : words.join(' ');
    const query = queryOf({ q, tag, token, min_price, max_price, mode, sort, limit: readLimit(values.limit) });
    const asked = send(server, { method: 'GET', path: `${MARKETPLACE_PATHS.all}?${query}` });
    const answered = await namingQuery(query, asked.then(readJson));
    if (values.json) printJson(answered);
    else
      printListed(
        answered,
        [q, tag, token, min_price, max_price].some((it) => it !== undefined),
      );
    return 0;
  },
};

function printListed(answered: unknown, isNarrowed: boolean): void {
  const { data } = understood(marketResponse, answered);
  if (data.length === 0) return printLine(isNarrowed ? NOTHING_FITS : NOTHING_LISTED);
  const rows = data.map((it) => [it.slug, it.name, costOf(it), String(it.calls), it.tags.join(',')]);
  printTable(['slug', 'name', 'price', 'calls', 'tags'], rows);
}

async function show(server: string, slug: string, asJson: boolean | undefined): Promise<void> {
  const answered = await readJson(
    await send(server, { method: 'GET', path: fillPath(MARKETPLACE_PATHS.one, { slug }) }),
  );
  if (asJson) return printJson(answered);
  const project = understood(marketProjectResponse, answered);
  printStep(project.slug, project.name);
  if (project.description !== null) printStep('', project.description);
  if (project.status === 'down')
    printStep('down', 'its API does not answer at the moment; nothing is sold until it does');
  printPrices(project.pricing);
  printRoutes(project.routes);
  const { free_calls: free } = project;
  if (free !== null) printStep('free', `${counted(free.count, 'call')} of each key a ${free.window}`);
  printStep('url', project.url);
  printStep(
    'calls',
    `${project.calls}, ${project.p95_ms === null ? 'durations not known' : `p95 ${project.p95_ms} ms`}`,
  );
  console.log();
  printLine('Called with a key of yours (npx tollhouse keys create --name <name>) and the wallet that pays:');
  console.log();
  console.log(terminalExample(project.example).split('\n').map(plain).join('\n'));
}

function costOf({ pricing, price_range: { from, to }, has_free_routes: isSomeFree }: Item): string {
  const { amount, token, buys } = pricing;
  const cost = from === to ? `${amount} ${token} for ${buys}` : `${from}–${to} ${token}`;
  return isSomeFree ? `${cost}, or free` : cost;
}
