import { createHash } from 'node:crypto';
import { newId } from '../../lib/ids.js';
import type { ProjectRecord } from '../../storage/projects/projects.js';
import type { AddressGuard } from '../network-guard/address-guard.js';
import { openAgent } from '../network-guard/open-agent.js';
import { signingSecrets } from '../projects/gateway-secret.js';
import { signatureHeaders } from '../proxy/gateway-signature.js';
import { type UpstreamAdditions, withAddedQuery } from '../proxy/upstream-additions.js';
import { upstreamTarget } from '../proxy/upstream-target.js';
import type { Look } from './health-rules.js';

/** Looks at upstreams, as their calls would come. */
export interface UpstreamLooker {
  /** One look. Every failure is a finding; nothing rejects. */
  look(project: ProjectRecord): Promise<Look>;
  /** Ends the connections. */
  close(): Promise<void>;
}

/** What {@link createLooker} works with. */
export interface LookerParts {
  readonly guard: Pick<AddressGuard, 'connect'>;
  /** What the owner adds to calls. */
  readonly additions: (project: ProjectRecord) => UpstreamAdditions;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** A look is short, whatever calls may take. */
const MAX_TIMEOUT_MS = 10_000;
const IDLE_MS = 1_000;
const FIRST_FAILING = 400;
const NO_BODY_DIGEST = createHash('sha256').digest('hex');

/** Makes one, whose every connection is checked by the guard. Redirects are not followed. */
export function createLooker({ guard, additions, now }: LookerParts): UpstreamLooker {
  const opened = openAgent({ connect: guard.connect, keepAliveTimeout: IDLE_MS });

  async function ask(project: ProjectRecord): Promise<number> {
    const { upstream } = project;
    const base = upstreamTarget(upstream.url, upstream.health?.path ?? '');
    if (base === undefined) throw new TypeError('the path leads out of the upstream');
    const added = additions(project);
    const { origin, path } = withAddedQuery(base, added);
    const id = newId('req');
    const timestamp = String(Math.floor(now() / 1000));
    const call = { id, timestamp, method: 'GET', path, bodyDigest: NO_BODY_DIGEST };
    const headers = { ...added.headers, 'x-request-id': id, ...signatureHeaders(call, signingSecrets(project, now())) };
    const signal = AbortSignal.timeout(Math.min(upstream.timeoutMs, MAX_TIMEOUT_MS));
    const { statusCode, body } = await (await opened).request({ origin, path, method: 'GET', headers, signal });
    body.on('error', () => {}).destroy();
    return statusCode;
  }

  return {
    async look(project) {
      try {
        const status = await ask(project);
        return status < FIRST_FAILING ? { isWell: true, status } : { isWell: false, reason: 'status', status };
      } catch (error) {
        const isLate = Reflect.get(Object(error), 'name') === 'TimeoutError';
        return { isWell: false, reason: isLate ? 'timeout' : 'unreachable' };
      }
    },
    close: async () => (await opened).destroy(),
  };
}
