import type { GatewayStores } from '../storage/gateway-stores.js';
import type { Gateway } from './gateway.js';
import type { AddressGuard } from './network-guard/address-guard.js';
import { createUpstreamProxy } from './proxy/upstream-proxy.js';
import { createUpstreamWatch } from './upstream-health/upstream-watch.js';
import type { SecretBox } from './upstream-secrets/secret-box.js';
import { createUpstreams } from './upstream-secrets/upstreams.js';

/** What {@link createUpstreamSide} works with. */
export interface UpstreamSideParts {
  readonly stores: Pick<GatewayStores, 'projects' | 'projectSecrets' | 'upstreamHealth'>;
  readonly guard: AddressGuard;
  readonly secretBox: SecretBox;
  readonly onFault: (error: unknown) => void;
  readonly now: () => number;
}

/** Everything that speaks to upstreams. */
export interface UpstreamSide {
  readonly shown: Pick<Gateway, 'proxy' | 'upstreams' | 'upstreamHealth'>;
  start(): void;
  close(): Promise<void>;
}

/**
 * Makes the side of a gateway that speaks to upstreams.
 * @param changed - told of projects, by slug, that are sold no more, or again
 */
export function createUpstreamSide(parts: UpstreamSideParts, changed: (slug: string) => void): UpstreamSide {
  const { stores, guard, secretBox, onFault, now } = parts;
  const proxy = createUpstreamProxy({ guard, now });
  const upstreams = createUpstreams({ store: stores.projectSecrets, box: secretBox });
  const upstreamHealth = createUpstreamWatch({
    guard,
    onFault,
    now,
    store: stores.upstreamHealth,
    findProject: (id) => stores.projects.find(id),
    additions: upstreams.additions,
    changed,
  });
  return {
    shown: { proxy, upstreams, upstreamHealth },
    start() {
      upstreamHealth.start();
      upstreams.begin().catch(onFault);
    },
    close: async () => void (await Promise.all([proxy.close(), upstreamHealth.stop(), upstreams.ended()])),
  };
}
