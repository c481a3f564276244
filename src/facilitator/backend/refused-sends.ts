import { hash } from 'node:crypto';
import { z } from 'zod';
import type { IdempotencyStore } from '../../storage/idempotency/idempotency-store.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import { walletOwner } from './wallet-owner.js';

/** A payment as it was claimed: who has brought it, and for what. */
export type SentFor = Pick<PaymentRecord, 'id' | 'binding' | 'fingerprint' | 'retryHash' | 'payer'>;

/** Who has had a payment sent that was taken for unsent: whoever brings it now, for the very same, or somebody else. */
export type EarlierSend =
  | { readonly by: 'same' /** Milliseconds since the epoch. */; readonly since: number }
  | { readonly by: 'other' };

/**
 * What was sent, refused by a node, and forgotten as if it had not been sent. Should the node have lied it lands all the same, and is
 * public then: it is to be served to the one who has brought it, by whichever instance, and to nobody else.
 */
export interface RefusedSends {
  /**
   * Notes one, before it is forgotten. Rejects with `store_unavailable`.
   * @param since - before it was sent, milliseconds since the epoch
   */
  note(payment: SentFor, since: number): Promise<void>;
  /** What is noted of one; undefined where that is nothing, or as good as that. Rejects in the same way. */
  find(payment: SentFor): Promise<EarlierSend | undefined>;
}

/** Who has brought it is told by a digest, and so is for what. */
const noteSchema = z.object({ by: z.string(), use: z.string(), since: z.number() });
type Note = z.infer<typeof noteSchema>;

/**
 * Keeps such notes among the responses of a facilitator: those go first where there is no room.
 * @param isTooLate - whether who has brought a payment cannot be told from others any more, by when it was sent
 */
export function createRefusedSends(
  store: Pick<IdempotencyStore, 'get' | 'put'>,
  isTooLate: (payment: Pick<PaymentRecord, 'retryHash'>, since: number) => boolean,
): RefusedSends {
  async function noted({ id }: SentFor): Promise<Note | undefined> {
    const kept = await store.get(keyOf(id));
    return kept && noteSchema.parse(JSON.parse(Buffer.from(kept).toString()));
  }
  return {
    async note(payment, since) {
      const [first, own] = [await noted(payment), { by: bringerOf(payment), use: useOf(payment), since }];
      // Of what was sent several times the first counts, and nobody takes it from the one who has brought it.
      const isKept = first !== undefined && (first.by !== own.by || first.use === own.use);
      if (!isKept) await store.put(keyOf(payment.id), Buffer.from(JSON.stringify(own)), walletOwner(payment.payer));
    },
    async find(payment) {
      const found = await noted(payment);
      if (found === undefined) return undefined;
      const { by, use, since } = found;
      if (by !== bringerOf(payment) || isTooLate(payment, since)) return { by: 'other' };
      return use === useOf(payment) ? { by: 'same', since } : undefined;
    },
  };
}

function keyOf(id: string): string {
  return `refused ${id}`;
}

function bringerOf({ retryHash = '' }: SentFor): string {
  return retryHash;
}

function useOf({ binding, fingerprint }: SentFor): string {
  return hash('sha256', JSON.stringify([binding, fingerprint]), 'base64url');
}
