import { z } from 'zod';
import { discoveryResponse, searchResponse, wellKnownResponse } from '../../protocol/wire/schemas.js';
import { listQuery, searchQuery } from '../discovery/discovery-schemas.js';
import {
  aliveResponse,
  healthResponse,
  readyResponse,
  serviceResponse,
  walletStatusResponse,
} from '../framework/service-responses.js';
import type { Operation } from '../openapi/operation.js';

const SERVICE_TAG = 'Service';
const DISCOVERY_TAG = 'Discovery';
const RESOURCES = 'The gated routes that want to be found, in their order, then the listed projects.';

/** What the service says of itself: state, probes, figures, this document. */
export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/',
    id: 'getService',
    tag: SERVICE_TAG,
    summary: 'What this service is',
    answers: { 200: { description: 'Name, version, features and paths.', schema: serviceResponse } },
  },
  {
    method: 'get',
    path: '/health',
    id: 'getHealth',
    tag: SERVICE_TAG,
    summary: 'How the networks and the facilitation are',
    answers: { 200: { description: 'The state, good or bad, never older than five seconds.', schema: healthResponse } },
  },
  {
    method: 'get',
    path: '/wallet-status',
    id: 'getWalletStatus',
    tag: SERVICE_TAG,
    summary: 'What the facilitation wallet holds',
    answers: { 200: { description: 'Balances in whole tokens.', schema: walletStatusResponse } },
    errors: ['chain_unavailable'],
  },
  {
    method: 'get',
    path: '/healthz',
    id: 'getAlive',
    tag: SERVICE_TAG,
    summary: 'Whether the process answers',
    answers: { 200: { description: 'It does.', schema: aliveResponse } },
  },
  {
    method: 'get',
    path: '/readyz',
    id: 'getReady',
    tag: SERVICE_TAG,
    summary: 'Whether payments can be taken',
    answers: { 200: { description: 'They can.', schema: readyResponse } },
    errors: ['not_ready'],
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    tag: SERVICE_TAG,
    summary: 'Figures for Prometheus',
    answers: { 200: { description: 'In the text form of Prometheus.', mediaType: 'text/plain' } },
    errors: ['not_configured'],
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag: SERVICE_TAG,
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) } },
  },
];

/** What can be bought here, in x402's shapes. */
export const DISCOVERY_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/discovery',
    id: 'discover',
    tag: DISCOVERY_TAG,
    summary: 'What can be bought here, and what this service is',
    query: listQuery,
    answers: { 200: { description: RESOURCES, schema: discoveryResponse.extend({ service: serviceResponse }) } },
    errors: ['payment_backend_unavailable', 'fee_limit_reached'],
  },
  {
    method: 'get',
    path: '/discovery/resources',
    id: 'listResources',
    tag: DISCOVERY_TAG,
    summary: 'What can be bought here',
    query: listQuery,
    answers: { 200: { description: RESOURCES, schema: discoveryResponse } },
    errors: ['payment_backend_unavailable', 'fee_limit_reached'],
  },
  {
    method: 'get',
    path: '/discovery/search',
    id: 'searchResources',
    tag: DISCOVERY_TAG,
    summary: 'What can be bought here under some words',
    query: searchQuery,
    answers: { 200: { description: 'Those in which most of the words occur come first.', schema: searchResponse } },
    errors: ['payment_backend_unavailable', 'fee_limit_reached'],
  },
  {
    method: 'get',
    path: '/.well-known/x402',
    id: 'getWellKnown',
    tag: DISCOVERY_TAG,
    summary: 'Addresses that can be paid for',
    answers: { 200: { description: 'For crawlers that know the host only.', schema: wellKnownResponse } },
  },
];
