import { z } from 'zod';
import { type ErrorCode, TollhouseError } from '../../errors/errors.js';
import type { NewPaymentRequest, UnmatchedPayment } from '../../facilitator/requests/payment-request-types.js';
import { requireKeyMode } from '../../gateway/calls/key-mode.js';
import type { Asker, RequestLimit } from '../../gateway/owners/request-limit.js';
import { createAskSeller, sellerParts } from '../../gateway/projects/sold-payment.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import { defined } from '../../lib/defined.js';
import { clientAddress } from '../../middleware/gate/client-address.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import { readServiceKey } from '../../middleware/service-key/read-service-key.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { ANY_KEY, defineOperation } from '../framework/operation.js';
import { readInput } from '../framework/read-input.js';
import { getReceipt, type ReceiptParts } from './receipts.js';
import {
  createdPaymentResponse,
  createPaymentBody,
  PAYMENTS_PATHS,
  paymentResponse,
  projectPaymentBody,
  transactionBody,
  walletLabelResponse,
  walletTransactionResponse,
} from './schemas.js';
import { explore, getSupported, settleOperation, verifyOperation } from './settlement.js';
import { createdPaymentView, paymentStateView } from './views.js';

/** What {@link PAYMENTS_OPERATIONS} work with. */
export interface PaymentsParts extends ReceiptParts {
  /** Name that a wallet shows when it is asked to pay. Default `Tollhouse`. */
  readonly label?: string | undefined;
  readonly requests: RequestLimit;
}

const PAYMENTS_TAG = 'Payments';
const WALLETS_TAG = 'Solana Pay';
const DEFAULT_LABEL = 'Tollhouse';

/** A small picture of a tollgate, for wallets. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#1f4f46"/><path d="M14 50V24h8v26zm10-20 28-8v6l-28 8z" fill="#fff"/></svg>`;

const FIELD_CODES: Readonly<Record<string, ErrorCode>> = {
  '/amount': 'invalid_amount',
  '/token': 'invalid_token',
  '/recipient': 'invalid_recipient',
  '/payer': 'invalid_payer',
  '/account': 'invalid_payer',
  '/split': 'invalid_split',
  '/project': 'project_not_found',
};
const FAULTS = { code: 'invalid_request', fields: FIELD_CODES } as const;

const createPayment = defineOperation({
  method: 'post',
  path: PAYMENTS_PATHS.create,
  listed: { under: 'facilitation', place: 1 },
  id: 'createPayment',
  tag: PAYMENTS_TAG,
  summary: 'Ask for a payment',
  description:
    'With `payer` the answer holds a finished transaction to sign. Without, the slots of the payer are placeholders; `POST /payments/{id}/transaction` fills them. With `project` nothing else is needed: price, token and recipients are those of the project.',
  // For a project that is private, and so that it counts for the key.
  security: [{}, ANY_KEY],
  bodies: [createPaymentBody, projectPaymentBody],
  responses: { 200: { description: 'The payment, and the transfer that pays it.', schema: createdPaymentResponse } },
  errors: [
    'invalid_amount',
    'invalid_token',
    'invalid_recipient',
    'invalid_payer',
    'invalid_split',
    'project_not_found',
    'project_paused',
    'project_upstream_down',
    'project_suspended',
    'route_not_found',
    'route_denied',
    'ambiguous_path',
    'unauthenticated',
    'invalid_service_key',
    'service_key_expired',
    'service_key_revoked',
    'service_key_suspended',
    'wallet_suspended',
    'wrong_key_mode',
    'address_not_allowed',
    'key_project_not_allowed',
    'spending_limit_reached',
    'rate_limited',
    'payment_backend_unavailable',
  ],
  async handler({ req, res, body: given }, { networks, gateway, baseUrl, requests }: PaymentsParts) {
    const { network, expires_in: expiresInSeconds, ...asked } = readCreate(given);
    const named = networks.named(network);
    const key = gateway && (await readServiceKey(req, res, gateway.keys));
    const isCall = 'project' in asked;
    const priced = isCall ? await sellerParts(gateway ?? NO_PROJECTS, asked, key) : { ...asked, seller: {} };
    const sold = 'network' in priced ? priced.network : undefined;
    const facilitator = sold === undefined ? named : networks.named(sold);
    if (network !== undefined && facilitator !== named) {
      const detail = `network must be left out, or that of the project: ${facilitator.network}`;
      throw new TollhouseError('invalid_request', detail, { param: 'network' });
    }
    if (key !== undefined) requireKeyMode(key, facilitator.network, networks.mode);
    const asker: Asker = key === undefined ? clientAddress(req) : { wallet: key.owner };
    const seller = { ...priced.seller, ...defined({ keyId: key?.id, countedFor: requests.nameOf(asker) }) };
    const accept = async (request: PaymentRequestRecord) => {
      const takeBack = await requests.count(asker);
      if (key === undefined || !isCall) return;
      await gateway?.calls.holdRequest(key, request).catch((error: unknown) => {
        takeBack();
        throw error;
      });
    };
    const tellsSeller = key !== undefined && isSeller(key, priced);
    const wanted = withoutUndefined({ ...asked, expiresInSeconds, ...priced, seller, tellsSeller });
    const created = await facilitator.createPayment(wanted, accept);
    return createdPaymentView(created, mountAddress(req, baseUrl), facilitator.tokens);
  },
});

const getPayment = defineOperation({
  method: 'get',
  path: PAYMENTS_PATHS.one,
  id: 'getPayment',
  tag: PAYMENTS_TAG,
  summary: 'Where a payment stands',
  noStore: true,
  responses: { 200: { description: 'The payment and its state.', schema: paymentResponse } },
  errors: ['payment_not_found', 'payment_backend_unavailable'],
  async handler({ params }, { networks }: PaymentsParts) {
    const state = await networks.find((it) => it.paymentRequest(params.id));
    if (state === undefined) throw notFound();
    return paymentStateView(state, networks.named(state.request.network).tokens);
  },
});

const describeToWallet = defineOperation({
  method: 'get',
  path: PAYMENTS_PATHS.transaction,
  id: 'describeToWallet',
  tag: WALLETS_TAG,
  summary: 'What a wallet shows before it asks for the transaction',
  responses: { 200: { description: 'Label and icon.', schema: walletLabelResponse } },
  handler: async ({ req }, { baseUrl, label = DEFAULT_LABEL }: PaymentsParts) => ({
    label,
    icon: `${mountAddress(req, baseUrl)}${PAYMENTS_PATHS.icon}`,
  }),
});

/**
 * The finished transaction for a payer. A Solana Pay wallet names its `account` and sends the transaction itself, so it
 * pays the network fee; whoever names a `payer` brings it back to `/settle`, and we pay.
 */
