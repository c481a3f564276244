import { defined } from '../../lib/defined.js';
import { newEvent } from '../../storage/events/events.js';
import type { DeliveryStore, TakenDelivery } from '../../storage/webhooks/deliveries.js';
import type { DisabledReason, WebhookRecord, WebhookStore } from '../../storage/webhooks/webhooks.js';
import type { WebhookAttemptSeen } from '../../telemetry/observed.js';
import { eventMessage } from './event-message.js';
import { FAILING_MS, isGone, outcomeOf } from './webhook-schedule.js';
import type { WebhookResponse, WebhookSender } from './webhook-sender.js';
import { webhookHeaders } from './webhook-signature.js';

/** What attempts are made with. */
export interface AttemptParts {
  readonly deliveries: Pick<DeliveryStore, 'record'>;
  readonly webhooks: Pick<WebhookStore, 'disable'>;
  readonly sender: Pick<WebhookSender, 'send'>;
  /** How long the receiver is waited for, in milliseconds. Default: as long as the sender says. */
  readonly timeoutMs?: number;
  /** Told of each attempt that was written down, to be counted. Default: nobody. */
  readonly onAttempt?: (seen: WebhookAttemptSeen) => void;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Numbers from 0 to 1, for the jitter. */
  readonly random: () => number;
}

/** So much of an answer shows its owner what went wrong, in characters. */
const KEPT_CHARACTERS = 256;

const FIXED_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Tollhouse-Webhooks' };

/**
 * Makes one attempt at a delivery and records it with what follows. A receiver that is gone, or that has failed for five
 * days, is told nothing any more, and its owner is told of that (`webhook.disabled`).
 */
export async function attemptDelivery(
  webhook: WebhookRecord,
  delivery: TakenDelivery,
  { deliveries, webhooks, sender, timeoutMs, onAttempt, now, random }: AttemptParts,
): Promise<void> {
  const at = now();
  const body = JSON.stringify(eventMessage(delivery.event));
  const signed = webhookHeaders(
    { id: delivery.event.id, timestamp: Math.floor(at / 1_000), body },
    signingSecrets(webhook, at),
  );
  const headers = { ...FIXED_HEADERS, ...signed };
  const answer = await sender.send({ url: webhook.url, headers, body, ...defined({ timeoutMs }) });
  const outcome = outcomeOf(answer, { place: delivery.place, now: now(), random: random() });
  const hasSucceeded = 'state' in outcome && outcome.state === 'delivered';
  const recorded = await deliveries.record(delivery, { at, ...keptOf(answer, hasSucceeded) }, outcome);
  if (!recorded) return;
  onAttempt?.({ outcome: 'state' in outcome ? outcome.state : 'retried' });
  if (hasSucceeded) return;
  const reason = reasonToDisable(webhook, answer, now());
  if (reason !== undefined) await webhooks.disable(webhook.id, reason, now(), [disabledEvent(webhook, reason, now())]);
}

/** What a receiver says is the receiver's to choose, and kept for weeks: no more than tells its owner what went wrong. */
function keptOf({ durationMs, status, error, answer }: WebhookResponse, hasSucceeded: boolean) {
  return {
    durationMs,
    ...defined({ status, error, answer: hasSucceeded ? undefined : answer?.slice(0, KEPT_CHARACTERS) }),
  };
}

/** Two while the receiver may not know the new one yet. */
function signingSecrets({ secret, previousSecret, previousUntil = 0 }: WebhookRecord, now: number): readonly string[] {
  return previousSecret === undefined || now >= previousUntil ? [secret] : [secret, previousSecret];
}

function reasonToDisable(
  { failingSince }: WebhookRecord,
  answer: WebhookResponse,
  now: number,
): DisabledReason | undefined {
  if (isGone(answer)) return 'gone';
  return failingSince !== undefined && now - failingSince >= FAILING_MS ? 'failing' : undefined;
}

function disabledEvent({ id, owner, projectId, url, failingSince }: WebhookRecord, reason: DisabledReason, at: number) {
  const data = {
    webhook_id: id,
    url,
    reason,
    failing_since: failingSince === undefined ? null : new Date(failingSince).toISOString(),
  };
  return newEvent({ type: 'webhook.disabled', owner, ...defined({ projectId }), data }, at);
}
