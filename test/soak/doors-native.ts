import { randomUUID } from 'node:crypto';
import { VersionedTransaction } from '@solana/web3.js';
import { proofHeader } from '../helpers/fixtures/gateway-client.js';
import type { Door } from './doors-x402.js';
import { AGAIN, payOfficially, signed } from './doors-x402.js';
import { CALL_PRICE, CALL_PRICE_TEXT, PRICE, SLUG, SOL_PRICE, SOL_PRICE_TEXT } from './goods.js';
import type { Price } from './payment-book.js';
import {
  ask,
  askAgain,
  type Buyer,
  insist,
  insistOnPaid,
  isServed,
  post,
  type Reply,
  type Sending,
  type Shop,
} from './shop.js';

const TOKEN_PRICE_TEXT = '0.01';
export const CALL: Price = { asset: 'USDC', amount: CALL_PRICE, to: 'owner' };

interface Wanted {
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Created {
  readonly id: string;
  readonly transaction: Uint8Array;
}

/** Asks for a payment and signs it; undefined when it could not be had. */
async function create(shop: Shop, { wallet }: Buyer, { body, headers = {} }: Wanted): Promise<Created | undefined> {
  const asked = { payer: wallet.publicKey.toBase58(), ...body };
  const { status, body: created, text } = await insist(shop, '/create-payment', post(asked, headers));
  if (status !== 201 && status !== 200) {
    shop.findings.broke(`${shop.name}: /create-payment answered ${status} ${text.slice(0, 300)}`);
    return undefined;
  }
  const { serialized } = created['transaction'] as { readonly serialized: string };
  const transaction = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
  transaction.sign([wallet]);
  return { id: String(created['payment_id']), transaction: transaction.serialize() };
}

function settleBody({ id, transaction }: Created): Sending {
  return post({ payment_id: id, signed_transaction: Buffer.from(transaction).toString('base64') });
}

/** `/create-payment` and `/settle` in SOL or USDC; the same again must answer the same, and `/verify` must know it. */
export const native: Door = async (shop, buyer) => {
  const isSol = shop.chance.isTrue(0.5);
  const amount = isSol ? SOL_PRICE_TEXT : TOKEN_PRICE_TEXT;
  const wanted = { amount: Number(amount), token: isSol ? 'SOL' : 'USDC', recipient: shop.payTo };
  const created = await create(shop, buyer, { body: wanted });
  if (created === undefined) return;
  const price: Price = isSol
    ? { asset: 'SOL', amount: SOL_PRICE, to: 'shop' }
    : { asset: 'USDC', amount: PRICE, to: 'shop' };
  const sent = shop.book.add(`/settle of ${wanted.token}`, created.transaction, price);
  const settled = await insistOnPaid(shop, sent, '/settle', settleBody(created));
  if (!isServed(settled)) return;
  const again = await insist(shop, '/settle', settleBody(created));
  if (again.body['tx_signature'] !== sent.signature) {
    shop.findings.broke(`${shop.name}: /settle again of ${sent.signature} answered ${again.text.slice(0, 300)}`);
  }
  const looked = await insist(shop, '/verify', post({ tx_signature: sent.signature }));
  if (looked.body['verified'] !== true || looked.body['amount'] !== Number(amount)) {
    shop.findings.broke(`${shop.name}: /verify of ${sent.signature} answered ${looked.text.slice(0, 300)}`);
  }
};

/** A call through the gateway that was paid for by `/create-payment`, shown by its signature. */
export const proven: Door = async (shop, buyer) => {
  const body = { amount: Number(CALL_PRICE_TEXT), token: 'USDC', recipient: shop.owner, project: SLUG };
  const created = await create(shop, buyer, { body, headers: buyer.key });
  if (created === undefined) return;
  const sent = shop.book.add('gateway, X-Service-Payment', created.transaction, CALL);
  const settled = await insist(shop, '/settle', settleBody(created));
  if (!isServed(settled)) {
    sent.end = `${settled.status} ${settled.code}`;
    return;
  }
  const headers = { ...buyer.key, ...proofHeader(sent.signature) };
  await insistOnPaid(shop, sent, callPath(), { method: 'POST', headers, body: '{}' });
};

/** A call through the gateway, paid for with x402: by the official client or signed before. */
export const called: Door = async (shop, buyer) => {
  const path = callPath();
  if (shop.chance.isTrue(0.2)) {
    const door = 'gateway, x402, official client';
    return payOfficially(shop, buyer, { version: 2, door, path, price: CALL, headers: buyer.key });
  }
  const version = shop.chance.pick(['v1', 'v2'] as const);
  const payment = signed(shop, buyer, shop.callTerms);
  const sent = shop.book.add(`gateway, x402 ${version}`, payment.transaction, CALL);
  const sending = { headers: { ...buyer.key, ...payment[version] } };
  const first = await insistOnPaid(shop, sent, path, sending);
  if (isServed(first) && shop.chance.isTrue(AGAIN)) await askAgain(shop, sent, path, sending);
};

/** A call with somebody else's landed payment must not be served. */
export const stolen: Door = async (shop, buyer) => {
  const landed = shop.book.payments.filter(({ door, end }) => end === 'served' && door.startsWith('/settle of')).at(-1);
  if (landed === undefined) return;
  const headers = { ...buyer.key, ...proofHeader(landed.signature) };
  const reply: Reply = await ask(shop, callPath(), { method: 'POST', headers, body: '{}' });
  if (reply.status === 200) shop.findings.broke(`${shop.name}: a call was served for another's ${landed.signature}`);
};

/** A new address behind the gateway. */
export function callPath(): string {
  return `/v1/${SLUG}/${randomUUID()}`;
}
