import { randomUUID } from 'node:crypto';
import { encodePaymentSignatureHeader } from '@x402/core/http';
import { carry } from '../helpers/transactions/payments.js';
import { signInHeader, signInInfo, walletKeyOf } from '../helpers/transactions/wallet-key.js';
import { type Door, signed } from './doors-x402.js';
import { SLUG } from './goods.js';
import { ask, type Buyer, insist, isOpen, post, type Reply, type Shop } from './shop.js';

/** Asks without paying: 402, or 503 while nothing can be paid. */
export const unpaid: Door = async (shop, { key }) => {
  const path = shop.chance.pick([`/after/${randomUUID()}`, `/before/${randomUUID()}`, `/v1/${SLUG}/unpaid`]);
  expectRefused(shop, path, await ask(shop, path, { headers: key }), [402]);
};

/** What the service tells to everybody. */
export const looked: Door = async (shop) => {
  const path = shop.chance.pick(['/', '/health', '/healthz', '/supported', '/wallet-status', '/discovery', '/metrics']);
  const reply = await ask(shop, path);
  if (reply.status !== 200 && !isOpen(reply)) shop.findings.broke(`${shop.name}: ${path} answered ${reply.status}`);
};

/** A member comes in by signing in, and somebody who holds little does not. */
export function gated(isMember: boolean): Door {
  return async (shop, { wallet }) => {
    const path = isMember ? '/club' : '/gold';
    const reply = await signInAt(shop, { wallet, key: {} }, path);
    if (isOpen(reply)) return;
    const wanted = isMember ? 200 : 403;
    if (reply.status !== wanted) {
      shop.findings.broke(`${shop.name}: ${path} answered ${reply.status}, not ${wanted}: ${reply.text.slice(0, 300)}`);
    }
  };
}

async function signInAt(shop: Shop, { wallet }: Buyer, path: string): Promise<Reply> {
  const challenge = await insist(shop, path);
  const { extensions } = challenge.body as { readonly extensions?: Readonly<Record<string, unknown>> };
  if (extensions === undefined) return challenge;
  const key = walletKeyOf(wallet.secretKey.subarray(0, 32));
  const headers = { 'sign-in-with-x': signInHeader(key, signInInfo({ extensions })) };
  return ask(shop, path, { headers });
}

/** A payment that is wrong in one place, at one of the doors. */
export const bad: Door = async (shop, buyer) => {
  const { headers, door } = badPayment(shop, buyer);
  const path = `/${shop.chance.pick(['after', 'before'])}/${randomUUID()}`;
  shop.findings.count('bad payments', door);
  expectRefused(shop, path, await ask(shop, path, { headers }), [400, 402, 431]);
};

/** The same at `/verify` and `/settle`. */
export const badSettle: Door = async (shop, buyer) => {
  const spoiled = spoil(shop, signed(shop, buyer, shop.terms).transaction);
  const payload = { transaction: Buffer.from(spoiled).toString('base64') };
  const paymentPayload = { x402Version: 2, accepted: shop.terms, payload };
  const request = post({ x402Version: 2, paymentPayload, paymentRequirements: shop.terms });
  shop.findings.count('bad payments', 'spoiled bytes, facilitator');
  const path = shop.chance.pick(['/verify', '/settle']);
  const reply = await ask(shop, path, request);
  const isRefused = reply.body['isValid'] === false || reply.body['success'] === false || (reply.status ?? 0) >= 400;
  if (!isRefused && !isOpen(reply)) {
    shop.findings.broke(`${shop.name}: ${path} took spoiled bytes: ${reply.status} ${reply.text.slice(0, 300)}`);
  }
};

type BadPayment = { readonly door: string; readonly headers: Readonly<Record<string, string>> };

function badPayment(shop: Shop, buyer: Buyer): BadPayment {
  const { chance, terms } = shop;
  const wrong = { ...terms, amount: String(BigInt(terms.amount) + chance.pick([-1n, 1n, 1n << 32n])) };
  const kinds: readonly (() => BadPayment)[] = [
    () => {
      const transaction = spoil(shop, signed(shop, buyer, terms).transaction);
      return { door: 'spoiled bytes', headers: carry(transaction, terms)[chance.pick(['v1', 'v2'] as const)] };
    },
    // The terms of the route with another amount in the transaction, and both with another amount.
    () => ({ door: 'wrong amount', headers: carry(signed(shop, buyer, wrong).transaction, terms).v2 }),
    () => ({ door: 'other terms', headers: signed(shop, buyer, wrong).v2 }),
    () => {
      const elsewhere = { ...terms, payTo: shop.owner };
      return { door: 'wrong recipient', headers: carry(signed(shop, buyer, elsewhere).transaction, terms).v2 };
    },
    () => ({ door: 'garbage', headers: { 'payment-signature': Buffer.from(randomUUID()).toString('base64') } }),
    () => ({ door: 'too long', headers: { 'x-payment': 'A'.repeat(20_000) } }),
    () => {
      const payload = { transaction: 'AAAA' };
      const header = encodePaymentSignatureHeader({ x402Version: 2, accepted: terms, payload });
      return { door: 'no transaction', headers: { 'payment-signature': header } };
    },
  ];
  return chance.pick(kinds)();
}

/** Other bytes in one to three places, never in the fee payer's slot only, which no signature covers. */
function spoil({ chance }: Shop, transaction: Uint8Array): Uint8Array {
  const spoiled = Uint8Array.from(transaction);
  const covered = 1 + 64;
  for (let left = chance.between(1, 3); left > 0; left -= 1) {
    const at = chance.between(covered, spoiled.length - 1);
    spoiled[at] = (spoiled[at] ?? 0) ^ (1 << chance.between(0, 7));
  }
  // Two flips of the same bit would leave it as it was.
  spoiled[covered] = (transaction[covered] ?? 0) ^ 1;
  return spoiled;
}

function expectRefused(shop: Shop, path: string, reply: Reply, statuses: readonly number[]): void {
  if (isOpen(reply) || statuses.includes(reply.status ?? 0)) return;
  const wanted = statuses.join(' or ');
  shop.findings.broke(`${shop.name}: ${path} answered ${reply.status}, not ${wanted}: ${reply.text.slice(0, 300)}`);
}
