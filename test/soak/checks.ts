import { setTimeout as pause } from 'node:timers/promises';
import { reconcile } from '../../src/facilitator/reconcile/reconcile.js';
import type { SolanaRpc } from '../../src/solana/rpc/rpc.js';
import { MAX_HISTORY_PER_CALL } from '../../src/solana/rpc/rpc-client.js';
import { createBookReaders } from '../../src/storage/books/book-readers.js';
import { MAX_RERUNS } from '../../src/storage/ledger/ledger.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { inParallel } from '../bench/send-all.js';
import { mistold, readBooks } from '../helpers/crash/books.js';
import { checkFailed, readRefunds } from './check-failed.js';
import { checkPasses } from './check-passes.js';
import { USDC } from './goods.js';
import type { OpenShop } from './open-shop.js';
import { type Delivery, type Price, runsOf, type SentPayment } from './payment-book.js';
import { isKeptFirst, wasDisturbed } from './shop.js';
import { pathIn } from './use.js';

/** A transaction that a fee payer has paid for. */
interface Landed {
  readonly failed: boolean;
  readonly fee: bigint;
}

/** What was compared at a moment of quiet. */
export interface Checked {
  readonly landed: number;
  readonly failed: number;
  /** The failed ones, by door. */
  readonly failures: Readonly<Record<string, number>>;
  readonly fees: bigint;
  readonly differences: number;
}

/** Compares what clients were told, the books and the chain. Each look reads of the chain only what is new. */
export interface Checker {
  check(): Promise<Checked>;
}

/** What was claimed and never sent stays as it is until somebody brings it again: it moved nothing. */
const UNRESOLVED = {
  name: 'soak_unresolved',
  text: `select id, state, signature from tollhouse_payment where state = 'broadcast'
    union all select id, state, signature from tollhouse_refund where state in ('planned', 'taken', 'broadcast')`,
};
/** What a dead process left is found by its leases and the rest between two looks; a refund is held for two minutes. */
const MOST_RECOVERY_MS = 180_000;
const LOOK_EVERY_MS = 500;
const CALLS_AT_ONCE = 8;

/** Makes the checker of a shop; the chain must be healthy and nobody may be buying while it checks. */
export function createChecker(shop: OpenShop, rpc: SolanaRpc): Checker {
  const chain = new Map<string, Landed>();
  const told = new Set<string>();
  return {
    async check() {
      const storage = await openStorage(shop.databaseUrl);
      try {
        await untilRecovered(shop, storage);
        await readChain(shop, rpc, chain);
        const refunds = await readRefunds(storage.database);
        checkPayments(shop, chain, told, refunds.signatures);
        checkMoney(shop, chain);
        await checkPasses(shop, storage.database);
        const hasLanded = (signature: string) => chain.get(signature)?.failed === false;
        await checkFailed(shop, storage.database, refunds, hasLanded);
        const differences = await checkBooks(shop, rpc, storage);
        const all = [...chain.values()];
        const failed = all.filter((it) => it.failed).length;
        const failures = failuresOf(shop, chain);
        return { landed: all.length - failed, failed, failures, fees: feesOf(all), differences };
      } finally {
        await storage.close();
      }
    },
  };
}

