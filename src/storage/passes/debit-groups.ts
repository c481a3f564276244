import { inGroups } from '../../lib/work/in-groups.js';
import { codeOf } from '../sql/driver-error.js';
import type { SqlDatabase } from '../sql/sql-database.js';
import { DEBIT_MANY } from './pass-statements.js';
import type { Debit } from './pass-store.js';

/** How many go to the database together at most. */
const MOST = 100;
/** Classes of SQLSTATE that say that others were in the way: the same request, or locks. */
const OF_ONE = new Set(['23', '40']);
/** A row with this key is there already. */
const TAKEN_BEFORE = '23505';

/** The debits of one pass that are asked for together. */
interface PassGroup {
  readonly debits: Debit[];
  readonly serial: number | undefined;
  sum: bigint;
}

/**
 * Takes from passes on Postgres, those who come at the same time with one statement. Answers what is left, undefined where
 * nothing was taken.
 */
export function debitGroups(database: SqlDatabase, now: () => number): (debit: Debit) => Promise<bigint | undefined> {
  async function take(debits: readonly Debit[]): Promise<readonly (bigint | undefined)[]> {
    const groups = groupsOf(debits);
    const left = await takeSums(groups);
    const results = new Map<Debit, bigint | undefined>();
    for (const [id, { debits: some, sum }] of groups) {
      let remaining = left.get(id);
      if (remaining !== undefined) remaining += sum;
      for (const it of some) {
        if (remaining !== undefined) remaining -= it.amount;
        results.set(it, remaining);
      }
    }
    // What is too much together may be right for some, and what was shown with another token's number was not asked yet.
    for (const it of debits) {
      const group = groups.get(it.passId);
      const isAlone = group?.debits.length === 1 && group.debits[0] === it;
      if (results.get(it) === undefined && !isAlone) results.set(it, await takeAlone(it));
    }
    return debits.map((it) => results.get(it));
  }

  async function takeAlone(debit: Debit): Promise<bigint | undefined> {
    const [left] = (await take([debit]).catch(nothingIfRepeated)) ?? [];
    return left;
  }

  async function takeSums(groups: ReadonlyMap<string, PassGroup>): Promise<ReadonlyMap<string, bigint>> {
    const wanted = [...groups].map(([id, { sum, serial = null }]) => ({ id, serial, amount: String(sum) }));
    const debits = [...groups.values()].flatMap((group) =>
      group.debits.map(({ passId, requestId, amount }) => ({
        pass_id: passId,
        request: requestId,
        amount: String(amount),
      })),
    );
    const rows = await database.query(DEBIT_MANY, JSON.stringify(wanted), JSON.stringify(debits), now());
    return new Map(rows.map(({ id, remaining }) => [String(id), BigInt(String(remaining))]));
  }

  const together = inGroups<Debit, bigint | undefined>({
    run: take,
    most: MOST,
    isOfOne: (error) => OF_ONE.has(stateOf(error).slice(0, 2)),
  });
  return (debit) => together(debit).catch(nothingIfRepeated);
}

function nothingIfRepeated(error: unknown): undefined {
  if (stateOf(error) !== TAKEN_BEFORE) throw error;
}

function groupsOf(debits: readonly Debit[]): ReadonlyMap<string, PassGroup> {
  const groups = new Map<string, PassGroup>();
  for (const debit of debits) {
    const { passId, serial, amount } = debit;
    const group = groups.get(passId) ?? { debits: [], serial, sum: 0n };
    groups.set(passId, group);
    if (group.serial !== serial) continue;
    group.debits.push(debit);
    group.sum += amount;
  }
  return groups;
}

function stateOf(error: unknown): string {
  return codeOf(Reflect.get(Object(error), 'cause'));
}
