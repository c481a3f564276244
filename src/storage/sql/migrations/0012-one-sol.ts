import { moneyOf } from '../../../protocol/networks/tokens.js';
import { saturatingSum } from '../sql-sums.js';

/** What native SOL was counted as, and what it is counted as from here on. */
const NATIVE = '11111111111111111111111111111111';
const SOL = moneyOf(NATIVE);

/**
 * Native SOL and wrapped SOL are one money: what keys spent and projects earned of both is added up under one name. What a
 * single call was paid in stays as it is.
 */
export function oneSol(): readonly string[] {
  const added = saturatingSum('tollhouse_spend.amount', 'excluded.amount');
  const earned = saturatingSum('tollhouse_rollup.value', 'excluded.value');
  return [
    `insert into tollhouse_spend
        (key_id, period, start, mint, project_id, owner, amount, calls, told_percent, told_limit)
      select key_id, period, start, '${SOL}', project_id, owner, amount, calls, told_percent, told_limit
        from tollhouse_spend where mint = '${NATIVE}'
      on conflict (key_id, period, start, mint, project_id)
      do update set calls = tollhouse_spend.calls + excluded.calls, amount = ${added}`,
    `delete from tollhouse_spend where mint = '${NATIVE}'`,
    `insert into tollhouse_rollup (project_id, kind, hour, label, value)
      select project_id, kind, hour, '${SOL}', value
        from tollhouse_rollup where kind = 'revenue' and label = '${NATIVE}'
      on conflict (project_id, kind, hour, label) do update set value = ${earned}`,
    `delete from tollhouse_rollup where kind = 'revenue' and label = '${NATIVE}'`,
    `update tollhouse_reservation set mint = '${SOL}' where mint = '${NATIVE}'`,
  ];
}