const prepareTransaction = defineOperation({
  method: 'post',
  path: PAYMENTS_PATHS.transaction,
  id: 'prepareTransaction',
  tag: WALLETS_TAG,
  summary: 'The transaction with which a wallet pays',
  description: 'For `payer` we pay the network fee; a Solana Pay wallet, which names its `account`, pays it and sends.',
  body: transactionBody,
  faults: FAULTS,
  responses: {
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
    'project_upstream_down',
    'project_suspended',
    'service_key_suspended',
    'wallet_suspended',
    'payment_expired',
    'payment_already_settled',
    'payment_in_progress',
    'payment_backend_unavailable',
  ],
  async handler({ req, params: { id }, body }, { networks, gateway, baseUrl }: PaymentsParts) {
    const isWallet = 'account' in body;
    const [payer, feePayer] = isWallet ? ([body.account, 'payer'] as const) : ([body.payer, 'facilitator'] as const);
    const askSeller = gateway && createAskSeller(gateway);
    const created = await networks.find((it) => it.preparePayment(id, payer, feePayer, askSeller));
    if (created === undefined) throw notFound();
    const { request, unmatched } = created;
    const view = createdPaymentView(created, mountAddress(req, baseUrl), networks.named(request.network).tokens);
    if (!isWallet) return view;
    const { serialized } = view.transaction;
    if (serialized === undefined) throw new Error('unreachable: the payer is known');
    return { transaction: serialized, message: walletMessage(request, unmatched) };
  },
});

const getIcon = defineOperation({
  method: 'get',
  path: PAYMENTS_PATHS.icon,
  id: 'getIcon',
  tag: WALLETS_TAG,
  summary: 'The picture that wallets show',
  responses: { 200: { description: 'A picture.', mediaType: 'image/svg+xml' } },
  async handler({ res }) {
    res.type('image/svg+xml').send(ICON);
  },
});

/**
 * Payments of our own making, of which the transaction is also Solana Pay's
 * transaction request; and settling and verifying, the contract's and x402's (protocol/README.md, "Facilitator API").
 */
export const PAYMENTS_OPERATIONS = [
  getSupported,
  createPayment,
  getPayment,
  settleOperation,
  verifyOperation,
  explore,
  getReceipt,
  describeToWallet,
  prepareTransaction,
  getIcon,
];

/** What a wallet shows to its owner before it pays; wallets cut it. */
function walletMessage(
  { memo = 'Payment' }: PaymentRequestRecord,
  unmatched: readonly UnmatchedPayment[] = [],
): string {
  const [first] = unmatched;
  if (first === undefined) return memo;
  return `${memo}. Money came already that does not pay this (${first.signature}); this pays the whole price.`;
}

/** With a project what it sells need not be said; without one the contract's three fields must be there. */
function readCreate(given: unknown) {
  if (Reflect.get(Object(given), 'project') !== undefined) return readInput(projectPaymentBody, given, FAULTS);
  const { project: _none, ...body } = readInput(createPaymentBody, given, FAULTS);
  return body;
}

/** Whether who asks is the one who is paid: anybody may name any wallet and any project, for nothing and without end. */
function isSeller(
  key: Pick<ServiceKey, 'owner'>,
  { seller, recipient }: Pick<NewPaymentRequest, 'seller' | 'recipient'>,
) {
  return key.owner === (seller?.owner ?? recipient);
}

/** Without a gateway there are no projects. */
const NO_PROJECTS = { findProject: async () => undefined, suspensions: { refuseProject: () => undefined } };

type Loose<T> = { readonly [K in keyof T]: T[K] | undefined };

function withoutUndefined(
  request: Loose<NewPaymentRequest> & Pick<NewPaymentRequest, 'amount' | 'token' | 'recipient'>,
): NewPaymentRequest {
  const {
    payer,
    memo,
    metadata,
    split,
    seller = {},
    tellsSeller,
    expiresInSeconds,
    amount,
    token,
    recipient,
  } = request;
  return {
    amount,
    token,
    recipient,
    ...(payer === undefined ? {} : { payer }),
    ...(memo === undefined ? {} : { memo }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(split === undefined ? {} : { split }),
    ...(Object.keys(seller).length === 0 ? {} : { seller }),
    ...(tellsSeller === undefined ? {} : { tellsSeller }),
    ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }),
  };
}

function notFound(): TollhouseError {
  const detail = 'There is no payment with this id; it may have been forgotten after its time.';
  return new TollhouseError('payment_not_found', detail);
}
