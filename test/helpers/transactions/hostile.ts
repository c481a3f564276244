import { Connection, type Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Express } from 'express';
import type { FacilitatorOptions } from '../../../src/facilitator/facilitator-options.js';
import type { Facilitator } from '../../../src/facilitator/types.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import type { Reason } from '../../../src/protocol/reasons.js';
import type { Payment, Terms, Token } from '../../../src/protocol/types.js';
import { writeTerms } from '../../../src/protocol/wire/terms.js';
import { openTollFixture, type TollFixture } from '../fixtures/toll-fixture.js';
import { buildDraft, type Draft } from './draft.js';
import { honestDraft, honestTransfer } from './honest-draft.js';
import type { TransferParts } from './raw-instructions.js';
import { comparing, isSettledByReference, tryOnReference } from './reference-verdict.js';

/** What an attack knows: the honest payment that it spoils. */
export interface Scene {
  readonly fixture: TollFixture;
  /** Another fee payer of the facilitator, which is not offered. */
  readonly secondKey: Keypair;
  readonly payer: Keypair;
  readonly terms: Terms;
  /** The transfer of the honest payment. */
  readonly transfer: TransferParts;
}

/** A transaction that has to be refused. */
export interface Attack {
  /** The expected reason. */
  readonly reason: Reason;
  /** Puts the hostile part into an honest payment. */
  readonly hostile: (honest: Draft, scene: Scene) => Draft | Promise<Draft>;
  /** Changes that are honest: the attack and its twin have them. */
  readonly twin?: (honest: Draft, scene: Scene) => Draft;
  /** Other terms than 0.01 USDC to the seller. */
  readonly terms?: Partial<Terms>;
  /** Who pays. Default: the fixture's payer. */
  readonly payer?: Keypair;
  /** `rules` (default): refused without a single RPC call. `chain`: refused by what the chain says, before anything is sent. */
  readonly refusedBy?: 'rules' | 'chain';
  /** Whether the chain would execute it, so that nothing but our rules stands in its way. Default: not asked. */
  readonly wouldLand?: boolean;
}

/** A fixture with everything to attack it. */
export interface Arena {
  readonly fixture: TollFixture;
  readonly facilitator: Facilitator;
  readonly secondKey: Keypair;
  /** How often a paid handler ran. */
  readonly handlerRuns: () => number;
  /** The usual terms, with changes. */
  terms(changes?: Partial<Terms>): Terms;
  /** An honest payment of terms. */
  honest(terms: Terms, payer?: Keypair): Promise<{ draft: Draft; scene: Scene }>;
  /** Address of a route that sells for the terms. */
  route(terms: Terms): string;
  /** Expects every door to refuse the attack at no cost, and its honest twin to be paid and served. */
  refuses(attack: Attack): Promise<void>;
  /** Expects a transaction to be refused by every door for the reason, at no cost. */
  turnsAway(bytes: Uint8Array, terms: Terms, reason: Reason, refusedBy: 'rules' | 'chain'): Promise<void>;
  /** Expects a payment to be good, its route to be served once, and the seller to get the money. */
  pays(draft: Draft, terms: Terms, payer?: Keypair): Promise<void>;
}

const MAX_TIMEOUT_SECONDS = 60;
/** Blockhashes must outlive a test on a busy machine; a slot lasts 20 ms here. */
const BLOCKHASH_AGE = 5_000;
const MAX_FEE_LAMPORTS = 100_000n;

/** Opens an arena before the tests of a file and closes it after them. */
export function useArena(
  options: Partial<FacilitatorOptions> = {},
  maxBlockhashAgeBlocks: number = BLOCKHASH_AGE,
): () => Arena {
  let arena: Arena | undefined;
  beforeAll(async () => {
    arena = await openArena(options, maxBlockhashAgeBlocks);
  });
  afterAll(() => arena?.fixture.close());
  return () => arena!;
}

