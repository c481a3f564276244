import type { Response } from 'express';
import type { z } from 'zod';
import { readMintName } from '../../access/mint.js';
import { TollhouseError } from '../../errors/errors.js';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { Facilitator } from '../../facilitator/types.js';
import { meantField } from '../../lib/unknown-fields.js';
import { leaveOpen } from '../../middleware/response/idempotency-notes.js';
import { isSignature } from '../../protocol/address.js';
import { encodeVerification, readFacilitatorRequest } from '../../protocol/codecs/facilitator-codec.js';
import { readInput } from '../framework/read-input.js';
import { verifyBody } from './schemas.js';
import { lookupView } from './views.js';

/** Whether a body of `POST /verify` has the contract's shape; x402's has `paymentPayload`. */
export function isContractVerify(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'tx_signature' in body;
}

/** `POST /verify` in the contract's shape: any signature on the chain. */
export async function verifyContract(facilitator: EmbeddedFacilitator, asked: unknown, res: Response): Promise<object> {
  const body = readVerifyBody(asked);
  if (!isSignature(body.tx_signature)) {
    throw new TollhouseError('invalid_signature', 'tx_signature must be the base58 text of 64 bytes', {
      param: 'tx_signature',
    });
  }
  const token = body.expected?.token;
  const named = token === undefined ? undefined : readMintName(token, facilitator.tokens);
  if (named?.ok === false) {
    throw new TollhouseError('invalid_request', `expected.token must be ${named.detail}`, { param: 'expected.token' });
  }
  const found = await facilitator.lookUp(body.tx_signature);
  res.setHeader('Cache-Control', 'no-store');
  // Of a transaction on its way there is more to tell later.
  leaveOpen(res);
  return lookupView(found, body.expected, facilitator.tokens);
}

/** `POST /verify` in x402's shape, which is answered 200 whether the payment is good or not (protocol/README.md, "Facilitator API"). */
export async function verifyX402(facilitator: Facilitator, body: unknown, res: Response): Promise<object> {
  // A payment that is good now may be used up when it is asked for again.
  leaveOpen(res);
  const call = readFacilitatorRequest(body);
  if (call.ok) return encodeVerification(await facilitator.verify(call.payment, call.terms));
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
