import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Keypair } from '@solana/web3.js';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { ProofHeaders } from '../helpers/http/sign-in.js';
import { type Door, signed } from './doors-x402.js';
import { CALL_PRICE, CALL_PRICE_TEXT, STRANGER } from './goods.js';
import { made, signIn } from './open-shop.js';
import type { Price } from './payment-book.js';
import { ask, isOpen, type Reply, type Shop } from './shop.js';

/** What a stranger's calls cost goes to the wallet of another one. */
const CALL: Price = { asset: 'USDC', amount: CALL_PRICE, to: 'stranger' };
/** Ends of the upstream's path: it does as they say. */
const MOODS = ['answers', 'answers', 'fails', 'breaks', 'breaks-in-mid-body', 'is-late'] as const;
/** Fewer than a stranger makes. */
const BUDGET_CALLS = 3;
const FUNDS = 1_000_000n;
const MOST_TRIES = 20;

/** Somebody who buys from a stranger, within a budget. */
interface StrangeBuyer {
  readonly wallet: Keypair;
  readonly proof: ProofHeaders;
  readonly id: string;
  key: ProofHeaders;
}

/**
 * A stranger makes a project, whose upstream fails now and then, and a webhook; another makes a key with a budget, calls, hangs up,
 * changes the key's secret and revokes it. What they paid and got the checks see; here, that nobody sees what is not theirs.
 */
export const strangers: Door = async (shop, other) => {
  const { sandbox, chance } = shop;
  const owner = await sandbox.createWallet({ usdc: '0' });
  const asOwner = await signIn(shop, owner);
  const slug = `${STRANGER}${randomUUID().slice(0, 18)}`;
  const pricing = { amount: CALL_PRICE_TEXT, token: 'USDC', network: 'solana-devnet' };
  const project = { slug, name: slug, upstream: { url: `${shop.upstream}/moody`, timeout_ms: 2_000 }, pricing };
  const { id } = await made(shop, '/api/v1/projects', project, { ...asOwner, ...newKey() });
  const webhook = { url: `${shop.upstream}/hook`, events: ['*'] };
  await made(shop, '/api/v1/webhooks', webhook, { ...asOwner, ...newKey() });
  const buyer = await newStrangeBuyer(shop);
  shop.strangers.push({ owner: addressOf(owner), buyer: addressOf(buyer.wallet), funds: FUNDS, budget: BUDGET });
  for (let left = chance.between(2, 6); left > 0; left -= 1) {
    await call(shop, buyer, `/v1/${slug}/${randomUUID()}/${chance.pick(MOODS)}`);
    if (chance.isTrue(0.3)) await rotate(shop, buyer);
  }
  for (const [headers, what] of [
    [buyer.proof, 'analytics'],
    [buyer.proof, 'calls'],
    [other.key, 'calls'],
  ] as const) {
    const reply = await ask(shop, `/api/v1/projects/${id}/${what}`, { headers });
    const isHidden = reply.status === 404 || (headers !== buyer.proof && reply.status === 403);
    if (!isHidden && !isOpen(reply)) shop.findings.broke(`${shop.name}: ${what} of another were shown: ${reply.text}`);
  }
  if (chance.isTrue(0.5)) await revoke(shop, buyer, slug);
};

const BUDGET = BigInt(BUDGET_CALLS) * CALL_PRICE;

async function newStrangeBuyer(shop: Shop): Promise<StrangeBuyer> {
  const wallet = await shop.sandbox.createWallet({ usdc: '1' });
  const proof = await signIn(shop, wallet);
  const spending = { limit: String(Number(BUDGET) / 1e6), token: 'USDC', window: 'total' };
  const { id, api_key, api_secret } = await made(
    shop,
    '/api/v1/keys/generate',
    { name: 'strange', spending },
    { ...proof, ...newKey() },
  );
  return {
    wallet,
    proof,
    id: String(id),
    key: { 'x-service-key': String(api_key), 'x-service-secret': String(api_secret) },
  };
}

/** Pays for a call unless credit does, and is content with any end; now and then its client hangs up. */
async function call(shop: Shop, { wallet, key }: StrangeBuyer, path: string): Promise<void> {
  const { chance, findings, book } = shop;
  const signal = () => (chance.isTrue(0.2) ? { signal: AbortSignal.timeout(chance.between(1, 400)) } : {});
  const first = await settled(shop, () => ask(shop, path, { headers: key }));
  findings.count('strangers', `first ${first.status} ${first.code ?? ''}`);
  if (first.status !== 402) return;
  const [terms] = decodePaymentRequiredHeader(first.headers.get('payment-required') ?? '').accepts;
  if (terms === undefined) return findings.broke(`${shop.name}: ${path} offers no terms`);
  const payment = signed(shop, { wallet }, terms);
  const sent = book.add('strangers', payment.transaction, CALL);
  // It may have bought nothing, and be credit.
  sent.isForfeit = true;
  sent.path = path;
  const hangsUp = signal();
  const once = await ask(shop, path, { headers: { ...key, ...payment.v2 }, ...hangsUp });
  const last =
    isOpen(once) && !isUpstreams(once)
      ? await settled(shop, () => ask(shop, path, { headers: { ...key, ...payment.v2 } }))
      : once;
  sent.end = `${last.status} ${last.code ?? ''}`;
  findings.count('strangers', `paid ${last.status} ${last.code ?? ''}`);
}

/** Tells that the upstream of a stranger has failed: it is final. */
function isUpstreams({ code }: Reply): boolean {
  return code?.startsWith('upstream_') === true;
}

/** Asks until the response is one of the service or of an upstream, for a while. */
async function settled(shop: Shop, asking: () => Promise<Reply>): Promise<Reply> {
  let reply = await asking();
  for (let left = MOST_TRIES; left > 0 && isOpen(reply) && !isUpstreams(reply); left -= 1) {
    await pause(shop.chance.between(100, 500));
    reply = await asking();
  }
  return reply;
}

async function rotate(shop: Shop, buyer: StrangeBuyer): Promise<void> {
  const body = shop.chance.isTrue(0.5) ? { expire_old_in: 0 } : {};
  const { api_secret } = await made(shop, `/api/v1/keys/${buyer.id}/rotate`, body, { ...buyer.proof, ...newKey() });
  buyer.key = { ...buyer.key, 'x-service-secret': String(api_secret) };
}

async function revoke(shop: Shop, { id, proof, key }: StrangeBuyer, slug: string): Promise<void> {
  const revoked = await settled(shop, () => ask(shop, `/api/v1/keys/${id}`, { method: 'DELETE', headers: proof }));
  // Nobody knows whether it was.
  if (isOpen(revoked)) return;
  const path = `/v1/${slug}/revoked/answers`;
  const reply = await settled(shop, () => ask(shop, path, { headers: key }));
  const isRefused = reply.status === 401;
  if (!isRefused && !isOpen(reply))
    shop.findings.broke(`${shop.name}: a revoked key got ${reply.status}: ${reply.text}`);
}

/** What was made in a moment in which the connection broke is made once. */
function newKey(): ProofHeaders {
  return { 'idempotency-key': randomUUID() };
}

function addressOf({ publicKey }: Keypair): string {
  return publicKey.toBase58();
}
