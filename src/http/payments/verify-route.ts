import type { Request, Response } from 'express';
import { readMintName } from '../../access/mint.js';
import { TollhouseError } from '../../errors/errors.js';
import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import { leaveOpen } from '../../middleware/response/idempotency-notes.js';
import { isSignature } from '../../protocol/address.js';
import { lookupView } from './lookup-view.js';
import { readVerifyBody } from './verify-body.js';

/** Whether a body of `POST /verify` has the contract's shape; x402's has `paymentPayload`. */
export function isContractVerify(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'tx_signature' in body;
}

/** `POST /verify` in the contract's shape: any signature on the chain (service.md §2). */
export async function answerContractVerify(
  facilitator: EmbeddedFacilitator,
  req: Request,
  res: Response,
): Promise<void> {
  const body = readVerifyBody(req.body);
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
  res.json(lookupView(found, body.expected, facilitator.tokens));
}
