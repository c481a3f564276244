import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type { Call } from '../../gateway/calls/call.js';
import { forwardRefusal } from '../../gateway/proxy/upstream-proxy.js';
import { isBodyLonger, MAX_COMPARED_BYTES } from '../../middleware/idempotency/request-fingerprint.js';

const UNKNOWN_LENGTH =
  'The body is larger than this address accepts, or has more than 1 MiB and does not say how long it is: send Content-Length.';

/**
 * Refuses a call that cannot be passed on, before it costs anything.
 * @throws TollhouseError `invalid_request`, `method_not_allowed`, `body_too_large`, `body_already_read`
 */
export async function refuseUnfit(req: Request, { project, rest }: Call): Promise<void> {
  const { upstream, limits } = project;
  const refusal = forwardRefusal(req, { url: upstream.url, rest, ...limits });
  if (refusal !== undefined) throw refusal;
  if (req.get('content-length') !== undefined) return;
  if (await isBodyLonger(req, Math.min(limits.maxBodyBytes, MAX_COMPARED_BYTES))) {
    throw new TollhouseError('body_too_large', UNKNOWN_LENGTH);
  }
}

/**
 * Waits until the body of a call is here, or the first {@link MAX_COMPARED_BYTES} of it: a call that is sent slowly takes no place of its
 * project meanwhile. Those that bring a payment have been compared by then, which takes as much.
 */
export async function bodyBegun(req: Request): Promise<void> {
  await isBodyLonger(req, MAX_COMPARED_BYTES);
}
