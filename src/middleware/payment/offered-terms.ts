import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { memberOn, membersOf } from '../../facilitator/networks/joined-facilitator.js';
import type { Facilitator, OpenedPayment, PaymentUse } from '../../facilitator/types.js';
import { defined } from '../../lib/defined.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { textsFor } from '../../pages/texts/languages.js';
import type { BlockhashHints } from '../../protocol/challenge.js';
import { findTerms } from '../../protocol/match-terms.js';
import type { Reason } from '../../protocol/reasons.js';
import type { Supported } from '../../protocol/supported.js';
import type { Payment, Terms } from '../../protocol/types.js';
import { isPreparing, readPrepare } from '../browser/prepare-header.js';
import { preparePayment } from '../browser/prepared-payment.js';
import { clientAddress } from '../gate/client-address.js';
import { requestHost } from '../gate/request-url.js';
import { paysAnybody } from '../terms/network-terms.js';
import type { OfferedKind } from '../terms/payment-terms.js';
import { admittedNoted } from '../wallet/admitted-before.js';
import type { PaymentAttempt, PaymentGate } from './payment-gate.js';
import type { OfferedTerms } from './payment-required.js';

/** How old a facilitator's view of its own health is at most. */
const RETRY_SECONDS = 5;

/**
 * What is offered on a request that brings no payment; with no wait where it is known. Throws or rejects with
 * `payment_backend_unavailable` or `fee_limit_reached` while nothing can be settled.
 */
export function offeredTerms(gate: PaymentGate, req: Request): MaybePromise<OfferedTerms> {
  return whenKnown(supportedBy(gate.options.facilitator), (supported) => {
    const { kinds, hints } = openKinds(gate.options.facilitator, supported);
    return whenKnown(termsOn(gate, req, kinds, supported), (terms) => ({ terms, hints }));
  });
}

/** The same, with the payment that the request asks for, to be signed. */
export function offeredOrPrepared(gate: PaymentGate, req: Request): MaybePromise<OfferedTerms> {
  const offered = offeredTerms(gate, req);
  return isPreparing(req) ? prepare(gate, req, offered) : offered;
}

async function prepare(gate: PaymentGate, req: Request, offered: MaybePromise<OfferedTerms>): Promise<OfferedTerms> {
  const open = await offered;
  const wanted = readPrepare(req);
  const { language } = textsFor(req.get('Accept-Language'), gate.options.page?.texts);
  if (!wanted.ok) throw new TollhouseError('invalid_request', wanted.detail);
  const { client } = clientAddress(req);
  return { ...open, prepared: await preparePayment(gate.options, open.terms, wanted.value, { language, client }) };
}

/** The same for a request that brings a payment, whose fee payer stays good. */
export async function offeredFor(gate: PaymentGate, req: Request, payment: Payment): Promise<OfferedTerms> {
  const { facilitator } = gate.options;
  const supported = await supportedBy(facilitator);
  const { kinds, hints } = await kindsFor(facilitator, supported, payment);
  const network = memberOn(facilitator, payment.network)?.network;
  return { terms: await termsOn(gate, req, kinds, supported), hints, ...defined({ network }) };
}

function supportedBy({ supported }: Pick<Facilitator, 'supported'>): MaybePromise<Supported> {
  return supported.now?.() ?? supported();
}

/** One list for one kind: what is made of it need not be made again (`challenge-cache.ts`). */
function termsOn(
  gate: PaymentGate,
  req: Request,
  kinds: readonly OfferedKind[],
  { fault }: Supported,
): MaybePromise<readonly Terms[]> {
  const [first] = kinds;
  if (first === undefined) throw fault ?? nothingOpen(gate.options.facilitator);
  if (kinds.length === 1) return gate.termsFor(req, first);
  return termsOnEach(gate, req, kinds);
}

/** What throws at once must not leave what was asked for before it with nobody who waits for it. */
async function termsOnEach(
  { termsFor }: PaymentGate,
  req: Request,
  kinds: readonly OfferedKind[],
): Promise<readonly Terms[]> {
  return (await Promise.all(kinds.map(async (kind) => termsFor(req, kind)))).flat();
}

