import { CALLER_ERRORS } from '../framework/api-caller.js';
import type { Operation } from '../openapi/operation.js';
import { generateBody, keysQuery } from './keys-bodies.js';
import { keyResponse, keysResponse, revealedKeyResponse } from './keys-responses.js';

const TAG = 'Service keys';

/** Service keys. */
export const KEYS_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/v1/keys/generate',
    id: 'generateKey',
    tag: TAG,
    summary: 'Make a service key',
    description:
      'With an access token only: a key makes no keys. Calls carry `api_key` in the header `X-Service-Key` and `api_secret` in `X-Service-Secret`. The secret is shown this once.',
    body: generateBody,
    answers: {
      201: { description: 'The key and its secret; `Location` says where the key is.', schema: revealedKeyResponse },
    },
    errors: [...CALLER_ERRORS, 'validation_failed'],
  },
  {
    method: 'get',
    path: '/api/v1/keys',
    id: 'listKeys',
    tag: TAG,
    summary: 'Your service keys, newest first, revoked ones too',
    query: keysQuery,
    answers: { 200: { description: 'One page of them.', schema: keysResponse } },
    errors: [...CALLER_ERRORS, 'validation_failed'],
  },
  {
    method: 'get',
    path: '/api/v1/keys/:id',
    id: 'getKey',
    tag: TAG,
    summary: 'One of your service keys',
    answers: { 200: { description: 'The key.', schema: keyResponse } },
    errors: [...CALLER_ERRORS, 'not_found'],
  },
  {
    method: 'post',
    path: '/api/v1/keys/:id/rotate',
    id: 'rotateKey',
    tag: TAG,
    summary: 'Give a service key another secret',
    description: 'The secret before it is good for 24 hours more. A service key may do this to itself only.',
    answers: { 200: { description: 'The key and its new secret, shown this once.', schema: revealedKeyResponse } },
    errors: [...CALLER_ERRORS, 'not_found'],
  },
  {
    method: 'delete',
    path: '/api/v1/keys/:id',
    id: 'revokeKey',
    tag: TAG,
    summary: 'Revoke a service key for ever',
    description: 'It is refused everywhere within 30 seconds, and stays in the list.',
    answers: { 204: { description: 'It is revoked, or was before.' } },
    errors: [...CALLER_ERRORS, 'not_found'],
  },
];
