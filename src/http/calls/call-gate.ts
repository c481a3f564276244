import type { Response } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import { callMemo, callResource } from '../../gateway/calls/call.js';
import { isCharged } from '../../gateway/calls/charged-status.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { CallRoute } from '../../gateway/prices/call-route.js';
import { offersOf, passesOf, soldPasses } from '../../gateway/prices/project-offers.js';
import { projectScope } from '../../gateway/prices/project-scope.js';
import { demandOf } from '../../gateway/projects/project-demand.js';
import { takeOffErrorHeaders } from '../../gateway/proxy/upstream-proxy.js';
import type { Identity } from '../../identity/types.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { defined } from '../../lib/defined.js';
import type { PassParts, Refuse } from '../../middleware/passes/pass-types.js';
import { createPassSales } from '../../middleware/passes/sold-passes.js';
import { soldTerms } from '../../middleware/payment/create-payment-gate.js';
import { offeredTerms } from '../../middleware/payment/offered-terms.js';
import type { PaymentGate } from '../../middleware/payment/payment-gate.js';
import { type RequiredCause, sendPaymentRequired, withOffers } from '../../middleware/payment/payment-required.js';
import type { SoldPass } from '../../middleware/terms/credit-costs.js';
import { resolvePaymentOptions } from '../../middleware/terms/network-terms.js';
import type { SoldPasses } from '../../middleware/terms/offers.js';
import type { ResolvedPaymentOptions } from '../../middleware/terms/payment-options.js';
import { fixedTerms, termsForRequest } from '../../middleware/terms/payment-terms.js';
import type { ResolvedPageOptions } from '../../pages/layout/page-options.js';
import type { Terms } from '../../protocol/types.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { CALLS_PATH } from '../framework/path.js';
import { type CallRetry, callOf, createCallRetry } from './call-request.js';
import { namedOf } from './named-call.js';
import type { CallServer } from './serve-call.js';

const WHERE = CALLS_PATH;
const MAX_GATES = 2_000;
const CREDIT_SPENT =
  'The call of this payment was not charged, and what was paid became credit of its key at this project. What is left of that now does not pay this call: others of the key have used it (GET /api/v1/calls lists them), or hold it while they are under way. Send this again once they are over; where nothing comes back by then, pay again.';

/** What {@link createCallGates} works with. */
export interface CallGatesParts {
  readonly networks: Networks<EmbeddedFacilitator>;
  readonly gateway: Pick<Gateway, 'splitWalletOn' | 'calls' | 'responseSecrets' | 'receipts'>;
  readonly baseUrl?: string | undefined;
  /** Who finds out which wallet signs in. Default: that of all gates on the facilitator. */
  readonly identity?: Identity | undefined;
  readonly server: CallServer;
  /** How the paywall page looks. Default: ours. */
  readonly page?: ResolvedPageOptions | undefined;
}

/**
 * The price before the calls of a project.
 * @param at - what one of its calls costs. Default: its own price
 */
export type CallGates = (project: ProjectRecord, at?: CallRoute) => CallGate;

/** The gate before a project. */
export interface CallGate extends PaymentGate {
  /** Whether it can be paid through x402. */
  readonly isOffered: boolean;
  readonly retryFor: CallRetry;
}

/** What the x402 door of a project offers, but for the fee payer. */
export function listedTerms({ options, isOffered }: CallGate): readonly Omit<Terms, 'feePayer'>[] {
  return isOffered ? (fixedTerms(WHERE, options) ?? []) : [];
}

/** Makes the gates of projects; each is made once for each version of its project, and for each of its routes. */
export function createCallGates(parts: CallGatesParts): CallGates {
  const known = boundedCache<string, CallGate>({ max: MAX_GATES });
  return (project, at = { project, isFree: false }) => {
    const name = `${project.id} ${project.version} ${at.route ?? ''}`;
    const gate = known.get(name) ?? createCallGate(parts, at);
    known.set(name, gate);
    return gate;
  };
}