function nothingOpen(facilitator: Facilitator): TollhouseError {
  const networks = membersOf(facilitator).map(({ network }) => network);
  const detail = `Payments on ${networks.join(' and ')} cannot be taken at the moment.`;
  return new TollhouseError('payment_backend_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS });
}

/** The ways to pay that are open. */
interface OpenKinds {
  readonly kinds: readonly OfferedKind[];
  readonly hints: BlockhashHints;
}

/** Every 402 asks, and a facilitator says the same for some seconds. */
const opened = new WeakMap<Supported, OpenKinds>();

/** What is offered now on each network. */
function openKinds(facilitator: Facilitator, supported: Supported): OpenKinds {
  const known = opened.get(supported);
  if (known !== undefined) return known;
  const members = membersOf(facilitator);
  const kinds = supported.kinds.filter(
    (it) => it.scheme === 'exact' && members.some(({ network }) => network === it.network),
  );
  const open = openFor(kinds);
  opened.set(supported, open);
  return open;
}

/**
 * The same for a payment that was brought, with what it may have been offered before: while settling was possible, for who has paid then is
 * told what became of it, whatever is wrong now.
 */
async function kindsFor(facilitator: Facilitator, supported: Supported, payment: Payment): Promise<OpenKinds> {
  const open = openKinds(facilitator, supported);
  const member = memberOn(facilitator, payment.network) ?? membersOf(facilitator)[0];
  const { network } = member;
  const { signers } = await supportedBy(member);
  const now = open.kinds.find((it) => it.network === network);
  const [feePayer] = signers;
  if (now === undefined) {
    return feePayer === undefined ? open : openFor([...open.kinds, kindFor({ network, feePayer }, payment, signers)]);
  }
  const brought = kindFor(now, payment, signers);
  return brought === now ? open : openFor(open.kinds.map((it) => (it === now ? brought : it)));
}

/** With several fee payers, a payment that names another one than is offered now was offered that one before. */
function kindFor(kind: OfferedKind, payment: Payment, signers: readonly string[]): OfferedKind {
  const named = payment.accepted?.feePayer;
  const isOther = named !== undefined && named !== kind.feePayer && signers.includes(named);
  return isOther ? { ...kind, feePayer: named } : kind;
}

function openFor(kinds: readonly OfferedKind[]): OpenKinds {
  const hints = kinds.flatMap(({ network, hint }) => (hint === undefined ? [] : [[network, hint] as const]));
  return { kinds, hints: Object.fromEntries(hints) };
}

/** Refusals which say that the payment is for other terms, the farthest from a match first. */
const FOR_OTHER_TERMS: readonly Reason[] = [
  'invalid_exact_svm_fee_payer_mismatch',
  'invalid_exact_svm_payload_mint_mismatch',
  'invalid_exact_svm_payload_recipient_mismatch',
  'invalid_exact_svm_payload_amount_mismatch',
  'invalid_exact_svm_payload_memo_count',
  'invalid_exact_svm_payload_memo_mismatch',
];

/** What came of claiming a payment. */
export type BroughtPayment = Required<Pick<PaymentAttempt, 'isForOther'>> & Pick<PaymentAttempt, 'opened'>;

/** What a payment is for where nothing else is said: method and path, at the host that was asked. */
export function useAtHost(req: Request, { baseUrl }: PaymentGate['options']): Pick<PaymentUse, 'resource' | 'host'> {
  return { resource: `${req.method} ${req.baseUrl}${req.path}`, host: requestHost(req, baseUrl) };
}

/** Whether a payment says that it is for one of some terms; one of version 1 never does. */
export function isNamed(payment: Payment, terms: readonly Terms[]): boolean {
  return payment.accepted !== undefined && findTerms(payment, terms).length > 0;
}

/**
 * Claims a payment for the first of the offered terms that it is good for, or for those that it was brought for before;
 * nothing is opened where it can be for none of them.
 * Protocol versions that name theirs have one candidate; a payment of another version is refused for what is wrong with it
 * under the terms that it comes nearest to.
 */
export async function claimFor(
  gate: PaymentGate,
  req: Request,
  payment: Payment,
  offered: OfferedTerms,
  given: Omit<PaymentUse, 'paysAnybody'>,
): Promise<BroughtPayment> {
  const useFor = (terms: Terms) => ({
    paysAnybody: paysAnybody(gate.options),
    ...given,
    ...clientAddress(req),
    ...defined({
      admitted: admittedNoted(req),
      buys: gate.passes?.sales?.boughtWith(req, terms),
      seller: gate.sellerFor?.(terms),
    }),
  });
  let nearest: OpenedPayment | undefined;
  for (const terms of await candidatesFor(gate, req, payment, offered)) {
    const opened = await gate.options.facilitator.openPayment(payment, terms, useFor(terms));
    const nearness = nearnessOf(opened);
    if (nearness === FOR_OTHER_TERMS.length) return { opened, isForOther: false };
    if (nearest === undefined || nearness > nearnessOf(nearest)) nearest = opened;
  }
  const opened = (await openKnown(gate, payment, useFor)) ?? nearest;
  return { opened, isForOther: !isNamed(payment, offered.terms) };
}

/** Whoever has paid what was asked then is served, though other terms are offered today. */
async function openKnown(
  { options: { facilitator } }: PaymentGate,
  payment: Payment,
  useFor: (terms: Terms) => PaymentUse,
): Promise<OpenedPayment | undefined> {
  const terms = await facilitator.knownTerms(payment);
  const opened = terms && (await facilitator.openPayment(payment, terms, useFor(terms)));
  if (opened?.status !== 'open' || opened.claim.receipt !== undefined) return opened;
  // It was forgotten meanwhile: who has not paid then pays what is asked today.
  await opened.claim.forget();
  return undefined;
}

/**
 * The terms that a payment may be for, the offered ones first. One that does not say what it was offered (version 1) may be
 * for any of several fee payers.
 */
async function candidatesFor(
  gate: PaymentGate,
  req: Request,
  payment: Payment,
  { terms }: OfferedTerms,
): Promise<readonly Terms[]> {
  const offered = findTerms(payment, terms);
  if (payment.accepted !== undefined) return offered;
  const { facilitator } = gate.options;
  const { network, supported } = memberOn(facilitator, payment.network) ?? facilitator;
  const { signers } = await supported();
  const others = signers.filter((signer) => terms.every(({ feePayer }) => feePayer !== signer));
  const kinds = others.map((feePayer) => ({ network, feePayer }));
  return [...offered, ...findTerms(payment, await termsOnEach(gate, req, kinds))];
}

function nearnessOf(opened: OpenedPayment): number {
  const index = opened.status === 'refused' ? FOR_OTHER_TERMS.indexOf(opened.refusal.reason) : -1;
  return index === -1 ? FOR_OTHER_TERMS.length : index;
}
