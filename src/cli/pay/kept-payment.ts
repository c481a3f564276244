import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { z } from 'zod';
import { randomHex } from '../../lib/ids.js';
import { makeFolder } from '../../storage/sql/make-folder.js';
import { CommandError, UsageError } from '../command.js';
import { fileFault } from '../output/system-words.js';
import { stateFolder } from '../state/state-folder.js';

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** Where payments are kept until they are answered, as help texts tell it. */
export const KEPT_IN = '$XDG_STATE_HOME/tollhouse/payments (default ~/.local/state)';

/** A payment in a file, readable by its owner only, for as long as its response has not come. */
export interface KeptPayment {
  /** The command that sends it again. */
  readonly command: string;
  /** Removes it: it is answered. */
  forget(): void;
}

/**
 * Keeps a payment before it is sent. Throws {@link CommandError} when that is not possible: what is sent and then forgotten
 * may be lost money.
 * @param command - that takes the file with `--resume`: `tollhouse pay`
 */
export function keepPayment(command: string, payment: object): KeptPayment {
  const path = join(stateFolder(), 'payments', newName());
  try {
    makeFolder(dirname(path), OWNER_ONLY_FOLDER);
    writeFileSync(path, `${JSON.stringify(payment, undefined, 2)}\n`, { mode: OWNER_ONLY, flag: 'wx' });
  } catch (error) {
    throw new CommandError(
      `nothing was paid: the payment cannot be kept in a file, from which it could be sent again (${dirname(path)}: ${fileFault(error)}); name a folder that can be written in XDG_STATE_HOME`,
    );
  }
  return keptAt(path, command);
}

/** Reads a payment that was kept. Throws {@link UsageError} when the file is not one of that command. */
export function readKeptPayment<T extends z.ZodType>(
  path: string,
  schema: T,
  command: string,
): { readonly payment: z.output<T>; readonly kept: KeptPayment } {
  try {
    return { payment: schema.parse(JSON.parse(readFileSync(path, 'utf8'))), kept: keptAt(path, command) };
  } catch {
    throw new UsageError(
      `--resume: "${path}" is not a payment that ${command} has kept; it is gone once the payment is answered`,
    );
  }
}

/**
 * Gives out what came of a payment. Whoever is not given what he has paid for is told how he comes by it.
 * @param command - that sends the payment again; undefined where it has bought nothing
 */
export async function orAgain<T>(command: string | undefined, give: () => Promise<T>): Promise<T> {
  try {
    return await give();
  } catch (error) {
    if (!(error instanceof CommandError) || command === undefined) throw error;
    throw new CommandError(
      `${error.message}; the same payment, which is never taken twice, brings it again: ${command}`,
    );
  }
}

function keptAt(path: string, command: string): KeptPayment {
  return { command: `npx ${command} --resume ${quoted(path)}`, forget: () => rmSync(path, { force: true }) };
}

/** By its time, so that people find it. */
function newName(): string {
  return `${new Date().toISOString().replace(/[:.]/g, '-')}-${randomHex(4)}.json`;
}

/** A text as a shell takes it, as one word. */
export function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
