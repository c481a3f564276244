import type { Request } from 'express';
import { retryHashOf } from '../../facilitator/payments/retry-hash.js';
import type { Call } from '../../gateway/calls/call.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import type { Retry } from '../../middleware/idempotency/retry.js';

const calls = createRequestNote<Request, Call>();

/** Notes the call that a request is. */
export function noteCall(req: Request, call: Call): void {
  calls.put(req, call);
}

/** The call that a request is. */
export function callOf(req: Request): Call {
  const call = calls.of(req);
  if (call === undefined) throw new Error(`${req.path} is no call of a project`);
  return call;
}

/** Who may come again for the payment of a call: its caller, whose key was proven. The response is kept with the key's secret. */
export function callRetry({ key }: Call, req: Request): Retry {
  const secret = `service key ${key.id}`;
  return { hash: retryHashOf({ secret }), secret: `${secret} ${req.get('x-service-secret')}` };
}
