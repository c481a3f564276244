import { TollhouseError } from '../../errors/errors.js';
import type { NetworkId } from '../../protocol/types.js';
import { HEALTHY_LAG } from '../../solana/confirmation/expiry.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { noteLandingEnd, readLandingEnd } from '../../storage/sql/backup/landing-end.js';
import type { SqlDatabase } from '../../storage/sql/sql-database.js';
import { asked } from '../backend/chain-landing.js';
import type { Memory } from '../payments/lost-period.js';

/** What a process that is gone has sent, and books that were restored do not know. */
export interface EarlierSends {
  /**
   * Resolves once none of it can land any more: what the chain does not have by then was never paid. Until then it rejects with
   * `chain_unavailable`, and says for how long. Books that were not restored never wait.
   */
  over(): Promise<void>;
}

/** What {@link createEarlierSends} works with. */
export interface EarlierSendsParts {
  readonly network: NetworkId;
  readonly rpc: Pick<SolanaRpc, 'getLatestBlockhash' | 'getTip'>;
  readonly memory: Memory;
  /** Where it is noted until when it can land. Default: in this process only. */
  readonly database?: Pick<SqlDatabase, 'query'> | undefined;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** Longer than a cluster has ever stood still: what was sent so long ago is over without the chain being asked. */
const LONG_AGO_MS = 86_400_000;
const BLOCK_MS = 400;
const RETRY_SECONDS = 2;

/**
 * Makes what waits for it. A transaction lands as long as its blockhash lives, and what was sent before the restore bears a hash of a block
 * that existed by the first look after it: at most as far ahead of the asked node as that may lag. Time proves nothing, as a chain may
 * stand still; block heights do.
 */
export function createEarlierSends(parts: EarlierSendsParts): EarlierSends {
  const { rpc, memory, now } = parts;
  const { remembersSince: restoredAt, remembersUntil } = memory;
  let isOver = restoredAt === undefined || remembersUntil === undefined;
  let end: number | undefined;
  let underWay: Promise<void> | undefined;

  async function look(since: number): Promise<void> {
    if (now() < since + LONG_AGO_MS) {
      end ??= await landingEnd(parts, since);
      const { blockHeight } = await asked(rpc.getTip('finalized'));
      if (blockHeight <= end) throw stillLanding(end + 1 - blockHeight);
    }
    isOver = true;
  }

  return {
    async over() {
      if (isOver || restoredAt === undefined) return;
      underWay ??= look(restoredAt).finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}

/** Whichever look says so first: a height that another chain has left in the books is beyond what this one says. */
async function landingEnd({ network, rpc, database }: EarlierSendsParts, restoredAt: number): Promise<number> {
  const noted = database && (await readLandingEnd(database, network, restoredAt));
  const { lastValidBlockHeight } = await asked(rpc.getLatestBlockhash('processed'));
  const end = lastValidBlockHeight + HEALTHY_LAG;
  if (noted !== undefined && noted <= end) return noted;
  if (database !== undefined) await noteLandingEnd(database, network, restoredAt, end);
  return end;
}

function stillLanding(blocks: number): TollhouseError {
  const seconds = Math.max(RETRY_SECONDS, Math.ceil((blocks * BLOCK_MS) / 1_000));
  const detail = `The books of this service were restored from a backup. What was paid just before that may still land, and is not in them: nothing is paid out or paid back until ${blocks} more blocks are final, in about ${seconds} s.`;
  return new TollhouseError('chain_unavailable', detail, { retryAfterSeconds: seconds });
}
