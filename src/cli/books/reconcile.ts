import { TollhouseError } from '../../errors/errors.js';
import { PUBLIC_RPC } from '../../facilitator/facilitator-options.js';
import type { Finding } from '../../facilitator/reconcile/finding.js';
import { type Reconciliation, reconcile } from '../../facilitator/reconcile/reconcile.js';
import { addressOf } from '../../protocol/address.js';
import type { ChainConfiguration } from '../../server/configuration/chain-configuration.js';
import { readKeypair } from '../../solana/keypair.js';
import { RpcError } from '../../solana/rpc/rpc.js';
import { createSolanaRpc } from '../../solana/rpc/rpc-client.js';
import { createBookReaders } from '../../storage/books/book-readers.js';
import { withoutPassword } from '../../storage/sql/database-url.js';
import type { Storage } from '../../storage/storage.js';
import { readArguments } from '../arguments/arguments.js';
import { readTime } from '../arguments/time-argument.js';
import { type Command, UsageError } from '../command.js';
import { counted } from '../output/counted.js';
import { createProgress } from '../output/progress.js';
import { printStep, secondsSince } from '../output/terminal.js';
import { reportError } from '../report-error.js';
import { configuredOn, NETWORK_HELP } from './configured-network.js';
import { lookAtSchema } from './current-schema.js';
import { withStorage } from './with-storage.js';

const WHERE = 'tollhouse reconcile';
const NOT_RESTORED =
  '--book-lost is for books that were restored from a backup, by "npx tollhouse db restore" or "npx tollhouse db restored"';

/** `tollhouse reconcile`: whether books and chain say the same. */
export const reconcileCommand: Command = {
  help: `tollhouse reconcile [--from <time>] [--quick] [--open-passes] [--book-lost] [--network <name>] [--json]

Compares all money in the database with the chain, and lists what differs, each with its ids and what to do:
  - payments: what is booked as paid is on the chain, succeeded, and pays what it is booked for, by whom it is booked
    for; what is booked as failed or expired has not landed, or does not pay; requests are paid by what they name
  - shares: what is owed of each payment is booked once, sums to it, and is owed for nothing else
  - payouts: each that is booked as paid has moved its shares on the chain; none that failed has landed
  - refunds: each that is booked as paid has paid its payer on the chain what it took of his credit; none that failed has landed
  - transactions: what FACILITATOR_KEYPAIR has paid the fee of, what was taken out of a split wallet, and what the refund wallet
    has paid for a refund, is in the books; token accounts that FACILITATOR_KEYPAIR has made, and nothing else with them, are
    told in a note with what they cost, and are no difference
  - balances: a split wallet holds what is owed and not paid out; more than that is told and is no difference
  - passes: each payment that has bought one has made it, as it was to be, and of its uses none was lost or made
  - events, charges of calls, and sums of projects and keys are those of the payments
Payments, payouts and refunds that are not over yet are listed too; they are no difference.

  --from <time>   a day (2026-01-31) or a time (2026-01-31T12:00:00Z); default: since the first payment in the books
  --quick         does not read transactions, which costs one RPC call for each payment, payout, refund and unpaid request
  --open-passes   opens passes that were paid for and are missing; without it nothing is changed
  --book-lost     after a backup was restored: books payments that FACILITATOR_KEYPAIR has settled since the backup, as used
  --network <name>  ${NETWORK_HELP}
  --json          a line of JSON for each that is open, worth a note or different, and one for the result

Exit code 0: the same; 1: something differs; 2: it could not be found out.
The RPC must keep the history of the whole time. It is the server's configuration that counts:

  DATABASE_URL                          default sqlite:./data/tollhouse.db
  SOLANA_NETWORK, FACILITATOR_KEYPAIR   cluster, and the key that pays network fees
  SPLIT_KEYPAIR                         the keys that hold what is owed to several recipients
  REFUND_KEYPAIR                        the key of the wallet that pays refunds
  SOLANA_RPC_URL                        your RPC provider`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      from: { type: 'string' },
      quick: { type: 'boolean' },
      'open-passes': { type: 'boolean' },
      'book-lost': { type: 'boolean' },
      network: { type: 'string' },
      json: { type: 'boolean' },
    });
    if (positionals.length > 0)
      throw new UsageError(`"${positionals.join(' ')}" is not understood; npx ${WHERE} --help`);
    const from = readTime('--from', values.from);
    try {
      const wanted = {
        from,
        network: values.network,
        amounts: values.quick !== true,
        opensPasses: values['open-passes'] === true,
        booksLost: values['book-lost'] === true,
      };
      return await compare(wanted, values.json ? asJson : asText);
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof TollhouseError)) throw error;
      reportError(error, values.json === true, 'books and chain could not be compared: ');
      return 2;
    }
  },
};

