import type { Request, Response } from 'express';
import type { z } from 'zod';
import { readMintName } from '../../access/mint.js';
import { TollhouseError } from '../../errors/errors.js';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import type { ChainLookup } from '../../facilitator/requests/payment-request-types.js';
import type { Facilitator } from '../../facilitator/types.js';
import { meantField } from '../../lib/unknown-fields.js';
import { clientAddress } from '../../middleware/gate/client-address.js';
import { leaveOpen } from '../../middleware/response/idempotency-notes.js';
import { isSignature } from '../../protocol/address.js';
import { encodeVerification, readFacilitatorRequest } from '../../protocol/codecs/facilitator-codec.js';
import { modeOf } from '../../protocol/networks/networks.js';
import { readInput } from '../framework/read-input.js';
import { verifyBody } from './schemas.js';
import { lookupView } from './views.js';

/** Whether a body of `POST /verify` has the contract's shape; x402's has `paymentPayload`. */
export function isContractVerify(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'tx_signature' in body;
}

/** `POST /verify` in the contract's shape: any signature on the chain. */
export async function verifyContract(
  networks: Networks<EmbeddedFacilitator>,
  given: unknown,
  res: Response,
): Promise<object> {
  const body = readVerifyBody(given);
  if (!isSignature(body.tx_signature)) {
    throw new TollhouseError('invalid_signature', 'tx_signature must be the base58 text of 64 bytes', {
      param: 'tx_signature',
    });
  }
  const token = body.expected?.token;
  const asked = askedFor(networks, body.network);
  const among = asked.flatMap(({ tokens }) => tokens);
  const named = token === undefined ? undefined : readMintName(token, among);
  if (named?.ok === false) {
    throw new TollhouseError('invalid_request', `expected.token must be ${named.detail}`, { param: 'expected.token' });
  }
  const { found, on } = await lookUpAmong(asked, body.tx_signature);
  res.setHeader('Cache-Control', 'no-store');
  // Of a transaction on its way there is more to tell later.
  leaveOpen(res);
  const network = found.status === 'not_found' ? null : on.network;
  return { ...lookupView(found, body.expected, on.tokens), network };
}

/** What a chain knows of a transaction, and which of them was asked. */
export interface LookedUp {
  readonly found: ChainLookup;
  readonly on: EmbeddedFacilitator;
}

/**
 * Looks a signature up on each of some networks. A chain that does not answer matters where the others know nothing of it.
 * @throws TollhouseError `chain_unavailable`
 */
export async function lookUpAmong(asked: readonly EmbeddedFacilitator[], signature: string): Promise<LookedUp> {
  const looks = await Promise.allSettled(asked.map(async (on) => ({ found: await on.lookUp(signature), on })));
  const known = looks.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
  const there = known.find(({ found }) => found.status !== 'not_found');
  const failed = looks.find((it) => it.status === 'rejected');
  if (there === undefined && failed !== undefined) throw failed.reason;
  const answer = there ?? known[0];
  if (answer === undefined) throw new Error('unreachable: one network is asked');
  return answer;
}

/**
 * Where a payment is looked for: on the network that is named. Where none is and real money is served, test money is not found, or it
 * would be taken for real.
 * @throws TollhouseError `invalid_request` for a network that is not served
 */
export function askedFor(
  networks: Networks<EmbeddedFacilitator>,
  network: string | undefined,
): readonly EmbeddedFacilitator[] {
  if (network !== undefined) return [networks.named(network)];
  const { all } = networks;
  const live = all.filter(({ network }) => modeOf(network) === 'live');
  return live.length === 0 ? all : live;
}

/** `POST /verify` in x402's shape, which is answered 200 whether the payment is good or not (protocol/README.md, "Facilitator API"). */
export async function verifyX402(facilitator: Facilitator, req: Request, res: Response): Promise<object> {
  // A payment that is good now may be used up when it is asked for again.
  leaveOpen(res);
  const call = readFacilitatorRequest(req.body);
  if (call.ok) return encodeVerification(await facilitator.verify(call.payment, call.terms, clientAddress(req).client));
  if (call.malformed) throw new TollhouseError('invalid_request', call.detail);
  return encodeVerification({ ok: false, reason: call.reason, message: call.detail });
}

/**
 * Reads the body of `POST /verify`.
 * @throws TollhouseError `invalid_signature` or `invalid_request`, the latter also for what is expected and has no effect
 */
function readVerifyBody(body: unknown): z.output<typeof verifyBody> {
  refuseOutside(body);
  return readInput(verifyBody, body, { code: 'invalid_request', fields: { '/tx_signature': 'invalid_signature' } });
}

/** What is expected and stands beside `expected`, or in a misspelt one, would be checked by nobody. */
function refuseOutside(body: unknown): void {
  for (const key of Object.keys(Object(body))) {
    if (Object.hasOwn(verifyBody.shape, key)) continue;
    const meant = meantField(verifyBody, [], key);
    if (meant === undefined) continue;
    throw new TollhouseError('invalid_request', `"${key}" is no field of this request; did you mean ${meant}?`, {
      param: key,
    });
  }
}
