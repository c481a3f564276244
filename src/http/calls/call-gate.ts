import type { Response } from 'express';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import { callMemo, callResource } from '../../gateway/calls/call.js';
import { isCharged } from '../../gateway/calls/charged-status.js';
import type { Gateway } from '../../gateway/gateway.js';
import { demandOf } from '../../gateway/projects/project-demand.js';
import { takeOffErrorHeaders } from '../../gateway/proxy/upstream-proxy.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { resolveOptions } from '../../lib/options.js';
import type { PaymentGate } from '../../middleware/payment/payment-gate.js';
import type { RequiredCause } from '../../middleware/payment/payment-required.js';
import { requirePaymentOptions } from '../../middleware/terms/payment-options.js';
import { fixedTerms, termsForRequest } from '../../middleware/terms/payment-terms.js';
import type { Terms } from '../../protocol/types.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import { CALLS_PATH } from '../framework/path.js';
import { callOf, callRetry } from './call-request.js';
import type { CallServer } from './serve-call.js';

const WHERE = CALLS_PATH;
const MAX_GATES = 2_000;

/** What {@link createCallGates} works with. */
export interface CallGatesParts {
  readonly facilitator: EmbeddedFacilitator;
  readonly gateway: Pick<Gateway, 'splitWallet' | 'calls'>;
  readonly baseUrl?: string | undefined;
  readonly server: CallServer;
}

/** The price before the calls of a project. */
export type CallGates = (project: ProjectRecord) => CallGate;

/** The gate before a project. */
export interface CallGate extends PaymentGate {
  /** Whether it can be paid through x402. */
  readonly isOffered: boolean;
}

/** What the x402 door of a project offers, but for the fee payer. */
export function listedTerms({ options, isOffered }: CallGate): readonly Omit<Terms, 'feePayer'>[] {
  return isOffered ? (fixedTerms(WHERE, options) ?? []) : [];
}

/** Makes the gates of projects; each is made once for each version of its project. */
export function createCallGates(parts: CallGatesParts): CallGates {
  const known = boundedCache<string, CallGate>({ max: MAX_GATES });
  return (project) => {
    const name = `${project.id} ${project.version}`;
    const gate = known.get(name) ?? createCallGate(parts, project);
    known.set(name, gate);
    return gate;
  };
}

function createCallGate(parts: CallGatesParts, project: ProjectRecord): CallGate {
  const { facilitator, gateway, baseUrl, server } = parts;
  const { id: projectId, owner, price, name } = project;
  const { payTo, owedLegs } = demandOf(project, gateway.splitWallet);
  const options = resolveOptions(WHERE, requirePaymentOptions, {
    facilitator,
    price: { amount: price.amount, asset: price.token.mint },
    payTo: payTo ?? owner,
    description: name,
    settle: 'before',
    paymentIdentifier: 'off',
    charge: (res: Response) => isCharged(price, res.statusCode),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  });
  const seller = { owner, projectId, ...(owedLegs === undefined ? {} : { owedLegs }) };
  return {
    where: WHERE,
    options,
    isOffered: payTo !== undefined,
    // A project that cannot be paid with one transfer offers none.
    termsFor: payTo === undefined ? () => [] : termsForRequest(WHERE, options),
    useFor: (req) => ({ resource: callResource(callOf(req)), seller }),
    retryFor: (req) => callRetry(callOf(req), req),
    // Sellers of the service are strangers: whether they can be paid is theirs to look after.
    watch: () => facilitator.setup.begin(),
    unpaid: unpaid(project),
    accept: (req, claim) => gateway.calls.hold(callOf(req), claim),
    beforeReplay: takeOffErrorHeaders,
    beforeRunAgain: (req) => gateway.calls.enter(callOf(req)),
    ...server,
  };
}

function unpaid(project: ProjectRecord): RequiredCause {
  const { slug } = project;
  return {
    code: 'payment_required',
    detail:
      'This call has a price. Pay one of the offered terms, or make a payment with POST /create-payment ' +
      `{"project": "${slug}"} and your service key, settle it in its time, and send base64 of its signature as ` +
      'X-Service-Payment. Without a payment request the wallet of the key pays the recipients, as its own fee payer, with the ' +
      `memo "${callMemo(project, '<id of the key>')}", and no other memo or account.`,
  };
}
