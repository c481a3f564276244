import { randomUUID } from 'node:crypto';
import { encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentRequirements } from '@x402/core/types';
import { newNonce } from '../../src/protocol/codecs/nonce-header.js';
import { PAYMENT_IDENTIFIER } from '../../src/protocol/payment-identifier.js';
import { presign } from '../bench/presigned.js';
import { type Fetch, payingFetch, payingFetchV1 } from '../helpers/http/official-clients.js';
import { type SignedPayment, withOtherFeePayerBytes } from '../helpers/transactions/payments.js';
import { PRICE } from './goods.js';
import type { Price, SentPayment } from './payment-book.js';
import { ask, askAgain, type Buyer, insist, insistOnPaid, isServed, post, type Reply, type Shop } from './shop.js';

/** One thing that a client does. */
export type Door = (shop: Shop, buyer: Buyer) => Promise<void>;

/** What a route of the shop costs. */
export const ROUTE_PRICE: Price = { asset: 'USDC', amount: PRICE, to: 'shop' };
const SIGNING_MS = 10_000;
/** How often a response is asked for again by the one who has it. */
export const AGAIN = 0.4;

/** A payment of given terms, signed by hand; now and then without a nonce, so that its payer is known by other things. */
export function signed(
  shop: Shop,
  { wallet }: Pick<Buyer, 'wallet'>,
  terms: PaymentRequirements,
  hasNonce = shop.chance.isTrue(0.85),
): SignedPayment {
  const accepted = hasNonce ? withNonce(terms) : withoutNonce(terms);
  const [payment] = presign({ payer: wallet, accepted, blockhash: shop.blockhash(), count: 1 });
  if (payment === undefined) throw new Error('nothing was signed');
  return payment;
}

/** Terms as a 402 of one's own would have them. */
export function withNonce(terms: PaymentRequirements): PaymentRequirements {
  return { ...terms, extra: { ...terms.extra, nonce: newNonce() } };
}

/** Terms as a client echoes them that leaves out what it does not know. */
export function withoutNonce({
  extra: { nonce: _, ...extra } = {},
  ...terms
}: PaymentRequirements): PaymentRequirements {
  return { ...terms, extra };
}

/** A new address of a kind of route. */
export function newPath(shop: Shop, kinds: readonly string[] = ['after', 'before']): string {
  return `/${shop.chance.pick(kinds)}/${randomUUID()}`;
}

/** The official client of a version, as it comes. */
export function official(version: 1 | 2): Door {
  return (shop, buyer) =>
    payOfficially(shop, buyer, { version, door: `x402 v${version}, official client`, path: newPath(shop) });
}

