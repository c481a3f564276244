import { TollhouseError } from '../errors.js';
import { PUBLIC_RPC } from '../facilitator/facilitator-options.js';
import { type Reconciliation, reconcile as reconcileBooks } from '../facilitator/reconcile.js';
import { addressOf } from '../protocol/address.js';
import { type ChainConfiguration, readConfiguration } from '../server/configuration.js';
import { readKeypair } from '../solana/keypair.js';
import { RpcError } from '../solana/rpc.js';
import { createSolanaRpc } from '../solana/rpc-client.js';
import { withoutPassword } from '../storage/database-url.js';
import { openStorage } from '../storage/open-storage.js';
import { createPaymentReader } from '../storage/payment-reader.js';
import { readSchema } from '../storage/schema-state.js';
import type { Storage } from '../storage/storage.js';
import { readArguments } from './arguments.js';
import { type Command, UsageError } from './command.js';
import { createProgress } from './progress.js';
import { printStep, secondsSince } from './terminal.js';
import { readTime } from './time-argument.js';

const WHERE = 'tollhouse reconcile';

/** `tollhouse reconcile`: whether books and chain say the same. */
export const reconcile: Command = {
  name: 'reconcile',
  summary: 'compare the books with the chain',
  help: `tollhouse reconcile [--from <time>] [--quick]

Compares the payments in the database with the chain, and lists what differs:
  - what is booked as paid is on the chain, succeeded, and pays what it is booked for
  - what is booked as failed or expired has not landed
  - every transaction that FACILITATOR_KEYPAIR has paid the fee of is in the books, as a payment or a payout
Payments that are not over yet are listed too; they are no difference.

  --from <time>   a day (2026-01-31) or a time (2026-01-31T12:00:00Z); default: since the first payment in the books
  --quick         does not compare amounts, which costs one RPC call for each payment

Exit code 0: the same; 1: something differs; 2: it could not be found out.
The RPC must keep the history of the whole time. It is the server's configuration that counts:

  DATABASE_URL                          default sqlite:./data/tollhouse.db
  SOLANA_NETWORK, FACILITATOR_KEYPAIR   cluster, and the key that pays network fees
  SOLANA_RPC_URL                        your RPC provider`,
  async run(args) {
    const { values, positionals } = readArguments(args, { from: { type: 'string' }, quick: { type: 'boolean' } });
    if (positionals.length > 0) throw new UsageError(`"${positionals.join(' ')}" is not understood; ${WHERE} --help`);
    const from = readTime('--from', values.from);
    try {
      return await compare(from, values.quick !== true);
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof TollhouseError)) throw error;
      console.error(`tollhouse: books and chain could not be compared: ${error.message}`);
      return 2;
    }
  },
};

async function compare(from: number | undefined, amounts: boolean): Promise<number> {
  const { databaseUrl, chain } = readConfiguration(process.env);
  if (chain === undefined) {
    throw new UsageError('no chain is configured: set SOLANA_NETWORK, FACILITATOR_KEYPAIR and SOLANA_RPC_URL');
  }
  const { pending } = await readSchema(databaseUrl);
  if (pending.length > 0) throw new UsageError('the schema is not up to date; tollhouse db migrate');
  const storage = await openStorage(databaseUrl);
  const rpc = createSolanaRpc({ urls: chain.rpcUrl ?? PUBLIC_RPC[chain.network] });
  try {
    printStep('books', withoutPassword(databaseUrl));
    printStep('chain', chain.network);
    const { differences } = await run(storage, rpc, chain, { from, amounts });
    return differences === 0 ? 0 : 1;
  } finally {
    await rpc.close();
    await storage.close();
  }
}

async function run(
  { database, ledger }: Storage,
  rpc: ReturnType<typeof createSolanaRpc>,
  { network, keypair }: ChainConfiguration,
  { from, amounts }: { readonly from: number | undefined; readonly amounts: boolean },
): Promise<Reconciliation> {
  const feePayers = keypair.map((key) => addressOf(readKeypair(key, WHERE).publicKey));
  const reader = createPaymentReader(database);
  const progress = createProgress();
  const since = performance.now();
  const parts = { rpc, ledger, reader, network, amounts, feePayers, now: Date.now };
  const found = await reconcileBooks(parts, from, {
    onOpen: ({ id, state }, detail) => printStep('open', `${id} ${state}: ${detail}`),
    onDifference: (signature, detail, payment) =>
      printStep('DIFFERENT', `${payment === undefined ? signature : `${payment.id} ${signature}`}: ${detail}`),
    onProgress: (text) => progress.show(text),
  });
  progress.end(`compared in ${secondsSince(since)}`);
  printStep('compared', `${found.payments} payments, ${found.transactions} transactions`);
  printStep('result', `${found.differences} differences, ${found.open} payments not over yet`);
  return found;
}
