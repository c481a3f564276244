import type { NetworkId } from '../../protocol/types.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import type { BookedRequest, RequestReader } from '../../storage/books/request-reader.js';
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

/**
 * Looks on the chain for payments of requests that are not paid in the books, and for money that came for those that are beside their
 * payment, at a call for each.
 */
export async function checkRequests(parts: RequestCheckParts, findings: Findings): Promise<void> {
  const { requests, network, from } = parts;
  await forEach(requests.unpaid(network, from), (request) => checkUnpaid(parts, request, findings));
  await forEach(requests.paid(network, from), (paid) => checkPaid(parts, paid, findings));
}

async function forEach<T>(pages: AsyncIterable<readonly T[]>, check: (it: T) => Promise<void>): Promise<void> {
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += AT_ONCE) await Promise.all(page.slice(at, at + AT_ONCE).map(check));
  }
}

/** What names the reference of a request and succeeded, the oldest first. */
async function signaturesFor({ rpc }: RequestCheckParts, { reference }: PaymentRequestRecord) {
  const history = await withRetry(() => rpc.getHistory(reference));
  const succeeded = history.filter(({ failed }) => !failed).reverse();
  return succeeded.map(({ signature }) => signature);
}

/** What a transaction brought to the recipients of a request, as text; empty where that is nothing. */
function shownFor(request: PaymentRequestRecord, landed: LandedTransaction): string {
  return receivedFor(request, landed)
    .map(({ amount, asset, to }) => `${amount} of ${asset} to ${to}`)
    .join(', ');
}

/** Anything that came for a request beside the payment which the books have for it. */
async function checkPaid(parts: RequestCheckParts, { request, signature }: BookedRequest, findings: Findings) {
  const others = (await signaturesFor(parts, request)).filter((it) => it !== signature);
  for (const other of others.slice(0, LOOKED_AT)) {
    const landed = await withRetry(() => parts.rpc.getTransaction(other, 'confirmed'));
    const came = landed === null ? '' : shownFor(request, landed);
    if (came === '') continue;
    const detail = `${came} came with its reference beside its payment ${signature}`;
    findings.notes({ kind: 'request', ids: [request.id, other], detail, advice: GIVE_BACK });
  }
}

/**
 * A wallet may have paid a request and nobody has asked for it since: that is in the books as soon as somebody does. A
 * payment that the request names, and that has landed, must be there already.
 */
async function checkUnpaid(parts: RequestCheckParts, request: PaymentRequestRecord, findings: Findings): Promise<void> {
  for (const signature of (await signaturesFor(parts, request)).slice(0, LOOKED_AT)) {
    const landed = await withRetry(() => parts.rpc.getTransaction(signature, 'confirmed'));
    if (landed === null) continue;
    const ids = [request.id, signature];
    const paid = readPaid(landed, requestTransfers(request));
    if (!paid.ok) {
      const came = shownFor(request, landed);
      const detail = `${came} came with its reference, and does not pay it: ${paid.reason}`;
      if (came !== '') findings.notes({ kind: 'request', ids, detail, advice: GIVE_BACK });
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