async function untilRecovered({ name, findings }: OpenShop, { database }: Storage): Promise<void> {
  const end = performance.now() + MOST_RECOVERY_MS;
  for (;;) {
    const open = await database.query(UNRESOLVED);
    if (open.length === 0) return;
    if (performance.now() > end) {
      findings.broke(
        `${name}: recovery left ${open.length} payments and refunds open: ${JSON.stringify(open.slice(0, 3))}`,
      );
      return;
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** Reads the fee payer's transactions since the last look. */
async function readChain({ feePayer }: OpenShop, rpc: SolanaRpc, chain: Map<string, Landed>): Promise<void> {
  const address = feePayer.publicKey.toBase58();
  let before: string | undefined;
  const fresh: { readonly signature: string; readonly failed: boolean }[] = [];
  for (;;) {
    const page = await rpc.getHistory(address, before);
    const unknown = page.filter(({ signature }) => !chain.has(signature));
    fresh.push(...unknown);
    if (page.length < MAX_HISTORY_PER_CALL || unknown.length < page.length) break;
    before = page.at(-1)?.signature;
  }
  await inParallel(fresh, CALLS_AT_ONCE, async ({ signature, failed }) => {
    const transaction = await rpc.getTransaction(signature, 'confirmed');
    if (transaction?.accounts[0] === address) chain.set(signature, { failed, fee: transaction.feeLamports });
  });
}

/** Paid and served are the same thing, and nothing else of ours is on the chain. */
function checkPayments(
  shop: OpenShop,
  chain: ReadonlyMap<string, Landed>,
  told: Set<string>,
  refunds: readonly string[],
): void {
  const { findings, name, book } = shop;
  const known = new Set<string>(refunds);
  for (const payment of book.payments) {
    known.add(payment.signature);
    if (told.has(payment.signature)) continue;
    const landed = chain.get(payment.signature);
    const fault = faultOf(shop, payment, landed);
    if (fault === undefined && (payment.to === 'stranger' || !isGivenUp(payment, landed))) continue;
    told.add(payment.signature);
    if (fault === undefined) {
      findings.count('paid, broken off by its client, not to be had again', `${name}: ${payment.door}, ${payment.end}`);
      continue;
    }
    const { door, path, signature, end } = payment;
    findings.broke(`${name}: ${door}, ${path}, ${signature} (${end}): ${fault}`);
  }
  for (const [signature, { failed }] of chain) {
    if (!failed && !known.has(signature)) findings.broke(`${name}: nobody knows ${signature}, and it has landed`);
  }
}

function faultOf(shop: OpenShop, payment: SentPayment, landed: Landed | undefined): string | undefined {
  const { deliveries, isForfeit = false } = payment;
  const hasPaid = landed !== undefined && !landed.failed;
  if (!hasPaid && deliveries.length > 0) return 'served, and not paid';
  // What it has left is good for other requests, and is compared by itself.
  if (payment.failed !== undefined) return faultOfCopies(deliveries);
  if (hasPaid && deliveries.length === 0 && !isForfeit) return 'paid, and never served';
  const uses = new Set(deliveries.map(({ use }) => use));
  if (uses.size > 1) return `served for ${[...uses].join(' and ')}`;
  return faultOfRuns(shop, payment) ?? faultOfCopies(deliveries);
}

function isGivenUp({ isForfeit = false, deliveries }: SentPayment, landed: Landed | undefined): boolean {
  return isForfeit && deliveries.length === 0 && landed?.failed === false;
}

/** One payment is one run of its handler, unless its response flowed and was broken off by a disturbance. */
function faultOfRuns(shop: OpenShop, payment: SentPayment): string | undefined {
  const { deliveries } = payment;
  const { size } = runsOf(payment);
  if (size <= 1) return undefined;
  const [first, last] = [deliveries[0]?.at ?? 0, deliveries.at(-1)?.at ?? 0];
  const mayRunAgain = !isKeptFirst(pathIn(deliveries[0]?.use ?? '')) && wasDisturbed(shop, first, last);
  return mayRunAgain && size <= 1 + MAX_RERUNS ? undefined : `its handler ran ${size} times`;
}

/** A response that was had again is the same, and says so. */
function faultOfCopies(deliveries: readonly Delivery[]): string | undefined {
  const byRun = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    if (delivery.run !== undefined) byRun.set(delivery.run, [...(byRun.get(delivery.run) ?? []), delivery]);
  }
  for (const [run, copies] of byRun) {
    const texts = new Set(copies.filter(({ isWhole }) => isWhole).map(({ text }) => text));
    if (texts.size > 1) return `run ${run} was given in ${texts.size} wordings`;
    const unmarked = copies.filter(({ isReplay }) => !isReplay).length;
    if (unmarked > 1) return `run ${run} was given ${unmarked} times without being marked as given before`;
  }
  return undefined;
}

/** Payments whose handler ran again because its response was broken off by a disturbance. */
export function ranTwice({ book }: OpenShop): number {
  return book.payments.filter((payment) => runsOf(payment).size > 1).length;
}

/** Responses that were given again. */
export function givenAgain({ book }: OpenShop): number {
  return book.payments.flatMap(({ deliveries }) => deliveries).filter(({ isReplay }) => isReplay).length;
}

/** The wallets hold what was paid to the atomic unit, and the fee payer has lost its fees and nothing else. */
function checkMoney(shop: OpenShop, chain: ReadonlyMap<string, Landed>): void {
  const { sandbox, payTo, owner, feePayer, before } = shop;
  const paid = shop.book.payments.filter(({ signature }) => chain.get(signature)?.failed === false);
  const sum = (asset: Price['asset'], to: Price['to']): bigint =>
    paid.filter((it) => it.asset === asset && it.to === to).reduce((total, it) => total + it.amount, 0n);
  const compare = (what: string, holds: bigint, wanted: bigint): void => {
    if (holds !== wanted) shop.findings.broke(`${shop.name}: ${what} ${holds}, and it should be ${wanted}`);
  };
  compare('the shop holds atomic USDC', sandbox.tokenBalance(payTo, USDC), sum('USDC', 'shop'));
  compare('the project has been paid atomic USDC', sandbox.tokenBalance(owner, USDC), sum('USDC', 'owner'));
  compare('the shop has received lamports', sandbox.balance(payTo) - before.payToLamports, sum('SOL', 'shop'));
  const held = shop.strangers.reduce((total, it) => total + sandbox.tokenBalance(it.owner, USDC), 0n);
  compare('strangers have been paid atomic USDC', held, sum('USDC', 'stranger'));
  for (const { buyer, funds, budget } of shop.strangers) {
    const spent = funds - sandbox.tokenBalance(buyer, USDC);
    if (spent > budget) shop.findings.broke(`${shop.name}: ${buyer} has spent ${spent} under a budget of ${budget}`);
  }
  const lost = before.feePayer - sandbox.balance(feePayer.publicKey.toBase58());
  compare('the fee payer has lost lamports', lost, feesOf([...chain.values()]));
}

function failuresOf({ book }: OpenShop, chain: ReadonlyMap<string, Landed>): Readonly<Record<string, number>> {
  const failures: Record<string, number> = {};
  for (const [signature, { failed }] of chain) {
    const door = book.find(signature)?.door ?? 'unknown';
    if (failed) failures[door] = (failures[door] ?? 0) + 1;
  }
  return failures;
}

function feesOf(landed: readonly Landed[]): bigint {
  return landed.reduce((total, { fee }) => total + fee, 0n);
}

/** `tollhouse reconcile`, and the events. */
async function checkBooks(shop: OpenShop, rpc: SolanaRpc, { database, ledger }: Storage): Promise<number> {
  const { name, findings, feePayer, refundWallet } = shop;
  const feePayers = [feePayer.publicKey.toBase58()];
  const refundWallets = [refundWallet.publicKey.toBase58()];
  const network = 'solana-devnet' as const;
  const parts = { rpc, ledger, ...createBookReaders(database), network, amounts: true, feePayers, now: Date.now };
  const { differences } = await reconcile({ ...parts, refundWallets }, undefined, {
    onOpen: () => {},
    onNote: ({ ids, detail }) => findings.count('notes of reconcile', `${name}: ${ids.join(' ')}: ${detail}`),
    onDifference: ({ kind, ids, detail }) =>
      findings.broke(`${name}: books and chain differ, ${kind} ${ids.join(' ')}: ${detail}`),
    onProgress: () => {},
  });
  const strange = mistold(await readBooks(database));
  for (const { id, state, settledEvents } of strange) {
    findings.broke(`${name}: ${id} is ${state} and has ${settledEvents} events payment.settled`);
  }
  return differences;
}
