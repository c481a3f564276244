import type { PageOffer, PaywallData } from '../../paywall/paywall-data.js';
import { reasonInWords } from '../../texts/refusals/reason-words.js';
import { fromBase64, toHeader } from '../wire/bytes.js';
import { isIn, problemOf, sendRequest } from '../wire/send-request.js';

/** A payment that the server has prepared for a wallet. */
export interface PaymentToSign {
  /** What is paid, as the page shows it. */
  readonly offer: PageOffer;
  /** The payment but for its signatures, as x402 sends it. */
  readonly payment: { readonly payload: { readonly transaction: string } };
  /** What the wallet has of the token, and what it lacks, for people. Missing where that is not known. */
  readonly balance?: string;
  readonly missing?: string;
  /** Whether it has nothing at all of the token. */
  readonly isEmpty?: boolean;
}

/** What came of asking for a payment. */
export type Preparation =
  | { readonly status: 'in'; readonly answer: Response }
  | { readonly status: 'prepared'; readonly prepared: PaymentToSign }
  | { readonly status: 'failed'; readonly reason: string };

/**
 * Has the server build the payment of an offer for a wallet. A request that may pass without a payment is answered by what lies behind
 * the gate, which is then had without one.
 */
export async function prepare(
  { request, reasons }: Pick<PaywallData, 'request' | 'reasons'>,
  offer: PageOffer,
  payer: string,
): Promise<Preparation> {
  const { asset, amount } = offer;
  const answer = await sendRequest(request, { 'Prepare-Payment': toHeader({ payer, asset, amount }) }).catch(
    () => undefined,
  );
  if (answer === undefined) return { status: 'failed', reason: reasons.away };
  if (isIn(answer)) return { status: 'in', answer };
  const { prepared, code, detail } = await problemOf(answer);
  if (isPrepared(prepared)) return { status: 'prepared', prepared };
  if (typeof code !== 'string') return { status: 'failed', reason: reasons.away };
  return { status: 'failed', reason: reasonInWords({ code, detail: String(detail ?? code) }, reasons) };
}

/** The transaction of a prepared payment, to be signed. */
export function transactionOf({ payment }: PaymentToSign): Uint8Array<ArrayBuffer> {
  return fromBase64(payment.payload.transaction);
}

function isPrepared(value: unknown): value is PaymentToSign {
  return typeof Reflect.get(Object(Reflect.get(Object(value), 'payment')), 'payload') === 'object';
}
