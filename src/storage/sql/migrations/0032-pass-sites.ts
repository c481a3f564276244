import type { Dialect } from '../sql-database.js';

const LIVE = 'solana';
/** No gate has a site that ends so. */
const UNKNOWN = 'unknown';

/**
 * What test money has bought says so in its site, as what is sold since the step `0028-project-networks` does: what was sold before was
 * found by no gate of its network any more, and by those of live money. The network is that of the payment, else of one that has renewed
 * the pass. Where all are forgotten, as only those of price credit are while something is left, and of allowances, which have none, it is
 * the one that all payments from before that step are of. Where those are of several networks, or none is kept, nobody knows, and such a
 * pass is good nowhere: its site ends in ` unknown`. A wallet's allowance begins anew then, as it does at the gates of test money.
 *
 * Tokens that were given out have the former site. What is changed here counts its tokens up, so that no gate of live money takes
 * those; gates of test money know them by the former site, and count as well. Free calls of keys are a project's, and no gate's.
 */
export function passSites(dialect: Dialect): readonly string[] {
  return [
    `update tollhouse_pass set site = site || ' ' || known.network, serial = serial + 1,
        payment_id = case when payment_id like 'allowance %' then payment_id || ' ' || known.network else payment_id end
      from (select s.id, ${networkOfPass(dialect)} as network from tollhouse_pass s
        left join tollhouse_payment p on p.id = s.payment_id
        where ${namesNone('s.site')} and s.site not like 'prj~_%' escape '~') known
      where known.id = tollhouse_pass.id and known.network <> '${LIVE}'`,
    // Their passes may still be opened by it, and are held against it by `reconcile`. Nothing in a site is escaped in JSON.
    `update tollhouse_payment set buys =
        replace(buys, '"site":"' || ${siteOfPurchase(dialect)} || '"', '"site":"' || ${siteOfPurchase(dialect)} || ' ' || network || '"')
      where buys is not null and network <> '${LIVE}' and ${namesNone(siteOfPurchase(dialect))}`,
  ];
}

/** Of several that have renewed it, one of test money: the names of those come after that of live money. */
function networkOfPass(dialect: Dialect): string {
  return `coalesce(p.network,
    (select max(r.network) from tollhouse_pass_period d join tollhouse_payment r on r.id = d.payment_id where d.pass_id = s.id),
    case when s.opened_at >= ${namedSince(dialect)} then '${LIVE}' end,
    (select case when min(network) = max(network) then min(network) end from tollhouse_payment
      where claimed_at < ${namedSince(dialect)}),
    '${UNKNOWN}')`;
}

/** When the step was made from which on sites name their network; the second after it, milliseconds since the epoch. */
function namedSince(dialect: Dialect): string {
  const seconds =
    dialect === 'postgres'
      ? 'cast(floor(extract(epoch from cast(timestamp as timestamptz))) as bigint)'
      : `cast(strftime('%s', timestamp) as integer)`;
  return `(select (${seconds} + 1) * 1000 from tollhouse_migration where name = '0028-project-networks')`;
}

function namesNone(site: string): string {
  return ['solana-devnet', 'solana-testnet', UNKNOWN].map((it) => `${site} not like '% ${it}'`).join(' and ');
}

function siteOfPurchase(dialect: Dialect): string {
  return dialect === 'postgres' ? `(cast(buys as json) ->> 'site')` : `json_extract(buys, '$.site')`;
}
