import { createFacilitator, type EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { callMemo } from '../../../src/gateway/calls/call.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { projectScope } from '../../../src/gateway/prices/project-scope.js';
import { createRouter } from '../../../src/http/create-router.js';
import { passTokensOf } from '../../../src/identity/default-pass-tokens.js';
import { newId } from '../../../src/lib/ids.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { SqlDatabase } from '../../../src/storage/sql/sql-database.js';
import { keyHeaders } from '../../helpers/fixtures/keys-fixture.js';
import { serveApp } from '../../helpers/http/app-server.js';
import type { ContestantParts } from '../contestant.js';

/** How the gateway is set up. */
export interface GatewaySellerSettings {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Base58. */
  readonly keypair: string;
  /** `sqlite:` and a path, or `postgres://…`. */
  readonly database: string;
  readonly upstream: string;
  /** Wallet that is paid, base58. */
  readonly owner: string;
  /** Wallet that calls, base58. */
  readonly caller: string;
  /** In whole USDC. */
  readonly price: string;
}

const SLUG = 'bench-api';
const PASS_SLUG = 'bench-passes';
/** More than a bench can send. */
const USES = 1_000_000_000n;
const NO_LIMIT = 1_000_000;

/**
 * A service that sells one API at `/v1/bench-api` by the call and at `/v1/bench-passes` by the pass, and counts how often it goes to its
 * database.
 */
export async function start(settings: GatewaySellerSettings): Promise<ContestantParts> {
  const { rpcUrl, wsUrl, keypair, owner, caller, price: amount, upstream } = settings;
  const storage = await openStorage(settings.database);
  const trips = countTrips(storage.database);
  const tokens = SANDBOX_TOKENS;
  const facilitator = createFacilitator({
    network: 'solana-devnet',
    rpcUrl,
    wsUrl,
    keypair,
    tokens,
    storage,
  });
  const allowPrivateNetworks = ['127.0.0.0/8'];
  const gateway = createGateway({ facilitator, storage, allowPrivateNetworks, limitScale: NO_LIMIT });
  gateway.start();
  const pricing = { amount, token: 'USDC' };
  await gateway.projects.create(owner, { slug: SLUG, name: 'An API', upstream: { url: upstream }, pricing });
  const pass = { amount, token: 'USDC', pass: { uses: Number(USES) } };
  const passes = { slug: PASS_SLUG, name: 'Passes of it', upstream: { url: upstream }, pricing: { offers: [pass] } };
  const passProject = await gateway.projects.create(owner, passes);
  const key = await gateway.keys.generate(caller, { name: 'bench' });
  const server = await serveApp((app) => {
    app.use(createRouter({ facilitator, gateway, counters: storage.counters, limits: false }));
  });
  return {
    ...server,
    asks: {
      key: () => keyHeaders(key),
      memo: () => callMemo({ slug: SLUG }, key.key.id),
      trips: () => trips.count,
      pass: () => openPass(facilitator, owner, caller, passProject.project.id),
    },
  };
}

/** The token of a pass of a project that its buyer has. */
async function openPass(facilitator: EmbeddedFacilitator, owner: string, wallet: string, projectId: string) {
  const bought = { kind: 'uses', bought: USES, left: USES } as const;
  const named = { wallet, site: `${owner} ${facilitator.network}`, scope: projectScope(projectId) };
  const pass = { id: newId('pas'), paymentId: newId('pay'), ...named, ...bought };
  const { id, serial } = await facilitator.passes.open(pass);
  return passTokensOf(facilitator).issue({ ...pass, passId: id, serial });
}

/** Counts from now on how often somebody goes to a database. */
function countTrips(database: SqlDatabase): { readonly count: number } {
  const trips = { count: 0 };
  const { query, queryApart, batch, batchIf } = database;
  const counted: Pick<SqlDatabase, 'query' | 'queryApart' | 'batch' | 'batchIf'> = {
    query(...step) {
      trips.count += 1;
      return query(...step);
    },
    queryApart(...step) {
      trips.count += 1;
      return queryApart(...step);
    },
    batch(steps) {
      trips.count += 1;
      return batch(steps);
    },
    batchIf(guard, steps, first) {
      trips.count += 1;
      return batchIf(guard, steps, first);
    },
  };
  Object.assign(database, counted);
  return trips;
}
