import type { Operation } from '../openapi/operation.js';
import { challengeResponse, grantResponse, jwksResponse } from './auth-responses.js';
import { challengeBody, refreshBody, revokeBody, tokenBody } from './auth-router.js';

const TAG = 'Sign-in';
const TOKENS = { description: 'Access and refresh token.', schema: grantResponse };

/** Sign-in of wallets. */
export const AUTH_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/v1/auth/challenge',
    id: 'createChallenge',
    tag: TAG,
    summary: 'A message for a wallet to sign',
    body: challengeBody,
    answers: { 200: { description: 'The message.', schema: challengeResponse } },
    errors: ['validation_failed', 'invalid_request', 'not_configured'],
  },
  {
    method: 'post',
    path: '/api/v1/auth/token',
    id: 'createToken',
    tag: TAG,
    summary: 'Tokens for a signed message',
    body: tokenBody,
    answers: { 200: TOKENS },
    errors: ['validation_failed', 'invalid_sign_in', 'sign_in_replayed', 'not_configured'],
  },
  {
    method: 'post',
    path: '/api/v1/auth/refresh',
    id: 'refreshToken',
    tag: TAG,
    summary: 'New tokens for a refresh token, which is used up',
    body: refreshBody,
    answers: { 200: TOKENS },
    errors: ['validation_failed', 'invalid_refresh_token', 'not_configured'],
  },
  {
    method: 'post',
    path: '/api/v1/auth/revoke',
    id: 'revokeToken',
    tag: TAG,
    summary: 'End a session, or one access token',
    body: revokeBody,
    answers: { 204: { description: 'It is over, or never was.' } },
    errors: ['validation_failed', 'not_configured'],
  },
  {
    method: 'get',
    path: '/.well-known/jwks.json',
    id: 'getKeys',
    tag: TAG,
    summary: 'Public keys of the access tokens',
    answers: { 200: { description: 'RFC 7517; empty where tokens are signed with a secret.', schema: jwksResponse } },
  },
];
