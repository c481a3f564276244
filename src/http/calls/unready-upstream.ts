import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import { PROOF_STAYS_GOOD } from '../../facilitator/backend/chain-landing.js';
import type { Gateway } from '../../gateway/gateway.js';
import { downRetrySeconds } from '../../gateway/projects/sold-payment.js';
import { gatewayHops } from '../../gateway/proxy/gateway-hops.js';
import { SERVICE_PAYMENT_HEADER } from '../../protocol/wire/service-payment.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';

const DOWN = 'The upstream of this project does not answer, and so nothing is sold; this request charged nothing.';
const NO_UPGRADE =
  'WebSockets are not passed on: what flows through one has no price by the call. This request charged nothing; send it without Upgrade.';
/** Gateways may sell what other gateways sell; nobody has a use for more than some of them. */
const MOST_HOPS = 4;
const LOOP =
  'This call has come through four gateways already, most likely in a ring: the upstream of a project is a project, and in the end itself. ' +
  'Its owner sets upstream.url to the address of the API. This request charged nothing.';

/**
 * Refuses a call that its upstream cannot serve at the moment, or never, before any price.
 * @throws TollhouseError `gateway_loop`, `upgrade_not_supported`, `project_upstream_down`, `secrets_key_unknown`
 */
export function refuseUnready({ upstreams }: Gateway, req: Request, project: ProjectRecord): void {
  if (gatewayHops(req) >= MOST_HOPS) throw new TollhouseError('gateway_loop', LOOP);
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
