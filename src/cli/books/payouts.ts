import { TollhouseError } from '../../errors/errors.js';
import { leastOf, owedNow, UNLISTED_WAIT_MS } from '../../gateway/payouts/payout-minimum.js';
import { shownPayoutState } from '../../gateway/payouts/payout-state.js';
import { addressOf } from '../../protocol/address.js';
import type { Token } from '../../protocol/types.js';
import type { ChainConfiguration } from '../../server/configuration/chain-configuration.js';
import { readConfiguration } from '../../server/configuration/configuration.js';
import { readKeypair } from '../../solana/keypair.js';
import { RpcError } from '../../solana/rpc/rpc.js';
import type { OwedSum, PayoutRecord, PayoutStore } from '../../storage/payouts/payout-store.js';
import type { Storage } from '../../storage/storage.js';
import { none, readArguments } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { printTable } from '../output/table.js';
import { printJson, printStep } from '../output/terminal.js';
import { OWNER_PAYOUTS_HELP, ownerPayouts } from '../seller/payouts.js';
import { type Action, pickAction } from '../sub-command.js';
import { findToken, moneyText } from './booked-token.js';
import { configuredOn, NETWORK_HELP } from './configured-network.js';
import { requireSchema } from './current-schema.js';
import { resolveOne, resolveUnfinished } from './resolve-payouts.js';
import { withStorage } from './with-storage.js';

const NAME = 'tollhouse payouts';

const actions: Readonly<Record<string, Action>> = { list, resolve, show: ownersOnly, pay: ownersOnly };

/** `tollhouse payouts`: what is stuck of the payouts of splits, for those who run the server. */
export const payoutsCommand: Command = {
  help: `${OWNER_PAYOUTS_HELP}

For those who run the server, in its database:

tollhouse payouts [list] [--json]
tollhouse payouts resolve [<id>] [--network <name>]
tollhouse payouts resolve --failed-for-certain <id> [--network <name>]

list      the payouts that are not over, and what is owed and held back, with the reasons,
          below_minimum (too little for a transaction yet) among them; and all that wallets hold which are not
          the one that is paid now (split_wallet_replaced)
resolve   asks every node of SOLANA_RPC_URL, its history searched, what became of one payout that was sent,
          or of all of them, and books what the chain says. What no node can prove stays as it is:
          name one whose history reaches back to when the payout was signed, and resolve it again.
          Without an id it also books what a SPLIT_KEYPAIR has paid out and the books do not know, as it is after
          a backup was restored: until then nobody is paid again whom it has paid (unknown_payout)

  --failed-for-certain <id>   books it as failed although no node can prove it. What it was to pay is owed again,
                              and IS PAID A SECOND TIME if it has landed after all. Refused while it can still
                              land, and when a node has seen it. Look the signature up in an archive first
  --network <name>            ${NETWORK_HELP}
  --json                      for programs

Exit code of resolve: 0: nothing is open any more; 1: something still is; 2: it could not be found out.

Environment, as of the server:
  DATABASE_URL                          default sqlite:./data/tollhouse.db
  SOLANA_NETWORK, FACILITATOR_KEYPAIR   cluster and key; for resolve
  SOLANA_RPC_URL                        RPC endpoints, separated by commas; all of them are asked
  SPLIT_KEYPAIR                         the wallets that pay; what any but the first one holds is listed until it is paid
  TOKENS_FILE                           symbols and decimals of further tokens`,
  async run(args) {
    const [name] = args;
    if (args.some((it) => /^--project(?:=|$)/.test(it))) return ownerPayouts(args);
    if (args[0]?.startsWith('--failed-for-certain')) {
      throw new UsageError(
        `--failed-for-certain belongs after "resolve": npx ${NAME} resolve --failed-for-certain <id>`,
      );
    }
    if (name === undefined || name.startsWith('-')) return list(args);
    return pickAction(NAME, actions, name)(args.slice(1));
  },
};

async function ownersOnly(): Promise<number> {
  throw new UsageError(`say whose: npx ${NAME} list|show|pay|resolve --project <project>`);
}

async function list(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, { json: { type: 'boolean' } });
  none(positionals, `${NAME} list [--json]`);
  const { tokens, chain } = readConfiguration(process.env);
  await withBook(async ({ payouts: book }) => {
    const [open, held] = [await book.unfinished(), await heldBack(book, walletsOf(chain), tokens)];
    const amountIn: AmountIn = (of, amount) => moneyText(amount, of, tokens);
    if (values.json) printJson({ payouts: open.map(payoutJson), held_back: held.map(heldJson) });
    else printBoth(open, held, amountIn);
  });
  return 0;
}

