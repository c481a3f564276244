import type { ErrorCode } from '../../errors/errors.js';
import { CALLER_ERRORS } from '../framework/api-caller.js';
import type { Operation } from '../openapi/operation.js';
import { deliveriesQuery, recoverBody, testBody, webhookBody, webhookPatch, webhooksQuery } from './webhooks-bodies.js';
import {
  deliveriesResponse,
  deliveryResponse,
  loggedDeliveryResponse,
  recoverResponse,
  revealedWebhookResponse,
  webhookResponse,
  webhooksResponse,
} from './webhooks-responses.js';

const TAG = 'Webhooks';
const PATH = '/api/v1/webhooks';
const DELIVERY = `${PATH}/:id/deliveries/:delivery`;
const ONE: readonly ErrorCode[] = [...CALLER_ERRORS, 'not_found'];
const QUEUED = { 202: { description: 'It is made within moments.', schema: deliveryResponse } };
const SIGNED =
  'Messages are signed as in Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, `webhook-signature`. Answer 2xx within ' +
  '15 seconds. Otherwise there are up to nine more attempts within some 76 hours; the same event may come more than once.';

/** Webhooks and their deliveries. */
export const WEBHOOKS_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: PATH,
    id: 'createWebhook',
    tag: TAG,
    summary: 'Have events posted to an address',
    description: SIGNED,
    body: webhookBody,
    answers: {
      201: { description: 'The webhook and its secret; `Location` says where it is.', schema: revealedWebhookResponse },
    },
    errors: [...CALLER_ERRORS, 'validation_failed', 'webhook_limit_reached'],
  },
  {
    method: 'get',
    path: PATH,
    id: 'listWebhooks',
    tag: TAG,
    summary: 'Your webhooks, newest first',
    query: webhooksQuery,
    answers: { 200: { description: 'One page of them.', schema: webhooksResponse } },
    errors: [...CALLER_ERRORS, 'validation_failed'],
  },
  {
    method: 'get',
    path: `${PATH}/:id`,
    id: 'getWebhook',
    tag: TAG,
    summary: 'One of your webhooks',
    answers: { 200: { description: 'The webhook.', schema: webhookResponse } },
    errors: ONE,
  },
  {
    method: 'patch',
    path: `${PATH}/:id`,
    id: 'updateWebhook',
    tag: TAG,
    summary: 'Change a webhook, disable or enable it',
    description: 'What is left out stays as it is.',
    body: webhookPatch,
    answers: { 200: { description: 'The webhook.', schema: webhookResponse } },
    errors: [...ONE, 'validation_failed'],
  },
  {
    method: 'delete',
    path: `${PATH}/:id`,
    id: 'deleteWebhook',
    tag: TAG,
    summary: 'Delete a webhook',
    answers: { 204: { description: 'Nothing is posted any more.' } },
    errors: ONE,
  },
  {
    method: 'post',
    path: `${PATH}/:id/rotate`,
    id: 'rotateWebhook',
    tag: TAG,
    summary: 'Give a webhook another secret',
    description: 'Messages are signed with the secret before as well for 24 hours.',
    answers: { 200: { description: 'The webhook and its new secret.', schema: revealedWebhookResponse } },
    errors: ONE,
  },
  {
    method: 'post',
    path: `${PATH}/:id/test`,
    id: 'testWebhook',
    tag: TAG,
    summary: 'Post an event with the data {"test": true}, once',
    body: testBody,
    answers: QUEUED,
    errors: [...ONE, 'validation_failed', 'webhook_disabled'],
  },
  {
    method: 'post',
    path: `${PATH}/:id/recover`,
    id: 'recoverWebhook',
    tag: TAG,
    summary: 'Make once more what failed since a time',
    description: 'Also what happened while the webhook was disabled.',
    body: recoverBody,
    answers: { 202: { description: 'They are made within moments.', schema: recoverResponse } },
    errors: [...ONE, 'validation_failed', 'webhook_disabled'],
  },
  {
    method: 'get',
    path: `${PATH}/:id/deliveries`,
    id: 'listDeliveries',
    tag: TAG,
    summary: 'What was, or is to be, posted, newest first',
    query: deliveriesQuery,
    answers: { 200: { description: 'One page of them.', schema: deliveriesResponse } },
    errors: [...ONE, 'validation_failed'],
  },
  {
    method: 'get',
    path: DELIVERY,
    id: 'getDelivery',
    tag: TAG,
    summary: 'A delivery with every attempt at it',
    answers: { 200: { description: 'The delivery.', schema: loggedDeliveryResponse } },
    errors: ONE,
  },
  {
    method: 'post',
    path: `${DELIVERY}/retry`,
    id: 'retryDelivery',
    tag: TAG,
    summary: 'Make a delivery once more',
    answers: QUEUED,
    errors: [...ONE, 'webhook_disabled'],
  },
];
