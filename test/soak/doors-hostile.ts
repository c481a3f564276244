import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sendToChain, signTransfer } from '../helpers/transactions/direct-transfer.js';
import { emptyWallet } from '../helpers/transactions/empty-wallet.js';
import { carry, type SignedPayment } from '../helpers/transactions/payments.js';
import { CALL, callPath } from './doors-native.js';
import { type Door, newPath, ROUTE_PRICE, signed, withNonce, withoutNonce } from './doors-x402.js';
import { LONG_BYTES, PRICE, USDC } from './goods.js';
import { type Cut, hangUp } from './hang-up.js';
import { type Buyer, insistOnPaid, isKeptFirst, type Sending, type Shop } from './shop.js';

/** Longer than the responses of the shop, but for the long one. */
const MOST_BYTES = 2_200;
const MOST_LONG_BYTES = LONG_BYTES + MOST_BYTES;
const AT_ONCE = 20;
const OWN_ADDRESSES = 3;
const MOST_TAKING_MS = 5_000;

/** A request that a hostile client makes for one of its payments. */
interface Try {
  readonly path: string;
  readonly sending: Sending;
}

/**
 * Hangs up at any byte, again and again, and comes with other queries meanwhile. In the end it asks for everything that it
 * has asked for as a client should.
 */
export const hangsUp: Door = async (shop, buyer) => {
  const { chance } = shop;
  const isCall = chance.isTrue(0.2);
  const payment = signed(shop, buyer, isCall ? shop.callTerms : shop.terms);
  const path = isCall ? callPath() : newPath(shop, ['after', 'before', 'stream', 'long']);
  const kind = isCall ? 'gateway' : path.split('/')[1];
  const price = isCall ? CALL : ROUTE_PRICE;
  const sent = shop.book.add(`hostile: hangs up, ${kind}`, payment.transaction, price);
  sent.isForfeit = !isKeptFirst(path);
  const headers = { ...(isCall ? buyer.key : {}), ...payment[chance.pick(['v1', 'v2'] as const)] };
  const sending = { headers, from: ownAddress(shop) };
  const paths = [path, path, path, `${path}?again=1`, `${path}?again=2`];
  const asked = new Set<string>();
  for (let left = chance.between(1, 4); left > 0; left -= 1) {
    const at = chance.pick(paths);
    asked.add(at);
    await hangUp(shop, sent, at, sending, cutOf(shop, kind === 'long' ? MOST_LONG_BYTES : MOST_BYTES));
    await pause(chance.between(0, 100));
  }
  asked.add(path);
  await Promise.all([...asked].map((at) => insistOnPaid(shop, sent, at, sending)));
};

function cutOf({ chance }: Shop, mostBytes = MOST_BYTES): Cut {
  const isImpatient = chance.isTrue(0.3);
  return {
    afterBytes: chance.between(1, mostBytes),
    lingerMs: chance.isTrue(0.7) ? 0 : chance.between(1, 400),
    isReset: chance.isTrue(0.5),
    patienceMs: isImpatient ? chance.between(0, 250) : 10_000,
  };
}

/** One payment at once for several addresses and bodies, with several secrets, some of them hanging up: one is served. */
export const manifold: Door = async (shop, buyer) => {
  const { chance } = shop;
  const payment = signed(shop, buyer, shop.terms, true);
  const sent = shop.book.add('hostile: copies that differ', payment.transaction, ROUTE_PRICE);
  const path = newPath(shop);
  sent.isForfeit = !isKeptFirst(path);
  const tries = Array.from({ length: chance.between(3, 8) }, () => differing(shop, payment, path));
  await Promise.all(
    tries.map(async (it) => {
      if (chance.isTrue(0.3)) await hangUp(shop, sent, it.path, it.sending, cutOf(shop));
      return insistOnPaid(shop, sent, it.path, it.sending);
    }),
  );
};

function differing(shop: Shop, { transaction, accepted, v1, v2 }: SignedPayment, path: string): Try {
  const { chance } = shop;
  const headers = chance.pick([
    v2,
    v2,
    v1,
    carry(transaction, withNonce(accepted)).v2,
    carry(transaction, withoutNonce(accepted)).v2,
    { ...v1, 'idempotency-key': randomUUID() },
  ]);
  const query = chance.pick(['', '', '?a=1', '?a=2']);
  const from = ownAddress(shop);
  if (chance.isTrue(0.5)) return { path: path + query, sending: { headers, from } };
  const body = chance.pick(['{"a":1}', '{"a":2}']);
  const typed = { ...headers, 'content-type': 'application/json' };
  return { path: path + query, sending: { method: 'POST', headers: typed, from, body } };
}

/** Twenty payments at once from a wallet with money for one. */
export const poor: Door = async (shop) => {
  const wallet = await shop.sandbox.createWallet({ usdc: '0.01' });
  await Promise.all(twenty(shop, { wallet }, 'hostile: money for one').map((buy) => buy()));
};

/** Money for all twenty, which the wallet takes away while they are on their way. */
export const vanishing: Door = async (shop) => {
  const { chance, sandbox } = shop;
  const wallet = await sandbox.createWallet({ usdc: '0.2', sol: '1' });
  const isOutrun = chance.isTrue(0.6);
  const late = isOutrun ? sandbox.faults.add({ kind: 'late', slots: chance.between(2, 20) }) : undefined;
  const buying = twenty(shop, { wallet }, 'hostile: takes its money away').map((buy) => buy());
  await pause(chance.between(0, 400));
  if (isOutrun) emptyWallet(sandbox, wallet, USDC);
  else await takeAway(shop, wallet);
  late?.remove();
  await Promise.all(buying);
};

function twenty(shop: Shop, { wallet }: Pick<Buyer, 'wallet'>, door: string): readonly (() => Promise<unknown>)[] {
  const from = ownAddress(shop);
  return Array.from({ length: AT_ONCE }, () => {
    const payment = signed(shop, { wallet }, shop.terms);
    const sent = shop.book.add(door, payment.transaction, ROUTE_PRICE);
    const path = newPath(shop, ['after', 'before', 'stream']);
    const headers = payment[shop.chance.pick(['v1', 'v2'] as const)];
    return () => insistOnPaid(shop, sent, path, { headers, from });
  });
}

/** A transfer of the wallet's own, unless the chain is out of order just then. */
async function takeAway(shop: Shop, wallet: Buyer['wallet']): Promise<void> {
  const { sandbox, chance, findings } = shop;
  const recipient = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
  const amount = PRICE * BigInt(chance.between(1, AT_ONCE));
  const taking = signTransfer(sandbox, { wallet, legs: [{ recipient, amount }] })
    .then(({ bytes }) => sendToChain(sandbox, bytes))
    .catch(() => findings.count('hostile', 'the chain would not take its money away'));
  await Promise.race([taking, pause(MOST_TAKING_MS)]);
}

/** An address of this machine that no honest client and no thief has. */
function ownAddress({ chance }: Shop): string {
  return `127.0.2.${chance.between(1, OWN_ADDRESSES)}`;
}
