import { randomUUID } from 'node:crypto';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { NetworkId } from '../../protocol/types.js';
import { holderOf, leaseOf } from '../sql/presence/presence.js';
import type { Row, SqlDatabase } from '../sql/sql-database.js';
import { exactSum, summand } from '../sql/sql-sums.js';
import { CREDIT } from './credit-statements.js';
import {
  CREDIT_HOLD_MS,
  type CreditHold,
  type CreditRequest,
  type CreditStore,
  type CreditSum,
} from './credit-store.js';

/**
 * Credit on SQLite or Postgres. The database is not closed with it.
 * @param now - clock, milliseconds since the epoch
 */
export function createSqlCreditStore(database: SqlDatabase, now: () => number = Date.now): CreditStore {
  const { presence } = database;

  async function giveBack(holdId: string): Promise<boolean> {
    const ended = await database.batchIf(
      [CREDIT.lockHold, holdId],
      [
        [CREDIT.giveHeldBack, holdId],
        [CREDIT.endHold, holdId],
      ],
    );
    return ended.length > 0;
  }

  async function tryHold({ keyId, projectId, charge }: CreditRequest): Promise<CreditHold | undefined> {
    const place = [keyId, projectId, moneyOf(charge.mint)] as const;
    const amount = summand(charge.amount);
    // Most have none, and reading waits for nobody.
    const [known] = await database.query(CREDIT.left, ...place);
    if (known === undefined || amountIn(known) < amount) return undefined;
    const id = leaseOf(presence, randomUUID());
    const [row] = await database.batchIf(
      [CREDIT.take, ...place, amount],
      [[CREDIT.hold, id, ...place, amount, now() + CREDIT_HOLD_MS]],
    );
    return row === undefined ? undefined : { id, left: amountIn(row) };
  }

  /** Gives back what processes held that are gone. Returns whether there was any. */
  async function giveLostBack({ keyId, projectId, charge }: CreditRequest): Promise<boolean> {
    const holds = await database.query(CREDIT.heldBy, keyId, projectId, moneyOf(charge.mint));
    let found = false;
    for (const { id, ends_at } of holds) {
      if ((await isLost(String(id), Number(ends_at))) && (await giveBack(String(id)))) found = true;
    }
    return found;
  }

  async function isLost(id: string, endsAt: number): Promise<boolean> {
    const time = now();
    if (endsAt <= time) return true;
    const holder = holderOf(id);
    const isSilent = endsAt - CREDIT_HOLD_MS + presence.silentMs <= time;
    return holder !== undefined && isSilent && presence.isGone(holder);
  }

  return {
    async hold(request) {
      const taken = await tryHold(request);
      if (taken !== undefined || !(await giveLostBack(request))) return taken;
      return tryHold(request);
    },
    extend: async (holdId) => (await database.query(CREDIT.extend, holdId, now() + CREDIT_HOLD_MS)).length > 0,
    giveBack: async (holdId) => void (await giveBack(holdId)),
    list: async ({ owner, keyId = '', projectId = '', network = '', mode = '' }) =>
      (await database.query(CREDIT.ofOwner, owner, keyId, projectId, network, mode)).map(toSum),
    owedBy: async (projectId) => {
      const rows = await database.query(CREDIT.ofProject, projectId);
      return new Map(rows.map((row) => [String(row.mint), exactSum(row)]));
    },
    async prune(limit) {
      const ended = await database.query(CREDIT.ended, now(), limit);
      for (const { id } of ended) await giveBack(String(id));
      return ended.length;
    },
  };
}

function amountIn({ amount }: Row): bigint {
  return BigInt(String(amount));
}

function toSum(row: Row): CreditSum {
  return {
    keyId: String(row.key_id),
    owner: String(row.owner),
    projectId: String(row.project_id),
    mint: String(row.mint),
    ...(row.network === null ? {} : { network: row.network as NetworkId }),
    amount: exactSum(row),
  };
}
