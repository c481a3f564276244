import type { Request } from 'express';
import { retryHashOf } from '../../facilitator/payments/retry-hash.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import { createRequestNote } from '../../middleware/gate/request-note.js';
import type { Retry } from '../../middleware/payment/retry.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

/** A call of a project's upstream, on its way. */
export interface Call {
  /** `call_` and base58 of 16 random bytes. */
  readonly id: string;
  readonly project: ProjectRecord;
  readonly key: ServiceKey;
  /** When it came in, milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** `/v1/<slug>`, as the caller wrote it. */
  readonly publicPath: string;
  /** What follows: empty, or from `/` or `?` on. */
  readonly rest: string;
  /** What of the key's budget is held back for it. */
  reservationId?: string | undefined;
  /** Whether it is in the books, with its reservation. */
  isBooked: boolean;
}

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

/** The memo of a payment that is made for a call without a payment request: it names the project and the key. */
export function callMemo({ slug }: Pick<ProjectRecord, 'slug'>, keyId: string): string {
  return `tollhouse:${slug}:${keyId}`;
}

/** What a payment for a call is bound to: a failed call can be tried again by the same caller, with the same method. */
export function callResource({ method, project, key }: Call): string {
  return `${method} /v1/${project.slug} ${key.id}`;
}
