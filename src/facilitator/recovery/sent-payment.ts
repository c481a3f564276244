import { defined } from '../../lib/defined.js';
import type { Commitment } from '../../protocol/types.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import type { BackendSettlement } from '../backend/backend.js';
import { settlementOf, unknownInOutage } from '../backend/chain-landing.js';
import { judgeOf, type RequestParts } from '../proofs/request-terms.js';

/** How long the chain is asked, at most. A look or two tells, whenever there is something to tell. */
const WAIT_MS = 1_500;

/** What is asked about a payment that was sent and that nobody waits for. */
export interface SentPayment {
  readonly record: PaymentRecord;
  readonly signature: string;
  /** The request that it is to pay, if it was sent for one. */
  readonly request: PaymentRequestRecord | undefined;
  readonly commitment: Commitment;
}

/** Asks the chain what became of a payment that was sent; an outage says nothing, and then it is pending. */
export async function outcomeOfSent(
  { delivery, landed }: Pick<RequestParts, 'delivery' | 'landed'>,
  { record, signature, request, commitment }: SentPayment,
): Promise<BackendSettlement> {
  const { payer, terms, blockhash, lastValidBlockHeight } = record;
  const height = defined({ lastValidBlockHeight });
  const landing = await delivery
    .watch({ signature, blockhash, commitment, timeoutMs: WAIT_MS, ...height })
    .catch(unknownInOutage);
  const judged = { payer, terms, ...(request === undefined ? {} : { judge: judgeOf(request) }) };
  return settlementOf(landing, judged, signature, landed);
}
