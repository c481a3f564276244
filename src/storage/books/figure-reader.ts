import { DAY_MS, HOUR_MS } from '../calls/periods.js';
import { amountOf } from '../ledger/payment-rows.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { exactSum, MAX_SUM } from '../sql/sql-sums.js';

/** A call that used up a payment, and the payment that the books have for it, where they do not agree. */
export interface MischargedCall {
  readonly id: string;
  readonly paymentId: string | undefined;
  /** How many calls say that they used up the payment. */
  readonly uses: number;
  /** State of the payment; missing where the books have none. */
  readonly state: string | undefined;
  /** What the call and the payment say of the same thing. */
  readonly differs: readonly { readonly what: string; readonly call: string; readonly payment: string }[];
}

/** A sum that is not what the calls sum up to. */
export interface WrongSum {
  /** What is summed: `calls`, `paid` or `revenue` of a project; `day` or `hour` of a key's spending. */
  readonly kind: string;
  /** The project, or the key, that it is the sum of. */
  readonly of: string;
  /** The project that a key spent it on, where it is of one. */
  readonly projectId: string | undefined;
  /** Mint, where it is of money. */
  readonly mint: string | undefined;
  /** Start of its hour or day, milliseconds since the epoch. */
  readonly at: number;
  readonly booked: bigint;
  readonly calls: bigint;
}

/** What a key has spent of a token by sums of different periods, which must be the same, in atomic units. */
export interface UnevenSpending {
  readonly keyId: string;
  readonly mint: string;
  readonly total: bigint;
  readonly months: bigint;
  readonly days: bigint;
  readonly daysByProject: bigint;
}

/** What callers of a project have as credit, and what its calls gave and used up, in atomic units: the difference must be that. */
export interface WrongCredit {
  readonly projectId: string;
  readonly mint: string;
  readonly booked: bigint;
  readonly given: bigint;
  readonly used: bigint;
}

/** Two mints that are the same money. */
export interface SameMoney {
  readonly native: string;
  readonly wrapped: string;
}

/** Compares calls with payments, and sums with calls, each response in one statement. At most 1,000 of each are answered. */
export interface FigureReader {
  /** Calls since a time, milliseconds since the epoch, that used up a payment otherwise than the payment says. */
  charges(from: number, sol: SameMoney): Promise<readonly MischargedCall[]>;
  /** Sums of projects by hour that are not those of the calls. @param from - start of an hour; all calls since must be kept */
  figures(from: number, sol: SameMoney): Promise<readonly WrongSum[]>;
  /** Sums of what keys spent that are not those of the calls. @param from - start of a day; all calls since must be kept */
  spending(from: number, sol: SameMoney): Promise<readonly WrongSum[]>;
  /** Keys whose sums of different periods are not the same. */
  uneven(sol: SameMoney): Promise<readonly UnevenSpending[]>;
  /** Projects whose credit is not what was given and not used, over all that is kept of sums. */
  credit(sol: SameMoney): Promise<readonly WrongCredit[]>;
}

const MOST = 1_000;
/** For `exactSum`. */
const high = (column: string) => `(${column} >> 32)`;
const low = (column: string) => `(${column} & 4294967295)`;
/** A price as it goes into a sum: what looks negative is more than a sum holds. */
const summed = (column: string) => `(case when ${column} < 0 then ${MAX_SUM} else ${column} end)`;
/** Native SOL, `$2`, is counted as wrapped SOL, `$3`. */
const money = (column: string, native = '$2', wrapped = '$3') =>
  `(case when ${column} = ${native} then ${wrapped} else ${column} end)`;
/** Whether two sums in halves differ. Where SQLite has no room for the difference it rounds it, and not to 0. */
const DIFFERS = `(sum(booked_high) - sum(call_high)) * 4294967296 + (sum(booked_low) - sum(call_low)) <> 0`;
const SUMS = `sum(booked_high) as booked_high, sum(booked_low) as booked_low, sum(call_high) as call_high,
  sum(call_low) as call_low`;

/** Calls that used up a payment: what they earned was no credit, or it is credit since. */
const PAID = '(mint is not null or credit_mint is not null) and coalesce(credit_amount, 1) > 0';

const COMPARED = [
  ['project', 'c.project_id', 'p.project_id'],
  ['token', 'coalesce(c.mint, c.credit_mint)', 'p.asset'],
  ['amount', 'coalesce(c.amount, c.credit_amount)', 'p.amount'],
  ['payer', 'c.payer', 'p.payer'],
  ['signature', 'c.signature', 'p.signature'],
] as const;

