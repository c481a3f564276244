import { setTimeout as pause } from 'node:timers/promises';
import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import { newNonce } from '../../../src/protocol/codecs/nonce-header.js';
import { type SignedPayment, signTerms } from '../transactions/payments.js';
import { type CrashFixture, PRICE, type Seller, USDC } from './crash-fixture.js';

/** Where a payment is handed in: at a gate that settles after or before its handler, or at one of the two `/settle`. */
export type OrderDoor = 'after' | 'before' | 'x402' | 'native';

/** One payment, signed once, by a wallet that pays for nothing else; it can be sent as often as a test likes. */
export interface Order {
  readonly wallet: Keypair;
  readonly path: string;
  readonly init: RequestInit;
}

/** What came of sending it. */
export interface Reply {
  /** Missing where the connection was cut before the end of the response. */
  readonly status?: number;
  /** Code of the problem, or x402's reason. */
  readonly code?: string;
  /** When to come again, in seconds. */
  readonly retryAfter?: number;
  /** Token of the pass that it was told of. */
  readonly token?: string;
  /** Whether the whole of what was paid for arrived. */
  readonly served: boolean;
  /** Whether that was the response that was kept, and nothing was done anew for it. */
  readonly replayed: boolean;
}

const RETRY_MS = 100;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Where one buys at a gate. */
export type GateSeller = Pick<CrashFixture, 'sandbox' | 'feePayer' | 'payTo'>;

/** Terms of everything that is sold at a gate. */
export function termsAt(fixture: GateSeller): PaymentRequirements {
  const extra = { feePayer: fixture.feePayer.publicKey.toBase58() };
  const network = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
  const amount = String(PRICE);
  return { scheme: 'exact', network, asset: USDC, amount, payTo: fixture.payTo, maxTimeoutSeconds: 60, extra };
}

/** An order at a gate. */
export async function orderAtGate(fixture: GateSeller, wallet: Keypair, path: string): Promise<Order> {
  const terms = termsAt(fixture);
  const accepted = { ...terms, extra: { ...terms.extra, nonce: newNonce() } };
  const { v2 } = await signTerms({ sandbox: fixture.sandbox, payer: wallet }, accepted);
  return { wallet, path, init: { headers: v2 } };
}

/** An order of a new wallet. */
export async function newOrder(fixture: CrashFixture, seller: Seller, door: OrderDoor, what: string): Promise<Order> {
  const wallet = await fixture.sandbox.createWallet({ usdc: '1' });
  if (door === 'after' || door === 'before') return orderAtGate(fixture, wallet, `/${door}/${what}`);
  const body = door === 'x402' ? await x402Body(fixture, wallet) : await nativeBody(fixture, seller, wallet);
  return { wallet, path: '/settle', init: { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) } };
}

async function x402Body(fixture: CrashFixture, wallet: Keypair): Promise<object> {
  const { transaction, accepted }: SignedPayment = await signTerms(
    { sandbox: fixture.sandbox, payer: wallet },
    termsAt(fixture),
  );
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  const paymentPayload = { x402Version: 2, accepted, payload };
  return { x402Version: 2, paymentPayload, paymentRequirements: accepted };
}

async function nativeBody({ payTo }: CrashFixture, { url }: Seller, wallet: Keypair): Promise<object> {
  const wanted = { amount: 0.01, token: 'USDC', recipient: payTo, payer: wallet.publicKey.toBase58() };
  const init = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(wanted) };
  const created: unknown = await (await fetch(`${url}/create-payment`, init)).json();
  const { payment_id, transaction } = created as { payment_id: string; transaction: { serialized: string } };
  const unsigned = VersionedTransaction.deserialize(Buffer.from(transaction.serialized, 'base64'));
  unsigned.sign([wallet]);
  return { payment_id, signed_transaction: Buffer.from(unsigned.serialize()).toString('base64') };
}

/** Sends an order. `onHead` is told when the response begins, and is waited for before the rest is read. */
export async function send(
  url: string,
  { path, init }: Order,
  onHead: () => Promise<void> = async () => {},
): Promise<Reply> {
  try {
    const answer = await fetch(url + path, init);
    await onHead();
    const text = await answer.text();
    const body = readJson(text);
    const code = body['code'] ?? body['errorReason'];
    const isRefused = answer.status !== 200 || body['success'] === false;
    const retryAfter = answer.headers.get('retry-after');
    const token = answer.headers.get('access-pass');
    return {
      status: answer.status,
      served: !isRefused,
      replayed: answer.headers.get('idempotency-replayed') === 'true',
      ...(typeof code === 'string' ? { code } : {}),
      ...(retryAfter === null ? {} : { retryAfter: Number(retryAfter) }),
      ...(token === null ? {} : { token }),
    };
  } catch {
    return { served: false, replayed: false };
  }
}

/**
 * Sends an order again and again until it is served, or refused for good; answers all that it was told on the way. Where it is refused with
 * the token of what it has left, it goes on with that.
 */
export async function insist(url: () => string, order: Order): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  let asked = order;
  for (;;) {
    const reply = await send(url(), asked);
    replies.push(reply);
    const isOpen = reply.status === undefined || reply.status === 409 || reply.status === 503;
    const isHeld = reply.code === 'settlement_in_progress' || reply.code === 'settlement_pending';
    const isToldToken = !reply.served && reply.token !== undefined && asked === order;
    if (isToldToken) asked = { ...order, init: { headers: { 'access-pass': reply.token ?? '' } } };
    else if (reply.served || !(isOpen || isHeld)) return replies;
    await pause(RETRY_MS);
  }
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
}
