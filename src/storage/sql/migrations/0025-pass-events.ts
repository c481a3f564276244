import type { Dialect } from '../sql-database.js';
import { columnTypes } from './schema-step.js';

/** Who hears of a pass, and whether its end was told. Only those whose end was not are in the index that is looked through for ends. */
export function passEvents(dialect: Dialect): readonly string[] {
  const { text } = columnTypes(dialect);
  const paymentOf = (what: string) =>
    `(select ${what} from tollhouse_payment p where p.id = tollhouse_pass.payment_id)`;
  return [
    `alter table "tollhouse_pass" add column "owner" ${text}`,
    `alter table "tollhouse_pass" add column "project_id" ${text}`,
    'alter table "tollhouse_pass" add column "told" integer default 0 not null',
    `update tollhouse_pass set owner = ${paymentOf('coalesce(p.owner, p.pay_to)')}, project_id = ${paymentOf('p.project_id')}`,
    'create index tollhouse_pass_untold on tollhouse_pass (over_at) where told = 0',
  ];
}
