import { z } from 'zod';
import { facilitatorBody, settleResponse, supportedResponse, verifyResponse } from '../../protocol/wire/schemas.js';
import { networksResponse } from '../framework/service-responses.js';
import type { Operation } from '../openapi/operation.js';
import { createPaymentBody, settleBody, transactionBody } from './contract-schemas.js';
import {
  createdPaymentResponse,
  paymentResponse,
  settledResponse,
  verifiedResponse,
  walletLabelResponse,
  walletTransactionResponse,
} from './payment-responses.js';
import { verifyBody } from './verify-body.js';

const PAYMENTS_TAG = 'Payments';
const WALLETS_TAG = 'Solana Pay';

/** Payments of our own making, and settling and verifying, the contract's and x402's. */
export const PAYMENT_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/supported',
    id: 'getSupported',
    tag: PAYMENTS_TAG,
    summary: 'Networks and tokens',
    description: "The contract's networks and, beside them, x402's kinds, extensions and signers.",
    answers: {
      200: {
        description: 'What can be settled now.',
        schema: supportedResponse.extend({ networks: networksResponse }),
      },
    },
    errors: ['payment_backend_unavailable'],
  },
  {
    method: 'post',
    path: '/create-payment',
    id: 'createPayment',
    tag: PAYMENTS_TAG,
    summary: 'Ask for a payment',
    description:
      'With `payer` the answer holds a finished transaction to sign. Without, the slots of the payer are placeholders; `POST /payments/{id}/transaction` fills them.',
    body: createPaymentBody,
    answers: { 200: { description: 'The payment, and the transfer that pays it.', schema: createdPaymentResponse } },
    errors: [
      'invalid_amount',
      'invalid_token',
      'invalid_recipient',
      'invalid_payer',
      'invalid_split',
      'project_not_found',
      'project_paused',
      'unauthenticated',
      'invalid_service_key',
      'service_key_expired',
      'service_key_revoked',
      'wrong_key_mode',
      'address_not_allowed',
      'payment_backend_unavailable',
    ],
  },
  {
    method: 'get',
    path: '/payments/:id',
    id: 'getPayment',
    tag: PAYMENTS_TAG,
    summary: 'Where a payment stands',
    answers: { 200: { description: 'The payment and its state.', schema: paymentResponse } },
    errors: ['payment_not_found', 'payment_backend_unavailable'],
  },
  {
    method: 'post',
    path: '/settle',
    id: 'settle',
    tag: PAYMENTS_TAG,
    summary: 'Settle a payment',
    description:
      'A payment that was created here, by its id and a signed transaction; or an x402 payment of any server.',
    body: z.union([settleBody, facilitatorBody]),
    answers: {
      200: {
        description: "The settlement; in x402's shape also one that was refused.",
        schema: z.union([settledResponse, settleResponse]),
      },
    },
    errors: [
      'invalid_transaction',
      'payment_expired',
      'payment_already_settled',
      'payment_not_found',
      'project_not_found',
      'project_paused',
      'payment_in_progress',
      'payment_identifier_conflict',
      'blockchain_error',
      'settlement_pending',
      'payment_backend_unavailable',
      'fee_limit_reached',
    ],
  },
  {
    method: 'post',
    path: '/verify',
    id: 'verify',
    tag: PAYMENTS_TAG,
    summary: 'Look a transaction up, or verify an x402 payment',
    body: z.union([verifyBody, facilitatorBody]),
    answers: { 200: { description: 'What was found.', schema: z.union([verifiedResponse, verifyResponse]) } },
    errors: ['invalid_signature', 'chain_unavailable', 'payment_backend_unavailable', 'fee_limit_reached'],
  },
  {
    method: 'get',
    path: '/explorer/tx/:signature',
    id: 'explore',
    tag: PAYMENTS_TAG,
    summary: 'On to a block explorer, which is told the cluster',
    answers: { 302: { description: 'Where the transaction is shown.' } },
    errors: ['invalid_signature'],
  },
  {
    method: 'get',
    path: '/payments/:id/transaction',
    id: 'describeToWallet',
    tag: WALLETS_TAG,
    summary: 'What a wallet shows before it asks for the transaction',
    answers: { 200: { description: 'Label and icon.', schema: walletLabelResponse } },
  },
  {
    method: 'post',
    path: '/payments/:id/transaction',
    id: 'prepareTransaction',
    tag: WALLETS_TAG,
    summary: 'The transaction with which a wallet pays',
    description:
      'For `payer` we pay the network fee; a Solana Pay wallet, which names its `account`, pays it and sends.',
    body: transactionBody,
    answers: {
      200: {
        description: 'The unsigned transaction.',
        schema: z.union([createdPaymentResponse, walletTransactionResponse]),
      },
    },
    errors: [
      'invalid_payer',
      'payment_not_found',
      'project_not_found',
      'project_paused',
      'payment_expired',
      'payment_already_settled',
      'payment_in_progress',
      'payment_backend_unavailable',
    ],
  },
  {
    method: 'get',
    path: '/payments/icon.svg',
    id: 'getIcon',
    tag: WALLETS_TAG,
    summary: 'The picture that wallets show',
    answers: { 200: { description: 'A picture.', mediaType: 'image/svg+xml' } },
  },
];
