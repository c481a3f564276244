import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { VersionedTransaction } from '@solana/web3.js';
import { encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentRequirements } from '@x402/core/types';
import { request } from 'undici';
import { PAYMENT_IDENTIFIER } from '../../src/protocol/payment-identifier.js';
import { proofHeader } from '../helpers/fixtures/gateway-client.js';
import { carry } from '../helpers/transactions/payments.js';
import { callPath } from './doors-native.js';
import { type Door, newPath, ROUTE_PRICE, signed, withNonce, withoutNonce } from './doors-x402.js';
import { hangUp } from './hang-up.js';
import type { SentPayment } from './payment-book.js';
import { ask, type Buyer, insist, insistOnPaid, isKeptFirst, isServed, post, type Sending, type Shop } from './shop.js';
import { runIn } from './use.js';

/** A transaction as the chain shows it to everybody. */
interface Loot {
  readonly signature: string;
  readonly transaction: Uint8Array;
  readonly payer: string;
}

/** A request with somebody else's payment. */
interface Theft {
  readonly kind: string;
  readonly path: string;
  readonly sending: Sending;
}

const RPC_TIMEOUT_MS = 5_000;
const NEWEST = 5;
const HISTORY = 100;
const TRIES = 5;
const ADDRESSES = 3;
/** How often it looks whether a payment has landed. */
const LOOKS = 30;
const LOOK_EVERY_MS = 50;

/**
 * Reads landed payments of others from the chain and brings them under terms of its own: at the address that they were for
 * and elsewhere, in both versions, with secrets that it makes up. It never gets anything.
 */
export const thief: Door = async (shop, buyer) => {
  const signature = await pickLanded(shop);
  const loot = signature === undefined ? undefined : await readLoot(shop, signature);
  if (loot === undefined || loot.payer === buyer.wallet.publicKey.toBase58()) return;
  await steal(shop, buyer, loot);
};

/** Its payer's connection breaks while a payment is on its way; before he is back, somebody brings it who saw it land. */
export const robbed: Door = async (shop, buyer) => {
  const payment = signed(shop, buyer, shop.terms);
  const path = newPath(shop, ['after', 'after', 'before', 'stream']);
  const sent = shop.book.add('robbed while it was on its way', payment.transaction, ROUTE_PRICE);
  sent.isForfeit = !isKeptFirst(path);
  const sending = { headers: payment[shop.chance.pick(['v1', 'v2'] as const)] };
  const patienceMs = shop.chance.between(0, 150);
  await hangUp(shop, sent, path, sending, {
    afterBytes: Number.POSITIVE_INFINITY,
    lingerMs: 0,
    isReset: true,
    patienceMs,
  });
  for (let left = LOOKS; left > 0; left -= 1) {
    const loot = await readLoot(shop, sent.signature);
    if (loot !== undefined) {
      await steal(shop, buyer, loot);
      break;
    }
    await pause(LOOK_EVERY_MS);
  }
  await insistOnPaid(shop, sent, path, sending);
};

async function steal(shop: Shop, buyer: Buyer, loot: Loot): Promise<void> {
  const victim = shop.book.find(loot.signature);
  const from = `127.0.3.${shop.chance.between(1, ADDRESSES)}`;
  const kinds = theftsOf(shop, buyer, loot, victim);
  const thefts = Array.from({ length: TRIES }, () => shop.chance.pick(kinds)());
  await Promise.all(
    thefts.map(async ({ kind, path, sending }) => {
      const sent = { ...sending, from };
      const reply = await (shop.chance.isTrue(0.5) ? insist(shop, path, sent) : ask(shop, path, sent));
      shop.findings.count('thefts', `${kind}: ${reply.status ?? 'nothing'} ${reply.code ?? ''}`);
      if (!isServed(reply) && runIn(reply.text) === undefined) return;
      const told = `${loot.signature} of ${victim?.door}, ${victim?.path}`;
      shop.findings.broke(`${shop.name}: a thief got ${reply.text.slice(0, 300)} at ${path} (${kind}) for ${told}`);
    }),
  );
}