async function openArena(options: Partial<FacilitatorOptions>, maxBlockhashAgeBlocks: number): Promise<Arena> {
  const fixture = await openTollFixture({ maxBlockhashAgeBlocks });
  const secondKey = await fixture.sandbox.createWallet({ sol: '1' });
  const keypair = [fixture.feePayer, secondKey];
  const facilitator = fixture.facilitatorWith({ keypair, blockhashHints: false, ...options });
  const shop = await openShop(fixture, facilitator);
  const parts = { fixture, facilitator, secondKey, shop };
  const arena: Arena = {
    ...parts,
    handlerRuns: shop.runs,
    route: shop.route,
    terms: (changes) => usualTerms(fixture, changes),
    honest: (terms, payer = fixture.payer) => honestPayment(parts, terms, payer),
    refuses: (attack) => refuses(arena, attack),
    turnsAway: (bytes, terms, reason, refusedBy) => turnsAway(arena, bytes, terms, reason, refusedBy),
    pays: (draft, terms, payer = fixture.payer) => pays(arena, draft, terms, payer),
  };
  return arena;
}

interface Shop {
  route(terms: Terms): string;
  runs(): number;
}

async function openShop(fixture: TollFixture, facilitator: Facilitator): Promise<Shop> {
  let runs = 0;
  const apps: Express[] = [];
  const origin = await fixture.serve((app) => void apps.push(app));
  const routes = new Map<string, string>();

  function open(terms: Terms): string {
    const { asset, amount, payTo, memo } = terms;
    const path = `/${routes.size}`;
    const gate = requirePayment({
      facilitator,
      price: { asset, amount },
      payTo,
      maxTimeoutSeconds: terms.maxTimeoutSeconds,
      ...(memo === undefined ? {} : { memo }),
    });
    apps[0]?.get(path, gate, (_req, res) => {
      runs += 1;
      res.json({ served: true });
    });
    return origin + path;
  }

  return {
    runs: () => runs,
    route(terms) {
      const key = JSON.stringify({ ...terms, amount: String(terms.amount) });
      const url = routes.get(key) ?? open(terms);
      routes.set(key, url);
      return url;
    },
  };
}

function usualTerms({ facilitator, feePayer, payTo }: TollFixture, changes: Partial<Terms> = {}): Terms {
  return {
    scheme: 'exact',
    network: facilitator.network,
    asset: tokenNamed(facilitator, 'USDC').mint,
    amount: 10_000n,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    feePayer: feePayer.publicKey.toBase58(),
    ...changes,
  };
}

/** A token of a facilitator by its symbol. */
export function tokenNamed({ tokens }: Facilitator, symbol: string): Token {
  return tokens.find((it) => it.symbol === symbol)!;
}

async function honestPayment(
  { fixture, secondKey }: Pick<Arena, 'fixture' | 'secondKey'>,
  terms: Terms,
  payer: Keypair,
): Promise<{ draft: Draft; scene: Scene }> {
  const { rpcUrl } = fixture.sandbox;
  const { blockhash } = await new Connection(rpcUrl, 'confirmed').getLatestBlockhash();
  const token = { decimals: 6, program: fixture.sandbox.account(terms.asset)?.owner ?? '' };
  const plan = { terms, payer, token, blockhash };
  return { draft: honestDraft(plan), scene: { fixture, secondKey, payer, terms, transfer: honestTransfer(plan) } };
}

async function refuses(arena: Arena, attack: Attack): Promise<void> {
  const { reason, hostile, twin = (honest) => honest, refusedBy = 'rules', payer = arena.fixture.payer } = attack;
  const terms = arena.terms(attack.terms);
  const { draft, scene } = await arena.honest(terms, payer);
  const honest = twin(draft, scene);
  const bytes = buildDraft(await hostile(honest, scene));
  expect(Buffer.from(bytes).equals(buildDraft(honest))).toBe(false);
  if (attack.wouldLand) expect(await simulated(arena.fixture, bytes)).toBeNull();
  await turnsAway(arena, bytes, terms, reason, refusedBy);
  // The reference may have settled what is the same payment to us.
  if (!comparing) await pays(arena, honest, terms, payer);
}

/** What the chain says about a transaction whose fee payer has signed. */
async function simulated({ sandbox }: TollFixture, bytes: Uint8Array): Promise<unknown> {
  const connection = new Connection(sandbox.rpcUrl, 'confirmed');
  const { value } = await connection.simulateTransaction(VersionedTransaction.deserialize(bytes));
  return value.err;
}

