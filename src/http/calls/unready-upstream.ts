import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { PROOF_STAYS_GOOD } from '../../facilitator/backend/chain-landing.js';
import type { Gateway } from '../../gateway/gateway.js';
import { downRetrySeconds } from '../../gateway/projects/sold-payment.js';
import { SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

const DOWN = 'The upstream of this project does not answer, and so nothing is sold; this request charged nothing.';
const NO_UPGRADE =
  'WebSockets are not passed on: what flows through one has no price by the call. This request charged nothing; send it without Upgrade.';

/**
 * Refuses a call that its upstream cannot serve at the moment, or never, before any price.
 * @throws TollhouseError `upgrade_not_supported`, `project_upstream_down`, `secrets_key_unknown`
 */
export function refuseUnready({ upstreams }: Gateway, req: Request, project: ProjectRecord): void {
  // Others, such as h2c, are offers that may be ignored.
  if (/(?:^|,)\s*websocket\s*(?:,|$)/i.test(req.get('upgrade') ?? '')) {
    throw new TollhouseError('upgrade_not_supported', NO_UPGRADE);
  }
  if (project.upstreamDownSince !== undefined) {
    const detail = req.get(SERVICE_PAYMENT_HEADER) === undefined ? DOWN : `${DOWN} ${PROOF_STAYS_GOOD}`;
    throw new TollhouseError('project_upstream_down', detail, { retryAfterSeconds: downRetrySeconds(project) });
  }
  upstreams.require(project);
}
