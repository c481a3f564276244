import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { resourceOf } from '../facilitator/payment-binding.js';
import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../protocol/tokens.js';
import type { NetworkId, Token } from '../protocol/types.js';
import { NATIVE_SOL } from '../solana/programs.js';
import type { PaymentRange, PaymentReader } from '../storage/payment-reader.js';
import { CommandError } from './command.js';
import { csvLine, EXPORT_COLUMNS, exportRow, jsonLine } from './payment-export.js';
import type { Progress } from './progress.js';

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

/** Writes payments out, a page at a time. Answers how many. */
export async function exportPayments(
  reader: PaymentReader,
  { format, range, out, tokens }: ExportOptions,
  progress: Progress,
): Promise<number> {
  let count = 0;

  async function* lines(): AsyncGenerator<string> {
    if (format === 'csv') yield csvLine(EXPORT_COLUMNS);
    for await (const page of reader.pages(range)) {
      const rows = page.map((it) => exportRow(it, resourceOf(it), findToken(it.terms.asset, it.terms.network, tokens)));
      yield rows.map((row) => (format === 'csv' ? csvLine(Object.values(row)) : jsonLine(row))).join('');
      count += page.length;
      progress.show(`${count} payments`);
    }
  }

  await write(Readable.from(lines()), out);
  return count;
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