/** Every door answers the same refusal; nobody signed, nothing was sent, nothing was spent, no handler ran. */
async function turnsAway(
  { fixture, facilitator, route, handlerRuns }: Arena,
  transaction: Uint8Array,
  terms: Terms,
  reason: Reason,
  refusedBy: 'rules' | 'chain',
): Promise<void> {
  const { sandbox } = fixture;
  const held = () => ({
    lamports: sandbox.balance(terms.feePayer!),
    seller: sandbox.tokenBalance(terms.payTo, terms.asset),
    runs: handlerRuns(),
  });
  const before = held();
  sandbox.resetCalls();

  const payment = paymentOf(transaction, terms);
  expect(await facilitator.verify(payment, terms)).toMatchObject({ ok: false, reason });
  for (const headers of [headerV2(transaction, terms), headerV1(transaction, terms)]) {
    expect(await refusalOf(await fetch(route(terms), { headers }))).toEqual({ status: 402, reason });
  }
  expect(sandbox.calls.sendTransaction).toBe(0);

  const settlement = await facilitator.settle(payment, terms);
  expect(settlement).toMatchObject({ status: 'failed', reason });
  expect(settlement).not.toHaveProperty('signature');
  // Who settles without having verified leaves the simulation to the node that would send.
  expect(sandbox.calls.sendTransaction).toBe(0);
  if (refusedBy === 'rules') expect(sandbox.calls.total).toBe(0);
  expect(held()).toEqual(before);
  if (comparing) await tryOnReference(fixture, transaction, terms, reason);
}

async function pays({ fixture, facilitator, route, handlerRuns }: Arena, draft: Draft, terms: Terms, payer: Keypair) {
  const { sandbox } = fixture;
  const wallet = payer.publicKey.toBase58();
  const funds = () => ({
    lamports: sandbox.balance(terms.feePayer!),
    seller: sandbox.tokenBalance(terms.payTo, terms.asset),
    payer: sandbox.tokenBalance(wallet, terms.asset),
    runs: handlerRuns(),
  });
  const before = funds();
  const transaction = buildDraft(draft);
  if (isSettledByReference(transaction)) return;
  const verification = await facilitator.verify(paymentOf(transaction, terms), terms);
  expect(verification).toEqual({ ok: true, payer: wallet });
  const answer = await fetch(route(terms), { headers: headerV2(transaction, terms) });
  expect([answer.status, await answer.json()]).toEqual([200, { served: true }]);

  const after = funds();
  expect(after.runs - before.runs).toBe(1);
  expect(after.seller - before.seller).toBe(terms.amount);
  expect(before.payer - after.payer).toBe(terms.amount);
  expect(before.lamports - after.lamports).toBeGreaterThan(0n);
  expect(before.lamports - after.lamports).toBeLessThanOrEqual(MAX_FEE_LAMPORTS);
}

/** A payment as the doors read it. */
export function paymentOf(transaction: Uint8Array, terms: Terms): Payment {
  return { scheme: terms.scheme, network: terms.network, transaction, accepted: terms };
}

/** The request header of a version 2 client. */
export function headerV2(transaction: Uint8Array, terms: Terms): Record<string, string> {
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  return { 'PAYMENT-SIGNATURE': encoded({ x402Version: 2, accepted: writeTerms(terms), payload }) };
}

/** The request header of a version 1 client. */
export function headerV1(transaction: Uint8Array, { scheme, network }: Terms): Record<string, string> {
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  return { 'X-PAYMENT': encoded({ x402Version: 1, scheme, network, payload }) };
}

/** What a refused request was told: the status, and the reason that the offer names. */
export async function refusalOf(answer: Response): Promise<{ status: number; reason: unknown }> {
  await answer.arrayBuffer();
  const required = answer.headers.get('PAYMENT-REQUIRED') ?? '';
  const offer: unknown = required === '' ? {} : JSON.parse(Buffer.from(required, 'base64').toString('utf8'));
  return { status: answer.status, reason: Reflect.get(Object(offer), 'error') };
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}