/** What is held back, and what waits until it is worth a transaction, as the API tells it; the oldest first. */
async function heldBack(
  book: PayoutStore,
  wallets: readonly string[],
  tokens: readonly Token[],
): Promise<readonly OwedSum[]> {
  const listed = await book.heldBack();
  const keyOf = ({ projectId, network, wallet: of, mint, recipient }: OwedSum): string =>
    [projectId, network, of, mint, recipient].join();
  const known = new Set(listed.map(keyOf));
  const rest = (await book.owedByAll()).filter((it) => !known.has(keyOf(it)));
  const isReplaced = ({ wallet }: OwedSum): boolean => wallets.length > 0 && !wallets.includes(wallet);
  const others = rest.filter((it) => !isReplaced(it));
  const named = others.flatMap(({ mint, network }) => findToken(mint, network, tokens) ?? []);
  const rules = { minimums: leastOf(named), unlistedWaitMs: UNLISTED_WAIT_MS };
  const waiting = others
    .map((it) => owedNow(it, rules, Date.now()))
    .filter(({ held, wallet }) => held !== undefined || wallets.indexOf(wallet) > 0);
  return [...listed, ...rest.filter(isReplaced), ...waiting].sort((a, b) => a.oldestAt - b.oldestAt);
}

type AmountIn = (of: PayoutRecord | OwedSum, amount: bigint) => string;

function printBoth(open: readonly PayoutRecord[], held: readonly OwedSum[], amountIn: AmountIn): void {
  if (open.length === 0) printStep('payouts', 'all are over');
  else {
    printTable(
      ['PAYOUT', 'STATE', 'AMOUNT', 'PROJECT', 'SINCE', 'REASON', 'SIGNATURE'],
      open.map((it) => [
        ...[it.id, shownPayoutState(it), amountIn(it, it.total), it.projectId, timeOf(it.createdAt)],
        ...[it.reason ?? '', it.signed?.signature ?? ''],
      ]),
    );
  }
  if (held.length === 0) return printStep('owed', 'nothing is held back');
  printTable(
    ['OWED TO', 'AMOUNT', 'PROJECT', 'SINCE', 'REASON', 'UNTIL'],
    held.map((it) => [
      ...[it.recipient, amountIn(it, it.amount), it.projectId, timeOf(it.oldestAt)],
      ...[heldReason(it), it.heldUntil === 0 ? '' : timeOf(it.heldUntil)],
    ]),
  );
}

/** What is listed for no other reason is held by a wallet that is not the one that is paid now. */
const heldReason = ({ held }: OwedSum): string => held ?? 'split_wallet_replaced';

function payoutJson(it: PayoutRecord) {
  const legs = it.legs.map(({ recipient, amount }) => ({ recipient, amount_atomic: String(amount) }));
  const { id, projectId, network, wallet, mint, total, signed, reason, createdAt } = it;
  const rest = { network, wallet, mint, amount_atomic: String(total), legs };
  const signature = signed?.signature ?? null;
  return {
    id,
    state: shownPayoutState(it),
    reason: reason ?? null,
    project_id: projectId,
    ...rest,
    signature,
    created_at: timeOf(createdAt),
  };
}

function heldJson(it: OwedSum) {
  const { projectId, network, wallet, mint, recipient, amount, oldestAt } = it;
  const rest = { network, wallet, mint, amount_atomic: String(amount), oldest_at: timeOf(oldestAt) };
  return { recipient, reason: heldReason(it), project_id: projectId, ...rest };
}

async function resolve(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, {
    'failed-for-certain': { type: 'string' },
    network: { type: 'string' },
  });
  const [id, ...more] = positionals;
  const certain = values['failed-for-certain'];
  if (more.length > 0 || (certain !== undefined && id !== undefined)) {
    throw new UsageError(`one payout at a time: npx ${NAME} resolve [<id>], or --failed-for-certain <id>`);
  }
  const { chain } = configuredOn(values.network);
  if (chain === undefined) {
    throw new UsageError('no chain is configured: set SOLANA_NETWORK, FACILITATOR_KEYPAIR and SOLANA_RPC_URL');
  }
  const named = certain ?? id;
  try {
    return await withBook(({ payouts: book }) =>
      named === undefined
        ? resolveUnfinished(book, chain, walletsOf(chain))
        : resolveOne(book, chain, named, certain !== undefined),
    );
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof TollhouseError)) throw error;
    console.error(`tollhouse: it could not be found out: ${error.message}`);
    return 2;
  }
}

async function withBook<T>(work: (stores: Storage['gateway']) => Promise<T>): Promise<T> {
  const { databaseUrl } = readConfiguration(process.env);
  await requireSchema(databaseUrl);
  return withStorage(databaseUrl, async ({ gateway }) => {
    // What has come in counts as owed before anything is compared with what the wallet holds.
    while ((await gateway.payouts.accrue(200)) > 0);
    return work(gateway);
  });
}

function walletsOf(chain: ChainConfiguration | undefined): readonly string[] {
  return (chain?.splitKeypair ?? []).map((key) => addressOf(readKeypair(key, NAME, 'SPLIT_KEYPAIR').publicKey));
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
