import type { NetworkId } from '../../protocol/types.js';
import type { SqlDatabase, Statement } from '../sql/sql-database.js';
import type { PaymentRequestRecord } from './payment-request.js';
import { REQUEST_COLUMNS, toPaymentRequest } from './payment-rows.js';

/** Which payment requests are to be looked at unasked. Several processes that share the database share them. */
export interface RequestLooks {
  /**
   * Takes some whose time has come, those first that are due longest. One whose look does not end is due again after a minute.
   * @param limit - how many at most
   */
  take(network: NetworkId, limit: number): Promise<readonly PaymentRequestRecord[]>;
  /** Notes that one was looked at, and so when it is the next time; never, after the last. */
  looked(request: Pick<PaymentRequestRecord, 'id' | 'expiresAt'>): Promise<void>;
}

const AGAIN_MS = 60_000;
/**
 * After the end of a request's time: when what was signed in its last second has landed or never will, and for those who pay late.
 * One that nobody pays is forgotten a day after its end.
 */
const LOOKS_MS: readonly [first: number, ...others: number[]] = [90_000, 72_000_000];

/** When a new request is looked at for the first time, milliseconds since the epoch. */
export function firstLook({ expiresAt }: Pick<PaymentRequestRecord, 'expiresAt'>): number {
  return expiresAt + LOOKS_MS[0];
}

/** The condition stands outside as well: who had to wait for another's update must see that its rows are taken. */
const TAKE: Statement = {
  name: 'tollhouse_take_request_looks',
  text: `update tollhouse_payment_request set look_at = $3
    where look_at <= $2 and id in (
      select id from tollhouse_payment_request where look_at <= $2 and network = $1 order by look_at limit $4)
    returning ${REQUEST_COLUMNS.join(', ')}`,
};

const LOOKED: Statement = {
  name: 'tollhouse_request_looked_at',
  text: 'update tollhouse_payment_request set look_at = $2 where id = $1',
};

/** The looks at payment requests in a database. */
export function createRequestLooks(database: SqlDatabase, now: () => number): RequestLooks {
  return {
    async take(network, limit) {
      const time = now();
      return (await database.query(TAKE, network, time, time + AGAIN_MS, limit)).map(toPaymentRequest);
    },
    async looked({ id, expiresAt }) {
      const next = LOOKS_MS.map((it) => expiresAt + it).find((at) => at > now());
      await database.query(LOOKED, id, next ?? null);
    },
  };
}
