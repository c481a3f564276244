import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { resourceOf } from '../../facilitator/payments/payment-binding.js';
import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../../protocol/networks/tokens.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import { NATIVE_SOL } from '../../solana/transaction/programs.js';
import type { BookedPayment, PaymentRange, PaymentReader } from '../../storage/books/payment-reader.js';
import type { PayoutRecord } from '../../storage/payouts/payout-store.js';
import { CommandError } from '../command.js';
import type { Progress } from '../output/progress.js';
import { csvLine, EXPORT_COLUMNS, type ExportRow, jsonLine, paymentRows, payoutRows } from './payment-export.js';

/** What is exported, how and where to. */
export interface ExportOptions {
  readonly format: 'csv' | 'jsonl';
  readonly range: PaymentRange;
  /** A file that is not there yet; default: standard output. */
  readonly out: string | undefined;
  /** Tokens whose symbol and decimals are known beside the well-known ones. */
  readonly tokens: readonly Token[];
}

const NATIVE: Token = { symbol: 'SOL', mint: NATIVE_SOL, decimals: 9, program: NATIVE_SOL };

/** How much was written out. */
export interface Exported {
  readonly payments: number;
  readonly payouts: number;
}

/** Writes payments and payouts out in the order of time, while a page of each is in memory. Returns how many there were. */
export async function exportPayments(
  reader: PaymentReader,
  { format, range, out, tokens }: ExportOptions,
  progress: Progress,
): Promise<Exported> {
  const count = { payments: 0, payouts: 0 };

  function rowsOf(entry: Entry): readonly ExportRow[] {
    if (entry.payment !== undefined) {
      const { terms } = entry.payment;
      count.payments += 1;
      return paymentRows(entry.payment, resourceOf(entry.payment), findToken(terms.asset, terms.network, tokens));
    }
    count.payouts += 1;
    return payoutRows(entry.payout, findToken(entry.payout.mint, entry.payout.network, tokens));
  }

  async function* lines(): AsyncGenerator<string> {
    if (format === 'csv') yield csvLine(EXPORT_COLUMNS);
    let text = '';
    for await (const entry of inOrderOfTime(reader, range)) {
      text += rowsOf(entry)
        .map((row) => (format === 'csv' ? csvLine(Object.values(row)) : jsonLine(row)))
        .join('');
      if (text.length < CHUNK) continue;
      progress.show(`${count.payments} payments`);
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }

  await write(Readable.from(lines()), out);
  return count;
}

/** Characters that are written at once. */
const CHUNK = 65_536;

type Entry =
  | { readonly payment: BookedPayment; readonly payout?: undefined }
  | { readonly payout: PayoutRecord; readonly payment?: undefined };

/** Payments and payouts as one list: both come in the order of time. */
async function* inOrderOfTime(reader: PaymentReader, range: PaymentRange): AsyncGenerator<Entry> {
  const payouts = singly(reader.payouts(range));
  let next = await payouts.next();
  for await (const payment of singly(reader.pages(range))) {
    for (; !next.done && next.value.createdAt < payment.claimedAt; next = await payouts.next()) {
      yield { payout: next.value };
    }
    yield { payment };
  }
  for (; !next.done; next = await payouts.next()) yield { payout: next.value };
}

async function* singly<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T, undefined> {
  for await (const page of pages) yield* page;
}

async function write(source: Readable, out: string | undefined): Promise<void> {
  try {
    if (out === undefined) await pipeline(source, process.stdout, { end: false });
    else await pipeline(source, createWriteStream(out, { flags: 'wx' }));
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), 'code');
    if (code === 'EEXIST') throw new CommandError(`--out: "${out}" is there already; name another file`);
    // Whoever read the output has enough of it, as with "| head".
    if (code !== 'EPIPE') throw error;
  }
}

/** A token by its mint: SOL, the operator's own, or a well-known one. */
export function findToken(mint: string, network: NetworkId, tokens: readonly Token[]): Token | undefined {
  return [NATIVE, ...tokens, ...KNOWN_TOKENS[network], ...SANDBOX_TOKENS].find((token) => token.mint === mint);
}
