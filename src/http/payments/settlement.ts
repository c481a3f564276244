import type { Response } from 'express';
import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import type { AskSeller } from '../../facilitator/requests/payment-request-types.js';
import type { Gateway } from '../../gateway/gateway.js';
import { createAskSeller } from '../../gateway/projects/sold-payment.js';
import { clientAddress } from '../../middleware/gate/client-address.js';
import { countElsewhere } from '../../middleware/rate-limit/known-callers.js';
import { isSignature } from '../../protocol/address.js';
import { encodeSupported } from '../../protocol/codecs/facilitator-codec.js';
import type { NetworkId } from '../../protocol/types.js';
import { facilitatorBody, settleResponse, verifyResponse } from '../../protocol/wire/schemas.js';
import { explorerLink, explorerOf } from '../framework/explorer.js';
import { defineOperation } from '../framework/operation.js';
import {
  exploreQuery,
  PAYMENTS_PATHS,
  settleBody,
  settledResponse,
  supportedNetworksResponse,
  verifiedResponse,
  verifyBody,
} from './schemas.js';
import { isContractSettle, settleContract, settleX402 } from './settle.js';
import { isContractVerify, verifyContract, verifyX402 } from './verify.js';
import { networksView } from './views.js';

/** What settling and verifying work with. */
export interface SettlementParts {
  readonly networks: Networks<EmbeddedFacilitator>;
  /** Knows the projects that payments are for. Default: there are none. */
  readonly gateway?: Gateway | undefined;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** Address of a block explorer, without `/tx/…`. Default: one that knows the network, see explorer.ts. */
  readonly explorerUrl?: string | undefined;
}

const TAG = 'Payments';

/** Networks, tokens, and x402's kinds. */
export const getSupported = defineOperation({
  method: 'get',
  path: PAYMENTS_PATHS.supported,
  listed: { under: 'core', place: 3 },
  id: 'getSupported',
  tag: TAG,
  summary: 'Networks and tokens',
  description: "The contract's networks and, beside them, x402's kinds, extensions and signers.",
  responses: { 200: { description: 'What can be settled now.', schema: supportedNetworksResponse } },
  errors: ['payment_backend_unavailable'],
  handler: async (_request, { networks: { all, joined } }: SettlementParts) => ({
    ...encodeSupported(await joined.supported()),
    networks: Object.assign({}, ...all.map(networksView)),
  }),
});

/** Settles a payment of our own making or, on the same path, one of x402's for another server; the body's shape tells. */
export const settleOperation = defineOperation({
  method: 'post',
  path: PAYMENTS_PATHS.settle,
  listed: { under: 'facilitation', place: 2 },
  id: 'settle',
  tag: TAG,
  summary: 'Settle a payment',
  description: 'A payment that was created here, by its id and a signed transaction; or an x402 payment of any server.',
  bodies: [settleBody, facilitatorBody],
  responses: {
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
    'project_upstream_down',
    'project_suspended',
    'service_key_suspended',
    'wallet_suspended',
    'payment_in_progress',
    'payment_identifier_conflict',
    'blockchain_error',
    'settlement_pending',
    'payment_backend_unavailable',
    'fee_limit_reached',
    'too_many_payments',
  ],
  async handler({ req, res, body }, parts: SettlementParts) {
    const { networks, gateway } = parts;
    const askSeller = gateway && countedByKey(createAskSeller(gateway), res);
    const contract = {
      networks,
      askSeller,
      explorerOn: (network: NetworkId) => explorerOf({ ...parts, network }, req),
    };
    if (isContractSettle(body)) await settleContract({ ...contract, ...clientAddress(req) }, body, res);
    else await settleX402(networks.joined, req, res);
  },
});

/** Looks a transaction up or, on the same path, verifies a payment of x402's; the body's shape tells. */
export const verifyOperation = defineOperation({
  method: 'post',
  path: PAYMENTS_PATHS.verify,
  listed: { under: 'facilitation', place: 3 },
  id: 'verify',
  tag: TAG,
  summary: 'Look a transaction up, or verify an x402 payment',
  bodies: [verifyBody, facilitatorBody],
  responses: { 200: { description: 'What was found.', schema: z.union([verifiedResponse, verifyResponse]) } },
  errors: [
    'invalid_signature',
    'chain_unavailable',
    'payment_backend_unavailable',
    'fee_limit_reached',
    'too_many_payments',
  ],
  handler: async ({ req, res, body }, { networks }: SettlementParts) =>
    isContractVerify(body) ? verifyContract(networks, body, res) : verifyX402(networks.joined, req, res),
});

/** Leads on to a block explorer. */
export const explore = defineOperation({
  method: 'get',
  path: PAYMENTS_PATHS.explore,
  id: 'explore',
  tag: TAG,
  summary: 'On to a block explorer, which is told the cluster',
  description: 'Of several networks it is the one that is named, or else the one that has the transaction.',
  query: exploreQuery,
  responses: { 302: { description: 'Where the transaction is shown.' } },
  errors: ['invalid_signature', 'invalid_request'],
  async handler({ res, params: { signature }, query }, { networks }: SettlementParts) {
    if (!isSignature(signature)) throw new TollhouseError('invalid_signature', 'This is not a transaction signature.');
    res.redirect(explorerLink(await networkOf(signature, query.network, networks), signature));
  },
});

/** The network that is named, or the one that has a transaction. Where none has it, one for test money: others have links of their own. */
async function networkOf(
  signature: string,
  named: string | undefined,
  networks: SettlementParts['networks'],
): Promise<NetworkId> {
  const { all, first } = networks;
  if (named !== undefined || all.length === 1) return networks.named(named).network;
  const looks = await Promise.allSettled(all.map((it) => it.lookUp(signature)));
  const isThere = (at: number) => {
    const look = looks[at];
    return look?.status === 'fulfilled' && look.value.status !== 'not_found';
  };
  const on = all.find((_, at) => isThere(at)) ?? all.find((it) => it.network !== 'solana') ?? first;
  return on.network;
}

/** What is settled for a service key was counted when that asked for the payment, whatever the address that it is settled from. */
function countedByKey(askSeller: AskSeller, res: Response): AskSeller {
  return async (request) => {
    await askSeller(request);
    if (request.keyId !== undefined) countElsewhere(res);
  };
}