const CHARGES: Statement = {
  name: 'tollhouse_read_charges',
  text: `select c.id, c.payment_id, p.state, coalesce(u.uses, 1) as uses,
      ${COMPARED.map(([what, call, payment]) => `${call} as call_${what}, ${payment} as payment_${what}`).join(', ')}
    from tollhouse_call c left join tollhouse_payment p on p.id = c.payment_id
    left join (select payment_id, count(*) as uses from tollhouse_call
      where ${PAID} and payment_id is not null group by payment_id having count(*) > 1) u
      on u.payment_id = c.payment_id
    where ${PAID} and c.at >= $1 and (p.id is null or p.state <> 'served' or u.uses is not null
      or ${money('coalesce(c.mint, c.credit_mint)')} <> ${money('p.asset')}
      or coalesce(c.amount, c.credit_amount) <> p.amount
      or c.project_id is distinct from p.project_id or c.payer is distinct from p.payer
      or c.signature is distinct from p.signature)
    order by c.seq limit ${MOST}`,
};

const FIGURES: Statement = {
  name: 'tollhouse_read_figures',
  text: `select kind, of_project, hour, label, ${SUMS} from (
      select kind, project_id as of_project, hour - hour % ${HOUR_MS} as hour,
        case when kind in ('revenue', 'credit_given', 'credit_used') then ${money('label')} else label end as label,
        ${high('value')} as booked_high, ${low('value')} as booked_low, 0 as call_high, 0 as call_low
        from tollhouse_rollup where kind in ('calls', 'paid', 'revenue', 'credit_given', 'credit_used') and hour >= $1
      union all
      select 'revenue', project_id, at - at % ${HOUR_MS}, ${money('mint')}, 0, 0,
        ${high(summed('amount'))}, ${low(summed('amount'))}
        from tollhouse_call where mint is not null and at >= $1
      union all
      select case when credit_amount > 0 then 'credit_given' else 'credit_used' end, project_id, at - at % ${HOUR_MS},
        ${money('credit_mint')}, 0, 0, ${high('abs(credit_amount)')}, ${low('abs(credit_amount)')}
        from tollhouse_call where credit_mint is not null and at >= $1
      union all
      select 'paid', project_id, at - at % ${HOUR_MS}, '', 0, 0, 0, 1
        from tollhouse_call where mint is not null and at >= $1
      union all
      select 'calls', project_id, at - at % ${HOUR_MS}, '', 0, 0, 0, 1 from tollhouse_call where at >= $1) sums
    group by kind, of_project, hour, label having ${DIFFERS}
    order by hour, of_project, kind, label limit ${MOST}`,
};

/** Sums of hours are forgotten soon, so that only those that are there are looked at; days are all there. */
const SPENDING: Statement = {
  name: 'tollhouse_read_spending',
  text: `select kind, of_key, at, mint, project, ${SUMS} from (
      select period as kind, key_id as of_key, start as at, ${money('mint')} as mint, project_id as project,
        ${high('amount')} as booked_high, ${low('amount')} as booked_low, 0 as call_high, 0 as call_low, 1 as known
        from tollhouse_spend where period in ('day', 'hour') and start >= $1
      union all
      ${spentBy('day', DAY_MS, "''")}
      union all
      ${spentBy('day', DAY_MS, 'project_id')}
      union all
      ${spentBy('hour', HOUR_MS, "''")}) sums
    group by kind, of_key, at, mint, project having ${DIFFERS} and (kind = 'day' or sum(known) > 0)
    order by at, of_key, kind, mint limit ${MOST}`,
};

function spentBy(kind: string, step: number, project: string): string {
  return `select '${kind}', key_id, at - at % ${step}, ${money('mint')}, ${project}, 0, 0,
    ${high(summed('amount'))}, ${low(summed('amount'))}, 0
    from (select key_id, at, project_id, coalesce(mint, credit_mint) as mint, coalesce(amount, credit_amount) as amount
      from tollhouse_call where ${PAID} and key_id is not null and at >= $1) as paid`;
}

const PERIODS = {
  total: `period = 'total'`,
  month: `period = 'month'`,
  day: `period = 'day' and project_id = ''`,
  project: `period = 'day' and project_id <> ''`,
} as const;
const sumOver = ([name, where]: readonly [string, string]) =>
  `sum(case when ${where} then ${high('amount')} else 0 end) as ${name}_high,
   sum(case when ${where} then ${low('amount')} else 0 end) as ${name}_low`;

/** Whether the total differs from the sum over a period, as in {@link DIFFERS}. */
const differsFrom = (where: string) => {
  const sign = `(case when ${PERIODS.total} then 1 when ${where} then -1 else 0 end)`;
  return `sum(${sign} * ${high('amount')}) * 4294967296 + sum(${sign} * ${low('amount')}) <> 0`;
};

const UNEVEN: Statement = {
  name: 'tollhouse_read_uneven',
  text: `select key_id, ${money('mint', '$1', '$2')} as mint, ${Object.entries(PERIODS).map(sumOver).join(', ')}
    from tollhouse_spend group by key_id, ${money('mint', '$1', '$2')}
    having ${[PERIODS.month, PERIODS.day, PERIODS.project].map(differsFrom).join(' or ')}
    order by key_id limit ${MOST}`,
};

