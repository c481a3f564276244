import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { PageRequest } from '../../pages/paywall/paywall-data.js';
import { requestTarget } from '../gate/request-url.js';
import { readWholeBody } from '../idempotency/request-fingerprint.js';

/** A form that is longer does not come back in its paywall page, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;

/**
 * The request of a page, for its script to send again: what it carried comes back to the one who sent it. A request without a body is
 * answered without a promise.
 */
export function pageRequest(req: Request): PageRequest | Promise<PageRequest> {
  const { method } = req;
  if (method === 'GET' || method === 'HEAD') return { method: 'GET', key: keyOf(req, '') };
  return readWholeBody(req, MAX_BODY_BYTES).then((bytes) => {
    if (bytes === undefined) return { method, key: keyOf(req, ''), isIncomplete: true };
    const base64 = Buffer.from(bytes).toString('base64');
    const type = req.get('Content-Type') ?? '';
    return { method, key: keyOf(req, base64), ...(base64 === '' ? {} : { body: { type, base64 } }) };
  });
}

function keyOf(req: Request, body: string): string {
  const { method } = req;
  return createHash('sha256')
    .update(JSON.stringify([method === 'HEAD' ? 'GET' : method, requestTarget(req), body]))
    .digest('base64url');
}
