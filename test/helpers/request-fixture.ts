import type { RequestParts } from '../../src/facilitator/proofs/request-terms.js';
import type { WalletSearch } from '../../src/facilitator/proofs/wallet-payments.js';
import { settleRequest } from '../../src/facilitator/requests/settle-request.js';
import type { Ledger } from '../../src/storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../src/storage/ledger/payment-request.js';
import { ledgerWith } from './ledgers.js';
import { newRequest, openPaymentService, type paying, signatureOf } from './payment-service-fixture.js';

type Paid = ReturnType<typeof paying>;

/** A request that is kept, and what settles it. A wallet has paid it by itself where `paidBy` says so. */
export async function openRequest(own: Partial<Ledger> = {}, changed: Partial<PaymentRequestRecord> = {}) {
  const stand = openPaymentService(own);
  const { ledger, parts } = stand;
  const request = newRequest(stand.now(), changed);
  await ledger.savePaymentRequest(request);
  const wallet: { paidBy?: string } = {};
  const settle = async (paid: Paid, by: RequestParts = parts) => {
    const kept = (await ledger.findPaymentRequest(request.id)) ?? request;
    const { paidBy: id } = wallet;
    const found: WalletSearch = id === undefined ? { status: 'none' } : { status: 'paid', id, signature: 'theirs' };
    return settleRequest({ ...by, walletPayments: async () => found }, kept, paid.bytes);
  };
  const stateOf = async ({ decoded }: Paid) => (await ledger.find(decoded.messageHash))?.state;
  return { ...stand, request, wallet, settle, stateOf, stand };
}

export type OpenedRequest = Awaited<ReturnType<typeof openRequest>>;

/** What a settled request is answered with, at our cost. */
export function settled({ request, chain }: OpenedRequest, { bytes, payer }: Paid, slot = 9) {
  const { network, payTo, token, amount } = request;
  const receipt = { signature: signatureOf(bytes), network, payer, payTo, asset: token.mint, amount, slot };
  return { status: 'settled', receipt, facts: chain.landed };
}

/** A ledger at which something else happens right before a transaction is made the one that pays. */
export function racing({ ledger }: OpenedRequest, race: () => Promise<unknown>): Ledger {
  return ledgerWith(ledger, {
    async attachAttempt(...call) {
      await race();
      return ledger.attachAttempt(...call);
    },
  });
}
