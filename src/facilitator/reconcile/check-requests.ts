import type { NetworkId } from '../../protocol/types.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import type { RequestReader } from '../../storage/books/request-reader.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { readPaid } from '../proofs/read-paid.js';
import { requestTransfers } from '../proofs/request-terms.js';
import { receivedFor } from '../proofs/unmatched-payments.js';
import type { Findings } from './finding.js';
import { withRetry } from './with-retry.js';

/** What checking payment requests needs. */
export interface RequestCheckParts {
  readonly rpc: Pick<SolanaRpc, 'getTransaction' | 'getHistory'>;
  readonly requests: RequestReader;
  readonly network: NetworkId;
  /** Milliseconds since the epoch. */
  readonly from: number;
}

const AT_ONCE = 8;
/** Of the transactions that name a reference, so many are read; anybody can name it. The oldest come first. */
const LOOKED_AT = 10;

const GIVE_BACK = 'look who has sent it and whether it has paid for something else; if not, send it back';

/** Looks on the chain for payments of requests that are not paid in the books, at a call for each. */
export async function checkRequests(parts: RequestCheckParts, findings: Findings): Promise<void> {
  for await (const page of parts.requests.unpaid(parts.network, parts.from)) {
    for (let at = 0; at < page.length; at += AT_ONCE) {
      await Promise.all(page.slice(at, at + AT_ONCE).map((request) => checkUnpaid(parts, request, findings)));
    }
  }
}

/**
 * A wallet may have paid a request and nobody has asked for it since: that is in the books as soon as somebody does. A
 * payment that the request names, and that has landed, must be there already.
 */
async function checkUnpaid(
  { rpc }: RequestCheckParts,
  request: PaymentRequestRecord,
  findings: Findings,
): Promise<void> {
  const history = await withRetry(() => rpc.getHistory(request.reference));
  const succeeded = history.filter(({ failed }) => !failed).reverse();
  for (const { signature } of succeeded.slice(0, LOOKED_AT)) {
    const landed = await withRetry(() => rpc.getTransaction(signature, 'confirmed'));
    if (landed === null) continue;
    const ids = [request.id, signature];
    const paid = readPaid(landed, requestTransfers(request));
    if (!paid.ok) {
      const came = receivedFor(request, landed).map(({ amount, asset, to }) => `${amount} of ${asset} to ${to}`);
      const detail = `${came.join(', ')} came with its reference, and does not pay it: ${paid.reason}`;
      if (came.length > 0) findings.notes({ kind: 'request', ids, detail, advice: GIVE_BACK });
      continue;
    }
    if (request.attempt === landed.messageHash) {
      const detail = 'its payment has landed, and is not in the books as received';
      findings.differs({ kind: 'request', ids, detail, advice: 'the payer has paid: serve it, or pay it back' });
    } else {
      const detail = 'a wallet has paid it, and nobody has asked for it since';
      findings.notes({ kind: 'request', ids, detail, advice: 'ask for its state, and it is booked' });
    }
    return;
  }
}
