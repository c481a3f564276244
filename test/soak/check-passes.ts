import type { Row, SqlDatabase } from '../../src/storage/sql/sql-database.js';
import type { OpenShop } from './open-shop.js';

const PASSES = {
  name: 'soak_passes',
  text: `select id, kind, bought, remaining, (
      select coalesce(sum(amount), 0) from tollhouse_pass_debit where pass_id = tollhouse_pass.id) as taken
    from tollhouse_pass`,
};
const EVENTS = {
  name: 'soak_pass_events',
  text: `select type, data from tollhouse_event where type in ('pass.created', 'pass.used_up', 'pass.expired')`,
};

/** What was paid for is used or still owed, to the unit, whatever was given back; and each pass was told once, and its end at most once. */
export async function checkPasses({ name, findings }: OpenShop, database: SqlDatabase): Promise<void> {
  const passes = await database.query(PASSES);
  const told = new Map<string, string[]>();
  for (const { type, data } of await database.query(EVENTS)) {
    const { pass_id: id } = JSON.parse(String(data)) as { readonly pass_id: string };
    told.set(id, [...(told.get(id) ?? []), String(type)]);
  }
  for (const pass of passes) {
    const fault = countFault(pass) ?? tellFault(told.get(String(pass.id)) ?? []);
    if (fault !== undefined) findings.broke(`${name}: the pass ${String(pass.id)}: ${fault}`);
  }
}

/** The paid request takes as all others do. */
function countFault({ kind, bought, remaining, taken }: Row): string | undefined {
  if (kind === 'until') return undefined;
  const [paid, owed, used] = [bought, remaining, taken].map((it) => BigInt(String(it))) as [bigint, bigint, bigint];
  const isWhole = owed >= 0n && paid === used + owed;
  return isWhole ? undefined : `paid ${paid}, used ${used}, still owed ${owed}`;
}

function tellFault(types: readonly string[]): string | undefined {
  const created = types.filter((it) => it === 'pass.created').length;
  return created === 1 && types.length <= 2 ? undefined : `told ${types.join(', ') || 'nobody'}`;
}