function createCallGate(parts: CallGatesParts, at: CallRoute): CallGate {
  const { project, route } = at;
  const { gateway, server } = parts;
  const facilitator = facilitatorOf(parts.networks, project);
  const splitWallet = gateway.splitWalletOn(project.price.network);
  const { serveCovered, ...paidServer } = server;
  const { id: projectId, owner, price } = project;
  const { payTo } = demandOf(project, splitWallet);
  const options = optionsOf(parts, facilitator, project, payTo ?? owner);
  const sold = soldPasses(WHERE, price);
  // A project that cannot be paid with one transfer offers none.
  const termsFor = payTo === undefined ? () => [] : soldTerms(termsForRequest(WHERE, options), sold);
  const gate = { where: WHERE, options, termsFor };
  const refuse: Refuse = async (req, res, cause) => {
    const offered = await offeredTerms(gate, req);
    return () => sendPaymentRequired(req, res, options, offered, cause);
  };
  const keyOwner: PassParts['keyOwner'] = (req) => callOf(req).key.owner;
  const asks = { charges: (res: Response) => isCharged(price, res.statusCode), refuse, keyOwner, namedOf };
  const { rules, scopeOf } = coverOf(at, sold);
  const soldAt = { seller: owner, scopeOf, serve: serveCovered };
  const sales =
    rules.length === 0
      ? undefined
      : createPassSales(WHERE, options, rules, asks, soldAt)(sold?.ruleOf ?? (() => undefined));
  return {
    ...gate,
    // What a call that bought nothing was paid is credit of its key.
    passes: sales && { sales, compensation: undefined },
    isOffered: payTo !== undefined,
    useFor: (req) => ({ resource: callResource(callOf(req)) }),
    sellerFor({ amount }) {
      const { owedLegs } = demandOf(project, splitWallet, amount);
      return { owner, projectId, ...defined({ owedLegs }) };
    },
    retryFor: createCallRetry(gateway),
    // Sellers of the service are strangers: whether they can be paid is theirs to look after.
    watch: () => facilitator.setup.begin(),
    unpaid: payTo === undefined ? unoffered(project, route) : unpaid(project, route, sold?.inWords ?? ''),
    accept: (req, claim) => gateway.calls.hold(callOf(req), claim),
    usedDetail: (paymentId) => spentCreditOf(gateway, paymentId),
    beforeReplay: takeOffErrorHeaders,
    beforeRunAgain: (req) => gateway.calls.enter(callOf(req), 'payment'),
    ...paidServer,
  };
}

/** What is told of a payment whose call was not charged; undefined where it was, or is not known. */
async function spentCreditOf({ receipts }: Pick<Gateway, 'receipts'>, paymentId: string): Promise<string | undefined> {
  const calls = (await receipts.find(paymentId))?.calls ?? [];
  return calls.some(({ credit }) => credit?.kind === 'given') ? CREDIT_SPENT : undefined;
}

/** The passes that cover a call: those of its route, and those of its project where they are good for it. */
function coverOf({ project, route, covering = [] }: CallRoute, sold: SoldPasses | undefined) {
  const ofProject = passesOf(WHERE, covering);
  const scopeOf = (rule: SoldPass) => projectScope(project.id, ofProject.includes(rule) ? undefined : route);
  return { rules: [...(sold?.rules ?? []), ...ofProject], scopeOf };
}

function optionsOf(
  { baseUrl, identity, page }: CallGatesParts,
  facilitator: EmbeddedFacilitator,
  { price, name }: ProjectRecord,
  payTo: string,
): ResolvedPaymentOptions {
  return resolvePaymentOptions(WHERE, {
    facilitator,
    price: offersOf(price),
    payTo,
    description: name,
    settle: 'before',
    paymentIdentifier: 'off',
    charge: (res: Response) => isCharged(price, res.statusCode),
    ...defined({ baseUrl, identity, page }),
  });
}

/**
 * The facilitator of the network that a project is paid on.
 * @throws TollhouseError `payment_backend_unavailable` where that is not served any more
 */
export function facilitatorOf(networks: Networks<EmbeddedFacilitator>, { price }: ProjectRecord): EmbeddedFacilitator {
  const found = networks.on(price.network);
  if (found !== undefined) return found;
  const detail = `This project is paid on ${price.network}, which is not served here at the moment; nothing was charged.`;
  throw new TollhouseError('payment_backend_unavailable', detail);
}

const PRICED = 'This call has a price. Pay one of the offered terms';

function unpaid(project: ProjectRecord, route: string | undefined, offers: string): RequiredCause {
  const code = 'payment_required';
  const others = project.price.pass === undefined ? `, or ${byProof(project, route)}` : ', through x402.';
  const cause = { code, detail: PRICED + others } as const;
  return offers === '' ? cause : withOffers(cause, offers);
}

const SEVERAL =
  'This call has a price that goes to several recipients. A payment of x402 has one, and this service has no wallet that takes it for them and pays them out (its operator sets SPLIT_KEYPAIR, option "splitKeypair")';

/** Where x402 cannot pay: clients of x402 find no terms, and passes are sold by it alone. */
function unoffered(project: ProjectRecord, route: string | undefined): RequiredCause {
  const others =
    project.price.pass === undefined ? `: ${byProof(project, route)}` : ', so that nobody can buy it at the moment.';
  return { code: 'payment_required', detail: SEVERAL + others };
}

/** How a call is paid without x402. */
function byProof(project: ProjectRecord, route: string | undefined): string {
  const { slug } = project;
  const asked = route === undefined ? `"project": "${slug}"` : `"project": "${slug}", "method": …, "path": …`;
  return (
    `make a payment with POST /create-payment {${asked}} and your service key, settle it in its time, and send base64 of its ` +
    'signature as X-Service-Payment. Without a payment request the wallet of the key pays the recipients, as its own fee payer, ' +
    `with the memo "${callMemo(project, '<id of the key>')}", and no other memo or account.`
  );
}
