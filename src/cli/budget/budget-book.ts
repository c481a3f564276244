import { z } from 'zod';
import { NETWORK_IDS } from '../../protocol/types.js';
import { CommandError } from '../command.js';
import { fileFault } from '../output/system-words.js';
import { changeState, readChanged } from '../state/change-state.js';
import { stateFolder } from '../state/state-folder.js';
import { LONGEST_WINDOW_MS } from './budget.js';

const NAME = 'budgets';
/** Where spends are kept, as help texts tell it. */
export const BUDGETS_KEPT_IN = '$XDG_STATE_HOME/tollhouse/budgets (default ~/.local/state)';

const spendSchema = z.object({
  /** Missing once it is certain that it counts: those of one minute or one day are one entry from then on. */
  id: z.string().optional(),
  /** Milliseconds since the epoch. */
  at: z.int().min(0),
  payer: z.string(),
  network: z.enum(NETWORK_IDS),
  /** Mint. */
  asset: z.string(),
  /** Atomic units. */
  amount: z
    .string()
    .regex(/^\d{1,20}$/)
    .transform(BigInt),
  /** How its transaction is found on the chain, and when it cannot land any more; missing once it is certain that it counts. */
  sent: z.object({ messageHash: z.string(), slot: z.int(), lastHeight: z.int() }).optional(),
});
const bookSchema = z.object({ spends: z.array(spendSchema) });

/** What was paid under a budget, or may have been. */
export type Spend = z.output<typeof spendSchema>;

/** Whose spends of which token. */
export type SpendAccount = Pick<Spend, 'payer' | 'network' | 'asset'>;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** All spends of an account that count, or may. */
export function spendsOf(account: SpendAccount): readonly Spend[] {
  return readBook(readChanged(NAME)).filter((it) => isOf(it, account));
}

/**
 * Writes a spend down, if that is right with all that are written down already, those of other processes included.
 * @param check - throws where it is too much
 * @throws CommandError where it cannot be written
 */
export function addSpend(spend: Spend & { readonly id: string }, check: (spends: readonly Spend[]) => void): void {
  change((spends) => {
    if (spends.some(({ id }) => id === spend.id)) return spends;
    check(spends.filter((it) => isOf(it, spend)));
    return [...spends, spend];
  });
}

/** Has a spend count for good. */
export function settleSpend(id: string): void {
  change((spends) => spends.map((it) => (it.id === id ? withoutDoubt(it) : it)));
}

/** Gives a spend back: nothing was charged. */
export function giveSpendBack(id: string): void {
  change((spends) => spends.filter((it) => it.id !== id));
}

function change(make: (spends: readonly Spend[]) => readonly Spend[]): void {
  try {
    changeState(NAME, (text) => ({ text: writeBook(merged(make(readBook(text)), Date.now())), result: undefined }));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `the budget's book cannot be written in ${stateFolder()}/${NAME} (${fileFault(error)}); name a folder that can be written in XDG_STATE_HOME`,
    );
  }
}

/** What cannot be read may hold spends: without it nothing is paid under a budget. */
function readBook(text: string | undefined): readonly Spend[] {
  if (text === undefined) return [];
  try {
    return bookSchema.parse(JSON.parse(text)).spends;
  } catch {
    throw new CommandError(
      `nothing was paid: the budget's book in ${stateFolder()}/${NAME} cannot be read; mend it, or remove the folder to count anew`,
    );
  }
}

function writeBook(spends: readonly Spend[]): string {
  const text = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  return `${JSON.stringify({ spends }, text, 2)}\n`;
}

/** Those that count for sure, as one for each minute of the last day and each day before; what no window reaches as one. */
function merged(spends: readonly Spend[], now: number): readonly Spend[] {
  const sums = new Map<string, Spend>();
  for (const spend of spends) {
    const { id = bucketOf(spend.at, now), payer, network, asset } = spend;
    const key = [payer, network, asset, id].join(' ');
    const sum = sums.get(key);
    const both = sum && { ...spend, at: Math.max(sum.at, spend.at), amount: sum.amount + spend.amount };
    sums.set(key, both ?? spend);
  }
  return [...sums.values()];
}

function bucketOf(at: number, now: number): string {
  if (now - at > 2 * LONGEST_WINDOW_MS) return 'before';
  const step = now - at < DAY_MS ? MINUTE_MS : DAY_MS;
  return `${step} ${Math.floor(at / step)}`;
}

function withoutDoubt({ at, payer, network, asset, amount }: Spend): Spend {
  return { at, payer, network, asset, amount };
}

function isOf(spend: Spend, { payer, network, asset }: SpendAccount): boolean {
  return spend.payer === payer && spend.network === network && spend.asset === asset;
}
