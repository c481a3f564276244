import type { z } from 'zod';
import type { WebhookChange, Webhooks } from '../../gateway/webhooks/webhooks.js';
import { requireScopes } from '../../identity/service-keys/scopes.js';
import type { ApiCaller } from '../framework/api-caller.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { defineOperation } from '../framework/operation.js';
import { fillPath } from '../framework/path.js';
import { overlapOf, rotationBody } from '../framework/rotation.js';
import {
  deliveriesQuery,
  deliveriesResponse,
  deliveryResponse,
  loggedDeliveryResponse,
  recoverBody,
  recoverResponse,
  revealedWebhookResponse,
  testBody,
  WEBHOOKS_PATHS,
  webhookBody,
  webhookPatchBody,
  webhookResponse,
  webhooksCursor,
  webhooksQuery,
  webhooksResponse,
} from './schemas.js';
import { deliveryView, loggedDeliveryView, revealedWebhookView, webhookView } from './views.js';

/** What {@link WEBHOOKS_OPERATIONS} work with. */
export interface WebhooksOperationsParts {
  readonly webhooks: Webhooks;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

const TAG = 'Webhooks';
const QUEUED = { 202: { description: 'It is made within moments.', schema: deliveryResponse } };
const SIGNED =
  'Messages are signed as in Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, `webhook-signature`. Answer 2xx within ' +
  '15 seconds. Otherwise there are up to nine more attempts within some 76 hours; the same event may come more than once.';

const createWebhook = defineOperation({
  method: 'post',
  path: WEBHOOKS_PATHS.all,
  id: 'createWebhook',
  tag: TAG,
  summary: 'Have events posted to an address',
  description: SIGNED,
  scope: 'webhooks:write',
  body: webhookBody,
  responses: {
    201: { description: 'The webhook and its secret; `Location` says where it is.', schema: revealedWebhookResponse },
  },
  errors: ['validation_failed', 'quota_reached'],
  async handler({ req, res, caller, body }, { webhooks, now }: WebhooksOperationsParts) {
    const { project_id: projectId, ...draft } = body;
    const made = await webhooks.create(caller, { ...draft, projectId });
    res.location(`${req.baseUrl}${fillPath(WEBHOOKS_PATHS.one, { id: made.id })}`);
    return revealedWebhookView(made, now());
  },
});

const listWebhooks = defineOperation({
  method: 'get',
  path: WEBHOOKS_PATHS.all,
  id: 'listWebhooks',
  tag: TAG,
  summary: 'Your webhooks, newest first',
  scope: 'webhooks:read',
  takesTurns: true,
  query: webhooksQuery,
  responses: { 200: { description: 'One page of them.', schema: webhooksResponse } },
  errors: ['validation_failed'],
  async handler({ caller, query: { limit, cursor } }, { webhooks, now }: WebhooksOperationsParts) {
    const found = await webhooks.list(caller, pageFrom(limit, cursor));
    return listResponse(found, limit, createdKey, (it) => webhookView(it, now()));
  },
});

const getWebhook = defineOperation({
  method: 'get',
  path: WEBHOOKS_PATHS.one,
  id: 'getWebhook',
  tag: TAG,
  summary: 'One of your webhooks',
  scope: 'webhooks:read',
  responses: { 200: { description: 'The webhook.', schema: webhookResponse } },
  errors: ['not_found'],
  handler: async ({ caller, params }, { webhooks, now }: WebhooksOperationsParts) =>
    webhookView(await webhooks.get(caller, params.id), now()),
});

const updateWebhook = defineOperation({
  method: 'patch',
  path: WEBHOOKS_PATHS.one,
  id: 'updateWebhook',
  tag: TAG,
  summary: 'Change a webhook, disable or enable it',
  description: 'What is left out stays as it is.',
  scope: 'webhooks:write',
  body: webhookPatchBody,
  responses: { 200: { description: 'The webhook.', schema: webhookResponse } },
  errors: ['not_found', 'validation_failed'],
  handler: async ({ caller, params, body }, { webhooks, now }: WebhooksOperationsParts) =>
    webhookView(await webhooks.change(caller, params.id, changeFrom(body)), now()),
});

const deleteWebhook = defineOperation({
  method: 'delete',
  path: WEBHOOKS_PATHS.one,
  id: 'deleteWebhook',
  tag: TAG,
  summary: 'Delete a webhook',
  scope: 'webhooks:write',
  responses: { 204: { description: 'Nothing is posted any more.' } },
  errors: ['not_found'],
  async handler({ caller, params }, { webhooks }: WebhooksOperationsParts) {
    await webhooks.remove(caller, params.id);
  },
});

const rotateWebhook = defineOperation({
  method: 'post',
  path: WEBHOOKS_PATHS.rotate,
  id: 'rotateWebhook',
  tag: TAG,
  summary: 'Give a webhook another secret',
  description:
    'Messages are signed with the secret before as well for 24 hours, or as long as is asked for. A service key needs the scope `secrets:read` as well.',
  scope: 'webhooks:write',
  // Whoever sees the secret can sign messages in our name.
  admit: ({ scopes }: ApiCaller) => requireScopes(scopes, ['secrets:read']),
  body: rotationBody,
  bodyMayBeMissing: true,
  responses: { 200: { description: 'The webhook and its new secret.', schema: revealedWebhookResponse } },
  errors: ['not_found', 'validation_failed'],
  handler: async ({ caller, params, body }, { webhooks, now }: WebhooksOperationsParts) =>
    revealedWebhookView(await webhooks.rotate(caller, params.id, overlapOf(body)), now()),
});

const testWebhook = defineOperation({
  method: 'post',
  path: WEBHOOKS_PATHS.test,
  id: 'testWebhook',
  tag: TAG,
  summary: 'Post an event with the data {"test": true}, once',
  scope: 'webhooks:write',
  body: testBody,
  bodyMayBeMissing: true,
  responses: QUEUED,
  errors: ['not_found', 'validation_failed', 'webhook_disabled'],
  handler: async ({ caller, params, body }, { webhooks }: WebhooksOperationsParts) =>
    deliveryView(await webhooks.test(caller, params.id, body.type)),
});

const recoverWebhook = defineOperation({
  method: 'post',
  path: WEBHOOKS_PATHS.recover,
  id: 'recoverWebhook',
  tag: TAG,
  summary: 'Make once more what failed since a time',
  description: 'Also what happened while the webhook was disabled.',
  scope: 'webhooks:write',
  body: recoverBody,
  responses: { 202: { description: 'They are made within moments.', schema: recoverResponse } },
  errors: ['not_found', 'validation_failed', 'webhook_disabled'],
  handler: async ({ caller, params, body }, { webhooks }: WebhooksOperationsParts) => ({
    recovered: await webhooks.recover(caller, params.id, Date.parse(body.since)),
  }),
});

const listDeliveries = defineOperation({
  method: 'get',
  path: WEBHOOKS_PATHS.deliveries,
  id: 'listDeliveries',
  tag: TAG,
  summary: 'What was, or is to be, posted, newest first',
  scope: 'webhooks:read',
  takesTurns: true,
  query: deliveriesQuery,
  responses: { 200: { description: 'One page of them.', schema: deliveriesResponse } },
  errors: ['not_found', 'validation_failed'],
  async handler({ caller, params, query: { limit, cursor, status } }, { webhooks }: WebhooksOperationsParts) {
    const state = status === undefined ? {} : { state: status };
    const found = await webhooks.deliveries(caller, params.id, { ...pageFrom(limit, cursor), ...state });
    return listResponse(found, limit, createdKey, deliveryView);
  },
});

const getDelivery = defineOperation({
  method: 'get',
  path: WEBHOOKS_PATHS.delivery,
  id: 'getDelivery',
  tag: TAG,
  summary: 'A delivery with every attempt at it',
  scope: 'webhooks:read',
  responses: { 200: { description: 'The delivery.', schema: loggedDeliveryResponse } },
  errors: ['not_found'],
  handler: async ({ caller, params }, { webhooks }: WebhooksOperationsParts) =>
    loggedDeliveryView(await webhooks.delivery(caller, params.id, params.delivery)),
});

const retryDelivery = defineOperation({
  method: 'post',
  path: WEBHOOKS_PATHS.retry,
  id: 'retryDelivery',
  tag: TAG,
  summary: 'Make a delivery once more',
  scope: 'webhooks:write',
  responses: QUEUED,
  errors: ['not_found', 'webhook_disabled'],
  handler: async ({ caller, params }, { webhooks }: WebhooksOperationsParts) =>
    deliveryView(await webhooks.retry(caller, params.id, params.delivery)),
});

/**
 * `/api/v1/webhooks`: a wallet's webhooks and their deliveries, by its access token or a service key. Those of
 * others, and with a key that is restricted to one project those of others and of none, are not there.
 */
export const WEBHOOKS_OPERATIONS = [
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhook,
  testWebhook,
  recoverWebhook,
  listDeliveries,
  getDelivery,
  retryDelivery,
];

function createdKey({ createdAt, id }: { readonly createdAt: number; readonly id: string }) {
  return [createdAt, id] as const;
}

/** One more than is shown says whether there is a next page. */
function pageFrom(limit: number, cursor: string | undefined) {
  const [createdAt, id] = readCursor(cursor, webhooksCursor) ?? [];
  const after = createdAt === undefined || id === undefined ? {} : { after: { createdAt, id } };
  return { limit: limit + 1, ...after };
}

/** What is named changes. */
function changeFrom({ url, events, description, enabled }: z.output<typeof webhookPatchBody>): WebhookChange {
  return {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events }),
    ...(description === undefined ? {} : { description }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}