/** What a case of some sums gives, in halves. */
const partOf = (name: string, where: string) =>
  `sum(case when ${where} then high else 0 end) as ${name}_high, sum(case when ${where} then low else 0 end) as ${name}_low`;
const CREDIT_PARTS = {
  booked: "kind = 'booked'",
  given: "kind = 'credit_given'",
  used: "kind = 'credit_used'",
} as const;

const CREDIT: Statement = {
  name: 'tollhouse_read_credit',
  text: `select project_id, mint, ${Object.entries(CREDIT_PARTS)
    .map(([name, where]) => partOf(name, where))
    .join(', ')} from (
      select 'booked' as kind, project_id, ${money('mint', '$1', '$2')} as mint, ${high('amount')} as high,
        ${low('amount')} as low from tollhouse_credit
      union all
      select 'booked', project_id, ${money('mint', '$1', '$2')}, ${high('amount')}, ${low('amount')} from tollhouse_credit_hold
      union all
      select kind, project_id, ${money('label', '$1', '$2')}, ${high('value')}, ${low('value')}
        from tollhouse_rollup where kind in ('credit_given', 'credit_used')) sums
    group by project_id, mint order by project_id, mint`,
};

/** Makes a reader of the figures in a database. */
export function createFigureReader(database: SqlDatabase): FigureReader {
  return {
    charges: async (from, { native, wrapped }) =>
      (await database.query(CHARGES, from, native, wrapped)).map((row) => toCharge(row, { native, wrapped })),
    figures: async (from, { native, wrapped }) =>
      (await database.query(FIGURES, from, native, wrapped)).map(toFigure).filter(isWrong),
    spending: async (from, { native, wrapped }) =>
      (await database.query(SPENDING, from, native, wrapped)).map(toSpending).filter(isWrong),
    uneven: async ({ native, wrapped }) =>
      (await database.query(UNEVEN, native, wrapped)).map(toUneven).filter(isUneven),
    credit: async ({ native, wrapped }) =>
      (await database.query(CREDIT, native, wrapped)).map(toCredit).filter(isOff).slice(0, MOST),
  };
}

function toCharge(row: Row, { native, wrapped }: SameMoney): MischargedCall {
  const both = COMPARED.map(([what]) => ({
    what,
    call: shownOf(what, row[`call_${what}`]),
    payment: shownOf(what, row[`payment_${what}`]),
  }));
  const asMoney = (mint: string) => (mint === native ? wrapped : mint);
  const isKnown = row.state !== null;
  return {
    id: String(row.id),
    paymentId: row.payment_id === null ? undefined : String(row.payment_id),
    uses: Number(row.uses),
    state: isKnown ? String(row.state) : undefined,
    differs: isKnown ? both.filter(({ call, payment }) => asMoney(call) !== asMoney(payment)) : [],
  };
}

function shownOf(what: string, value: Row[string] | undefined): string {
  if (value === null || value === undefined) return 'none';
  return what === 'amount' ? String(amountOf(value)) : String(value);
}

const MONEY_KINDS: ReadonlySet<string> = new Set(['revenue', 'credit_given', 'credit_used']);

function toFigure(row: Row): WrongSum {
  const mint = MONEY_KINDS.has(String(row.kind)) ? String(row.label) : undefined;
  return { ...sumsOf(row), of: String(row.of_project), projectId: undefined, mint, at: Number(row.hour) };
}

function toSpending(row: Row): WrongSum {
  const projectId = row.project === '' ? undefined : String(row.project);
  return { ...sumsOf(row), of: String(row.of_key), projectId, mint: String(row.mint), at: Number(row.at) };
}

function sumsOf(row: Row) {
  return { kind: String(row.kind), booked: part(row, 'booked'), calls: part(row, 'call') };
}

function part(row: Row, name: string): bigint {
  return exactSum({ high: row[`${name}_high`] ?? 0, low: row[`${name}_low`] ?? 0 });
}

/** A sum stops at the largest number that its column holds. */
function isWrong({ booked, calls }: WrongSum): boolean {
  return booked !== calls && !(booked === MAX_SUM && calls > MAX_SUM);
}

function toUneven(row: Row): UnevenSpending {
  return {
    keyId: String(row.key_id),
    mint: String(row.mint),
    total: part(row, 'total'),
    months: part(row, 'month'),
    days: part(row, 'day'),
    daysByProject: part(row, 'project'),
  };
}

function isUneven({ total, months, days, daysByProject }: UnevenSpending): boolean {
  if (total === MAX_SUM) return false;
  return months !== total || days !== total || daysByProject !== total;
}

function toCredit(row: Row): WrongCredit {
  const parts = { booked: part(row, 'booked'), given: part(row, 'given'), used: part(row, 'used') };
  return { projectId: String(row.project_id), mint: String(row.mint), ...parts };
}

function isOff({ booked, given, used }: WrongCredit): boolean {
  return given !== MAX_SUM && booked !== given - used;
}
