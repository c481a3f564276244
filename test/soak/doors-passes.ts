import { randomUUID } from 'node:crypto';
import { type Door, ROUTE_PRICE, signed } from './doors-x402.js';
import { PASS_USES } from './goods.js';
import { ask, type Buyer, insistOnPaid, isOpen, isServed, type Shop } from './shop.js';

const MOST_AT_ONCE = 4;
const HANG_UP_MS = 30;

/**
 * Buys a pass and asks with it until it is used up, some requests at once, and hangs up on others: it covers no request more than it was
 * sold for. That nothing of it is lost the books say.
 */
export const passes: Door = async (shop, buyer) => {
  const token = await bought(shop, buyer);
  if (token === undefined) return;
  const { chance, findings } = shop;
  let served = 0;
  for (let asked = 1; asked <= PASS_USES + MOST_AT_ONCE; ) {
    const together = chance.between(1, MOST_AT_ONCE);
    const covered = await Promise.all(Array.from({ length: together }, () => isCovered(shop, token)));
    served += covered.filter((it) => it).length;
    asked += together;
  }
  findings.count('passes', `${served + 1} uses of ${PASS_USES}`);
  if (served >= PASS_USES) findings.broke(`${shop.name}: a pass of ${PASS_USES} uses has covered ${served + 1}`);
};

async function bought(shop: Shop, buyer: Buyer): Promise<string | undefined> {
  const payment = signed(shop, buyer, shop.terms, true);
  const sent = shop.book.add('pass', payment.transaction, ROUTE_PRICE);
  const path = newPath();
  const paid = await insistOnPaid(shop, sent, path, { headers: payment.v2 });
  const token = paid.headers.get('access-pass');
  if (isServed(paid) && token === null) shop.findings.broke(`${shop.name}: ${path} was paid, and no pass came with it`);
  return token ?? undefined;
}

async function isCovered(shop: Shop, token: string): Promise<boolean> {
  const { chance, findings, name } = shop;
  const hangUp = chance.isTrue(0.2) ? { signal: AbortSignal.timeout(chance.between(1, HANG_UP_MS)) } : {};
  const reply = await ask(shop, newPath(), { headers: { 'access-pass': token }, ...hangUp });
  const isUsedUp = reply.status === 402 && reply.code === 'pass_used_up';
  if (!isServed(reply) && !isUsedUp && !isOpen(reply)) {
    findings.broke(`${name}: a pass was answered ${reply.status} ${reply.text.slice(0, 200)}`);
  }
  return isServed(reply);
}

function newPath(): string {
  return `/pass/${randomUUID()}`;
}
