import type { NetworkId } from '../../protocol/types.js';
import { amountOf } from '../ledger/payment-rows.js';
import type { Row, SqlDatabase, Statement } from '../sql/sql-database.js';
import { isWanted, type WantedPayments, wantedValues } from './wanted-payments.js';

/** A payment whose money has landed and whose response nobody has had: its payer did not come again. */
export interface OwedResponse {
  readonly paymentId: string;
  readonly network: NetworkId;
  /** Mint, base58. */
  readonly mint: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** When it was brought, milliseconds since the epoch. */
  readonly paidAt: number;
  /** The project whose call it pays for; missing where it was paid at a gate of an app. */
  readonly projectId?: string;
}

/** Responses that are owed in one token on one network. */
export interface OwedResponses extends Pick<OwedResponse, 'network' | 'mint' | 'amount'> {
  readonly count: number;
  /** When the oldest of them was paid, milliseconds since the epoch. */
  readonly oldestAt: number;
}

/** Payments that have landed and were not served. Rejects with `store_unavailable` when the database does not answer. */
export interface ResponseFigures {
  /** Those for calls of a project, by token. */
  owedAt(projectId: string): Promise<readonly OwedResponses[]>;
  /** Those that a wallet has paid, the newest first, at most {@link MOST_RESPONSES}. */
  owedTo(wallet: string, wanted?: WantedPayments): Promise<readonly OwedResponse[]>;
}

/** How many a wallet is told. */
export const MOST_RESPONSES = 100;
/** So many are looked at in one step by who looks at all. */
const STEP = 1_000;

/**
 * Landed, and held by nobody who is about to serve it. Where the payment has opened or prolonged a pass, or has left credit for a
 * request that failed, what of it is owed is in there.
 */
const isOwed = (now: string) => `(p.lease is null or p.lease_ends <= ${now})
  and not exists (select 1 from tollhouse_pass s where s.payment_id = p.id)
  and not exists (select 1 from tollhouse_pass_period s where s.payment_id = p.id)`;
const LANDED = `p.state = 'confirmed' and p.finished_at is null`;
const COLUMNS = 'p.id, p.network, p.asset, p.amount, p.claimed_at, p.project_id';

const OF_PROJECT: Statement = {
  name: 'tollhouse_owed_responses_of_project',
  text: `select ${COLUMNS} from tollhouse_payment p where ${LANDED} and p.project_id = $1 and ${isOwed('$2')}`,
};
const OF_WALLET: Statement = {
  name: 'tollhouse_owed_responses_of_wallet',
  text: `select ${COLUMNS} from tollhouse_payment p
    where ${LANDED} and p.payer = $1 and ${isWanted('$2', '$3', '$4', '$5')} and ${isOwed('$6')}
    order by p.claimed_at desc, p.id limit ${MOST_RESPONSES}`,
};
/** In the order of the index of what is not over. */
const NEXT: Statement = {
  name: 'tollhouse_owed_responses_next',
  text: `select ${COLUMNS}, p.lease_ends, case when ${isOwed('$3')} then 1 else 0 end as is_owed
    from (select * from tollhouse_payment p where ${LANDED} and (p.lease_ends, p.id) > ($1, $2)
      order by p.lease_ends, p.id limit ${STEP}) p
    order by p.lease_ends, p.id`,
};

/**
 * Reads payments of projects that have landed and were not served, on SQLite or Postgres.
 * @param now - clock, milliseconds since the epoch
 */
export function createResponseFigures(database: SqlDatabase, now: () => number): ResponseFigures {
  return {
    owedAt: async (projectId) => summed((await database.query(OF_PROJECT, projectId, now())).map(toOwedResponse)),
    owedTo: async (wallet, wanted) =>
      (await database.query(OF_WALLET, wallet, ...wantedValues(wanted), now())).map(toOwedResponse),
  };
}

/**
 * All of them, some at a time, and the sums of those.
 * @param now - milliseconds since the epoch
 */
export async function* owedResponses(database: SqlDatabase, now: number): AsyncGenerator<readonly OwedResponses[]> {
  for (let after: readonly [number, string] = [-1, '']; ; ) {
    const rows = await database.query(NEXT, ...after, now);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield summed(rows.filter((row) => Number(row.is_owed) === 1).map(toOwedResponse));
    after = [Number(last.lease_ends), String(last.id)];
  }
}

function summed(responses: readonly OwedResponse[]): readonly OwedResponses[] {
  const sums = new Map<string, OwedResponses>();
  for (const { network, mint, amount, paidAt } of responses) {
    const name = `${network} ${mint}`;
    const { amount: before, count, oldestAt } = sums.get(name) ?? { amount: 0n, count: 0, oldestAt: paidAt };
    const oldest = Math.min(oldestAt, paidAt);
    sums.set(name, { network, mint, amount: before + amount, count: count + 1, oldestAt: oldest });
  }
  return [...sums.values()];
}

function toOwedResponse(row: Row): OwedResponse {
  return {
    paymentId: String(row.id),
    network: row.network as NetworkId,
    mint: String(row.asset),
    amount: amountOf(row.amount),
    paidAt: Number(row.claimed_at),
    ...(row.project_id === null ? {} : { projectId: String(row.project_id) }),
  };
}