/** What the official client is to pay for. */
export interface OfficialOrder {
  readonly version: 1 | 2;
  readonly door: string;
  readonly path: string;
  readonly price?: Price;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A payment that the official client has sent, and what it was answered first. */
interface Shown {
  readonly payment: SentPayment;
  readonly headers: Readonly<Record<string, string>>;
  readonly first: Promise<Reply>;
}

/** Buys with the official client; what it could not finish is insisted on with the payment that it made. */
export async function payOfficially(shop: Shop, { wallet }: Buyer, order: OfficialOrder): Promise<void> {
  const { version, door, path, price = ROUTE_PRICE, headers = {} } = order;
  const shown: Shown[] = [];
  let mayPay = true;
  const through: Fetch = async (input, given) => {
    const request = new Request(input, given);
    const header = request.headers.get('payment-signature') ?? request.headers.get('x-payment');
    const sent = Object.fromEntries(request.headers);
    if (!mayPay) throw new Error('nobody waits for it any more');
    const replied = ask(shop, path, { headers: sent });
    if (header !== null) {
      const { payload } = JSON.parse(Buffer.from(header, 'base64').toString()) as { payload: { transaction: string } };
      const payment = shop.book.add(door, Buffer.from(payload.transaction, 'base64'), price);
      shown.push({ payment, headers: sent, first: replied });
    }
    return asResponse(await replied);
  };
  const setup = { wallet, rpcUrl: shop.sandbox.rpcUrl };
  const pay = version === 2 ? payingFetch(setup, through) : payingFetchV1(setup, 'solana-devnet', through);
  // The client asks the chain itself, and has no patience of its own.
  const ended = await inTime(async () => (await (await pay)(shop.url + path, { headers })).status);
  mayPay = false;
  if (shown.length === 0) shop.findings.count('official clients that made no payment', ended);
  await Promise.all(
    shown.map(async (it) => insistOnPaid(shop, it.payment, path, { headers: it.headers }, await it.first)),
  );
}

function asResponse({ status, headers, text }: Reply): Response {
  if (status === undefined) throw new Error('no answer');
  return new Response(text, { status, headers });
}

/** How it ended, in words. */
async function inTime(work: () => Promise<number>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, SIGNING_MS, 'it took too long');
  });
  const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  try {
    return await Promise.race([work().then((status) => `answered ${status}`, said), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Signed by hand, in one of the two versions. */
export const presigned: Door = async (shop, buyer) => {
  const version = shop.chance.pick(['v1', 'v2'] as const);
  const payment = signed(shop, buyer, shop.terms);
  const sent = shop.book.add(`x402 ${version}, signed before`, payment.transaction, ROUTE_PRICE);
  const key = shop.chance.isTrue(0.2) ? { 'idempotency-key': randomUUID() } : {};
  const sending = { headers: { ...payment[version], ...key } };
  const path = newPath(shop);
  const first = await insistOnPaid(shop, sent, path, sending);
  if (isServed(first) && shop.chance.isTrue(AGAIN)) await askAgain(shop, sent, path, sending);
};

/** A response in pieces, each of which its client can read as it comes. */
export const streamed: Door = async (shop, buyer) => {
  const version = shop.chance.pick(['v1', 'v2'] as const);
  const payment = signed(shop, buyer, shop.terms);
  const sent = shop.book.add('stream', payment.transaction, ROUTE_PRICE);
  const path = newPath(shop, ['stream']);
  const sending = { headers: payment[version] };
  const first = await insistOnPaid(shop, sent, path, sending);
  if (isServed(first) && shop.chance.isTrue(AGAIN)) await askAgain(shop, sent, path, sending);
};

/** Copies of one payment at once, in both versions and with other bytes in the slot that its signature does not cover. */
export const copies: Door = async (shop, buyer) => {
  const payment = signed(shop, buyer, shop.terms);
  const sent = shop.book.add('copies at once', payment.transaction, ROUTE_PRICE);
  const path = newPath(shop);
  const forms = [payment.v2, payment.v1, withOtherFeePayerBytes(payment, shop.chance.between(1, 255)).v2];
  const all = Array.from({ length: shop.chance.between(2, 6) }, () => shop.chance.pick(forms));
  await Promise.all(all.map((headers) => insistOnPaid(shop, sent, path, { headers })));
};

/** A payment with an identifier: its client hangs up now and then, and must get the one response as often as it asks. */
export const identified: Door = async (shop, buyer) => {
  const { transaction, accepted } = signed(shop, buyer, shop.terms);
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  const extensions = { [PAYMENT_IDENTIFIER]: { info: { required: false, id: `pay_${randomUUID()}` } } };
  const headers = {
    'payment-signature': encodePaymentSignatureHeader({ x402Version: 2, accepted, payload, extensions }),
  };
  const path = newPath(shop);
  const sent = shop.book.add('payment-identifier', transaction, ROUTE_PRICE);
  if (shop.chance.isTrue(0.4)) {
    await ask(shop, path, { headers, signal: AbortSignal.timeout(shop.chance.between(1, 300)) });
  }
  const first = await insistOnPaid(shop, sent, path, { headers });
  if (isServed(first)) await askAgain(shop, sent, path, { headers });
};

/** The facilitator of another server: `/verify`, then `/settle`. */
export const facilitated: Door = async (shop, buyer) => {
  const { transaction, accepted } = signed(shop, buyer, shop.terms);
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  const paymentPayload = { x402Version: 2, accepted, payload };
  const request = post({ x402Version: 2, paymentPayload, paymentRequirements: accepted });
  const verified = await insist(shop, '/verify', request);
  if (verified.body['isValid'] !== true && verified.code !== 'invalid_exact_svm_blockhash_expired') {
    shop.findings.broke(
      `${shop.name}: /verify said ${verified.status} ${verified.text.slice(0, 300)} of a good payment`,
    );
  }
  const sent = shop.book.add('/settle of x402', transaction, ROUTE_PRICE);
  await insistOnPaid(shop, sent, '/settle', request);
};

/** Shows a landed payment to a second route: it must not open. */
export const another: Door = async (shop, buyer) => {
  const payment = signed(shop, buyer, shop.terms);
  const sent = shop.book.add('one payment, two routes', payment.transaction, ROUTE_PRICE);
  const paths = [newPath(shop), newPath(shop)];
  await Promise.all(paths.map((path) => insistOnPaid(shop, sent, path, { headers: payment.v2 })));
};
