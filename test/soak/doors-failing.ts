import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Door, ROUTE_PRICE, signed } from './doors-x402.js';
import { FAILED_STATUS, FAILS_HEADER, PACK_USES } from './goods.js';
import type { FailedRequest, SentPayment } from './payment-book.js';
import { ask, type Buyer, insist, insistOnPaid, isOpen, isServed, noteDelivery, post, type Shop } from './shop.js';
import { useOf } from './use.js';

/** A request that was paid for and has failed: its payment, and what shows what was left. */
interface Failed {
  readonly shop: Shop;
  readonly payment: SentPayment & { readonly failed: FailedRequest };
  readonly path: string;
  readonly v2: Readonly<Record<string, string>>;
  readonly token: string;
}

const MOST_TRIES = 5;
const RETRY_MS = 300;
const IN_USE = 'payment_in_progress';
/** While what was left of one payment is used, the refund of others goes on. */
const REFUNDED = 0.4;

/**
 * Pays for a request that fails, and then uses what that has left, has it paid back, tries both at once, or leaves it. What was paid is
 * what was had, what is left and what was paid back: the books and the chain say so.
 */
export const failing: Door = async (shop, buyer) => {
  const failed = await payInVain(shop, buyer);
  if (failed === undefined) return;
  const { chance, findings } = shop;
  const [course, follow] = chance.weighted<readonly [string, (it: Failed) => Promise<unknown>]>([
    [2, ['the same payment again', again]],
    [2, ['by its token', byToken]],
    [1, ['by its token, failing once more', failOnce]],
    [3, ['paid back', refund]],
    [2, ['paid back and used at once', (it) => Promise.all([refund(it), byToken(it), refund(it)])]],
    [1, ['the same payment and the token at once', (it) => Promise.all([again(it), byToken(it)])]],
    [1, ['left alone', async () => {}]],
  ]);
  findings.count('failed requests', course);
  await follow(failed);
  if (chance.isTrue(REFUNDED)) await refund(failed);
};

async function payInVain(shop: Shop, buyer: Buyer): Promise<Failed | undefined> {
  const isPack = shop.chance.isTrue(0.4);
  const { transaction, v2 } = signed(shop, buyer, shop.terms, true);
  const path = newPath(isPack ? 'failing-pack' : 'failing');
  const sent = shop.book.add(isPack ? 'pack whose request fails' : 'request that fails', transaction, ROUTE_PRICE);
  const payment = Object.assign(sent, { path, failed: { uses: isPack ? BigInt(PACK_USES) : 1n, lost: 0 } });
  for (let tries = 1; ; tries += 1) {
    const { status, headers, code, text } = await insist(shop, path, { headers: { ...v2, [FAILS_HEADER]: 'yes' } });
    const token = headers.get('access-pass');
    payment.end = `${status} ${code ?? text.slice(0, 80)}`;
    if (status === FAILED_STATUS && token !== null) return { shop, payment, path, v2, token };
    // Without the store nothing can be left, and the payment is good for its request again.
    if (status !== FAILED_STATUS || tries === MOST_TRIES) return undefined;
  }
}

/** What was killed under way is run again: nothing is lost where nothing else uses what was left. */
async function again({ shop, payment, path, v2 }: Failed): Promise<void> {
  await insistOnPaid(shop, payment, path, { headers: v2 });
}

async function byToken({ shop, payment, path, token }: Failed): Promise<void> {
  const [, kind = ''] = path.split('/');
  const to = newPath(kind);
  const sending = { headers: { 'access-pass': token } };
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    const reply = await ask(shop, to, sending);
    if (isServed(reply)) {
      return noteDelivery(payment, {
        use: useOf(to, sending),
        text: reply.text,
        headers: reply.headers,
        isWhole: true,
      });
    }
    if (!isOpen(reply)) return refusal(shop, payment, reply.status, reply.text);
    payment.failed.lost += 1;
  }
}

async function failOnce(failed: Failed): Promise<void> {
  const { shop, payment, path, token } = failed;
  const [, kind = ''] = path.split('/');
  const reply = await ask(shop, newPath(kind), { headers: { 'access-pass': token, [FAILS_HEADER]: 'yes' } });
  if (reply.status !== FAILED_STATUS && isOpen(reply)) payment.failed.lost += 1;
  await byToken(failed);
}

function refusal({ findings, name }: Shop, { signature }: SentPayment, status: number | undefined, text: string): void {
  if (status !== 402)
    findings.broke(`${name}: what ${signature} has left was answered ${status} ${text.slice(0, 200)}`);
}

async function refund({ shop, payment }: Failed): Promise<void> {
  const { findings, name } = shop;
  const path = `/refund/${payment.id}`;
  let reply = await ask(shop, path, post({}));
  // What a request of the last minute has taken may be given back: that is not waited for.
  while (isOpen(reply) && reply.code !== IN_USE) {
    await pause(RETRY_MS);
    reply = await ask(shop, path, post({}));
  }
  const { status, code, body, text } = reply;
  findings.count('refunds', `${name}: ${code ?? String(body['state'])}`);
  const isKnown = status === 200 || code === 'nothing_to_refund' || code === IN_USE;
  if (!isKnown) findings.broke(`${name}: the refund of ${payment.id} was answered ${status} ${text.slice(0, 200)}`);
}

function newPath(kind: string): string {
  return `/${kind}/${randomUUID()}`;
}
