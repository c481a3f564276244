import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { resourceOf } from '../../facilitator/payments/payment-binding.js';
import type { Token } from '../../protocol/types.js';
import type { BookedPayment, PaymentRange, PaymentReader } from '../../storage/books/payment-reader.js';
import type { PayoutRecord } from '../../storage/payouts/payout-store.js';
import { writeWhole } from '../../storage/sql/backup/whole-file.js';
import { CommandError } from '../command.js';
import { counted } from '../output/counted.js';
import type { Progress } from '../output/progress.js';
import { unwritable } from '../output/system-words.js';
import { writeOut } from '../output/write-out.js';
import { findToken } from './booked-token.js';
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

/** How much was written out. */
export interface Exported {
  readonly payments: number;
  readonly payouts: number;
}

/**
 * Writes payments and payouts out in the order of time, while a page of each is in memory; a file is there as a whole or not at all.
 * Returns how many there were.
 */
export async function exportPayments(
  reader: PaymentReader,
  { format, range, out, tokens }: ExportOptions,
  progress: Progress,
): Promise<Exported> {
  if (out !== undefined && existsSync(out))
    throw new CommandError(`--out: "${out}" is there already; name another file`);
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
      progress.show(exportedText(count));
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }

  await write(lines(), out);
  return count;
}

/** How much was written out, in words. */
export function exportedText({ payments, payouts }: Exported): string {
  return payouts === 0
    ? counted(payments, 'payment')
    : `${counted(payments, 'payment')}, ${counted(payouts, 'payout')}`;
}

/** Characters that are written at once. */
const CHUNK = 65_536;

/** Books for bookkeepers hold no secrets: who may read them is for the umask to say. */
const AS_UMASK = 0o666;

type Entry =
  | { readonly payment: BookedPayment; readonly payout?: undefined }
  | { readonly payout: PayoutRecord; readonly payment?: undefined };

/** Payments and payouts as one list: both come in the order of time. */
async function* inOrderOfTime(reader: PaymentReader, range: PaymentRange): AsyncGenerator<Entry> {
  const payouts = singly(reader.payouts(range));
  try {
    let next = await payouts.next();
    for await (const payment of singly(reader.pages(range))) {
      for (; !next.done && next.value.createdAt < payment.claimedAt; next = await payouts.next()) {
        yield { payout: next.value };
      }
      yield { payment };
    }
    for (; !next.done; next = await payouts.next()) yield { payout: next.value };
  } finally {
    await payouts.return(undefined);
  }
}

async function* singly<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T, undefined> {
  for await (const page of pages) yield* page;
}

async function write(source: AsyncIterable<string>, out: string | undefined): Promise<void> {
  if (out !== undefined) {
    const unwritten = (error: unknown): never => {
      throw unwritable('--out', out, error);
    };
    return writeWhole(out, (part) => writeTo(part, source, unwritten), { mode: AS_UMASK }).catch((error: unknown) => {
      // Others come from the database.
      throw Reflect.get(Object(error), 'path') === out ? unwritable('--out', out, error) : error;
    });
  }
  for await (const text of source) await writeOut(text).catch(toCut);
}

/** What is there of it looks like all of it. */
function toCut(error: unknown): never {
  const { message } = error instanceof Error ? error : new Error(String(error));
  throw new CommandError(
    `${message}; the export is cut off, and what was written of it is of no use: with --out <file> it is there as a whole or not at all`,
  );
}

/** A full disk is told by an error that names no file. */
async function writeTo(
  part: string,
  source: AsyncIterable<string>,
  unwritten: (error: unknown) => never,
): Promise<void> {
  const file = await open(part, 'w');
  try {
    for await (const text of source) await file.writeFile(text).catch(unwritten);
  } finally {
    await file.close();
  }
}
