import { payments } from './0001-payments.js';
import { counters } from './0002-counters.js';
import { events } from './0003-events.js';
import { answers } from './0004-answers.js';
import { webhooks } from './0005-webhooks.js';
import { serviceKeys } from './0006-service-keys.js';
import { projects } from './0007-projects.js';
import { calls } from './0008-calls.js';
import { payouts } from './0009-payouts.js';
import { paymentUses } from './0010-payment-uses.js';
import { payoutProofs } from './0011-payout-proofs.js';
import { oneSol } from './0012-one-sol.js';
import { credit } from './0013-credit.js';
import { webhookTurns } from './0014-webhook-turns.js';
import { unlistedProjects } from './0015-unlisted-projects.js';
import { operator } from './0016-operator.js';
import { heldTimes } from './0017-held-times.js';
import { feePercent } from './0018-fee-percent.js';
import { answerOwners } from './0019-answer-owners.js';
import { passes } from './0020-passes.js';
import { admitted } from './0021-admitted.js';
import { compensation } from './0022-compensation.js';
import { projectPasses } from './0023-project-passes.js';
import { renewals } from './0024-renewals.js';
import { passEvents } from './0025-pass-events.js';
import { upstreams } from './0026-upstreams.js';
import { projectNetworks } from './0028-project-networks.js';
import { moments } from './0029-moments.js';
import { buyers } from './0030-buyers.js';
import { figuresByRoute } from './0031-figures-by-route.js';
import { passSites } from './0032-pass-sites.js';
import { dailyChanges } from './0033-daily-changes.js';
import { paidAnswers } from './0034-paid-answers.js';
import { unpaidRequests } from './0035-unpaid-requests.js';
import { keptAttempts } from './0036-kept-attempts.js';
import { requestLooks } from './0037-request-looks.js';
import { promptWebhooks } from './0038-prompt-webhooks.js';
import { responseKeys } from './0039-response-keys.js';
import { eventOrder } from './0040-event-order.js';
import type { SchemaStep } from './schema-step.js';

/** Steps with the names that they are booked under, in the order in which they are made. */
export type NamedSteps = readonly (readonly [name: string, step: SchemaStep])[];

/** Every step there is; none was named 0027. One that was released is never changed, and a new one goes to the end. */
export const SCHEMA_STEPS: NamedSteps = [
  ['0001-payments', payments],
  ['0002-counters', counters],
  ['0003-events', events],
  ['0004-answers', answers],
  ['0005-webhooks', webhooks],
  ['0006-service-keys', serviceKeys],
  ['0007-projects', projects],
  ['0008-calls', calls],
  ['0009-payouts', payouts],
  ['0010-payment-uses', paymentUses],
  ['0011-payout-proofs', payoutProofs],
  ['0012-one-sol', oneSol],
  ['0013-credit', credit],
  ['0014-webhook-turns', webhookTurns],
  ['0015-unlisted-projects', unlistedProjects],
  ['0016-operator', operator],
  ['0017-held-times', heldTimes],
  ['0018-fee-percent', feePercent],
  ['0019-answer-owners', answerOwners],
  ['0020-passes', passes],
  ['0021-admitted', admitted],
  ['0022-compensation', compensation],
  ['0023-project-passes', projectPasses],
  ['0024-renewals', renewals],
  ['0025-pass-events', passEvents],
  ['0026-upstreams', upstreams],
  ['0028-project-networks', projectNetworks],
  ['0029-moments', moments],
  ['0030-buyers', buyers],
  ['0031-figures-by-route', figuresByRoute],
  ['0032-pass-sites', passSites],
  ['0033-daily-changes', dailyChanges],
  ['0034-paid-answers', paidAnswers],
  ['0035-unpaid-requests', unpaidRequests],
  ['0036-kept-attempts', keptAttempts],
  ['0037-request-looks', requestLooks],
  ['0038-prompt-webhooks', promptWebhooks],
  ['0039-response-keys', responseKeys],
  ['0040-event-order', eventOrder],
];