async function compare(wanted: Wanted, told: Told): Promise<number> {
  const { databaseUrl, chain } = configuredOn(wanted.network);
  if (chain === undefined) {
    throw new UsageError('no chain is configured: set SOLANA_NETWORK, FACILITATOR_KEYPAIR and SOLANA_RPC_URL');
  }
  const { pending } = await lookAtSchema(databaseUrl);
  if (pending.length > 0) throw new UsageError('the schema is not up to date; npx tollhouse db migrate');
  return withStorage(databaseUrl, async (storage) => {
    const rpc = createSolanaRpc({ urls: chain.rpcUrl ?? PUBLIC_RPC[chain.network] });
    try {
      told.begin(withoutPassword(databaseUrl), chain.network);
      const found = await run(storage, rpc, chain, wanted, told);
      told.end(found);
      return found.differences === 0 ? 0 : 1;
    } finally {
      await rpc.close();
    }
  });
}

interface Wanted {
  /** By name; undefined: the first. */
  readonly network: string | undefined;
  /** Milliseconds since the epoch; undefined: since the first payment. */
  readonly from: number | undefined;
  /** Whether transactions are read. */
  readonly amounts: boolean;
  /** Whether passes are opened that were paid for and are missing. */
  readonly opensPasses: boolean;
  /** Whether payments are booked that landed in the time that restored books have lost. */
  readonly booksLost: boolean;
}

/** How what is found is told. */
interface Told {
  begin(books: string, chain: string): void;
  open(id: string, state: string, detail: string): void;
  note(finding: Finding): void;
  different(finding: Finding): void;
  end(found: Reconciliation): void;
}

const asText: Told = {
  begin(books, chain) {
    printStep('books', books);
    printStep('chain', chain);
  },
  open: (id, state, detail) => printStep('open', `${id} ${state}: ${detail}`),
  note: (finding) => printStep('note', shown(finding)),
  different: (finding) => printStep('DIFFERENT', shown(finding)),
  end({ payments, payouts, refunds, transactions, differences, open }) {
    printStep(
      'compared',
      [
        counted(payments, 'payment'),
        counted(payouts, 'payout'),
        counted(refunds, 'refund'),
        counted(transactions, 'transaction'),
      ].join(', '),
    );
    printStep('result', `${counted(differences, 'difference')}, ${counted(open, 'payment')} not over yet`);
  },
};

const line = (value: object): void => console.log(JSON.stringify(value));
const asJson: Told = {
  begin: (books, chain) => line({ type: 'begin', books, chain }),
  open: (id, state, detail) => line({ type: 'open', id, state, detail }),
  note: (finding) => line({ type: 'note', ...finding }),
  different: (finding) => line({ type: 'different', ...finding }),
  end: (found) => line({ type: 'result', ...found }),
};

async function run(
  { database, ledger, passes }: Storage,
  rpc: ReturnType<typeof createSolanaRpc>,
  { network, keypair, splitKeypair, refunds }: ChainConfiguration,
  { from, amounts, opensPasses, booksLost }: Wanted,
  told: Told,
): Promise<Reconciliation> {
  const addresses = (keys: readonly string[]) => keys.map((key) => addressOf(readKeypair(key, WHERE).publicKey));
  const feePayers = addresses(keypair);
  const splitWallets = addresses(splitKeypair ?? []);
  const refundWallets = addresses(refunds === undefined ? [] : [refunds.keypair]);
  const progress = createProgress();
  const since = performance.now();
  const books = createBookReaders(database);
  const ours = { feePayers, splitWallets, refundWallets };
  const parts = { rpc, ledger, ...books, network, amounts, ...ours, now: Date.now };
  if (booksLost && ledger.remembersUntil === undefined) throw new UsageError(NOT_RESTORED);
  const opening = { ...(opensPasses ? { opensIn: passes } : {}), ...(booksLost ? { booksLostIn: ledger } : {}) };
  const found = await reconcile({ ...parts, ...opening }, from, {
    onOpen: ({ id, state }, detail) => told.open(id, state, detail),
    onNote: (finding) => told.note(finding),
    onDifference: (finding) => told.different(finding),
    onProgress: (text) => progress.show(text),
  });
  progress.end(`compared in ${secondsSince(since)}`);
  return found;
}

/** A finding in one line: what it is about, its ids, what is wrong, what to do. */
function shown({ kind, ids, detail, advice }: Finding): string {
  return `${kind} ${ids.join(' ')}: ${detail}; ${advice}`;
}