function theftsOf(shop: Shop, buyer: Buyer, loot: Loot, victim: SentPayment | undefined): readonly (() => Theft)[] {
  const { transaction, signature } = loot;
  const { chance } = shop;
  const place = (terms: PaymentRequirements, path: string, extra = {}): Theft => {
    const forms = {
      'own nonce': carry(transaction, withNonce(terms)).v2,
      'no nonce': carry(transaction, withoutNonce(terms)).v2,
      'version 1': carry(transaction, terms).v1,
      'version 1, own key': { ...carry(transaction, terms).v1, 'idempotency-key': randomUUID() },
      'own identifier': identified(transaction, withoutNonce(terms)),
    };
    const [kind, headers] = chance.pick(Object.entries(forms));
    return { kind, path, sending: { headers: { ...headers, ...extra } } };
  };
  const thefts: (() => Theft)[] = [
    () => place(shop.terms, newPath(shop, ['after', 'before', 'stream'])),
    () => place(shop.callTerms, callPath(), buyer.key),
    () => ({
      kind: 'proof',
      path: callPath(),
      sending: { method: 'POST', headers: { ...buyer.key, ...proofHeader(signature) }, body: '{}' },
    }),
  ];
  const path = victim?.path;
  if (path?.startsWith('/v1/')) thefts.push(...[1, 2].map(() => () => place(shop.callTerms, path, buyer.key)));
  else if (path !== undefined && path !== '/settle') thefts.push(...[1, 2, 3].map(() => () => place(shop.terms, path)));
  // What a server had settled elsewhere and never heard of is told to whoever asks first.
  if (victim?.end === 'served')
    thefts.push(() => ({ kind: '/settle', path: '/settle', sending: settling(shop, transaction) }));
  return thefts;
}

function identified(transaction: Uint8Array, accepted: PaymentRequirements): Readonly<Record<string, string>> {
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  const extensions = { [PAYMENT_IDENTIFIER]: { info: { required: false, id: `pay_${randomUUID()}` } } };
  return { 'payment-signature': encodePaymentSignatureHeader({ x402Version: 2, accepted, payload, extensions }) };
}

function settling({ terms }: Shop, transaction: Uint8Array): Sending {
  const accepted = withNonce(terms);
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  const paymentPayload = { x402Version: 2, accepted, payload };
  return post({ x402Version: 2, paymentPayload, paymentRequirements: accepted });
}

/** A payment that has landed, one of the newest rather than of the others. */
async function pickLanded({ chance, feePayer, sandbox }: Shop): Promise<string | undefined> {
  const limit = chance.isTrue(0.7) ? NEWEST : HISTORY;
  const address = feePayer.publicKey.toBase58();
  const history = await call<readonly Listed[]>(sandbox, 'getSignaturesForAddress', address, { limit });
  const landed = history?.filter(({ err }) => err === null) ?? [];
  return landed.length === 0 ? undefined : chance.pick(landed).signature;
}

async function readLoot({ sandbox }: Shop, signature: string): Promise<Loot | undefined> {
  const config = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  const found = await call<Found | null>(sandbox, 'getTransaction', signature, config);
  if (found === undefined || found === null) return undefined;
  const transaction = Buffer.from(found.transaction[0], 'base64');
  const payer = VersionedTransaction.deserialize(transaction).message.staticAccountKeys[1]?.toBase58() ?? '';
  return { signature, transaction, payer };
}

interface Listed {
  readonly signature: string;
  readonly err: unknown;
}

interface Found {
  readonly transaction: readonly [text: string, encoding: string];
}

/** Asks the chain; undefined while it is out of order. */
async function call<Result>(
  sandbox: Shop['sandbox'],
  method: string,
  ...params: unknown[]
): Promise<Result | undefined> {
  try {
    const { body } = await request(sandbox.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(RPC_TIMEOUT_MS),
    });
    return ((await body.json()) as { readonly result?: Result }).result;
  } catch {
    return undefined;
  }
}
