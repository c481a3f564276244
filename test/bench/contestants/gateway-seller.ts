import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { callMemo } from '../../../src/gateway/calls/call.js';
import { createGateway } from '../../../src/gateway/create-gateway.js';
import { createRouter } from '../../../src/http/create-router.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { createMemoryCounters } from '../../../src/storage/counters/memory-counters.js';
import { createSqlCounters } from '../../../src/storage/counters/sql-counters.js';
import { createGatewayStores } from '../../../src/storage/gateway-stores.js';
import { createSqlIdempotencyStore } from '../../../src/storage/idempotency/sql-idempotency-store.js';
import { createSqlLedger } from '../../../src/storage/ledger/sql-ledger.js';
import { openPostgres } from '../../../src/storage/sql/postgres-database.js';
import type { SqlDatabase } from '../../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../../src/storage/sql/sqlite/sqlite-database.js';
import { keyHeaders } from '../../helpers/fixtures/keys-fixture.js';
import { serveApp } from '../../helpers/http/app-server.js';
import type { ContestantParts } from '../contestant.js';

/** How the gateway is set up. */
export interface GatewaySellerSettings {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Base58. */
  readonly keypair: string;
  /** Path of a SQLite file, or `postgres://…`. */
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
const NO_LIMIT = 1_000_000;

/** A service that sells one API at `/v1/bench-api`, and counts how often it goes to its database. */
export async function start(settings: GatewaySellerSettings): Promise<ContestantParts> {
  const { rpcUrl, wsUrl, keypair, owner, caller, price: amount, upstream } = settings;
  const trips = { count: 0 };
  const { ledger, idempotency, ...storage } = await openStores(settings.database, trips);
  const tokens = SANDBOX_TOKENS;
  const facilitator = createFacilitator({
    network: 'solana-devnet',
    rpcUrl,
    wsUrl,
    keypair,
    tokens,
    ledger,
    idempotency,
  });
  const allowPrivateNetworks = ['127.0.0.0/8'];
  const gateway = createGateway({ facilitator, storage, allowPrivateNetworks, limitScale: NO_LIMIT });
  gateway.start();
  const pricing = { amount, token: 'USDC' };
  await gateway.projects.create(owner, { slug: SLUG, name: 'An API', upstream: { url: upstream }, pricing });
  const key = await gateway.keys.generate(caller, { name: 'bench' });
  const server = await serveApp((app) => {
    app.use(createRouter({ facilitator, gateway, counters: storage.counters, limits: false }));
  });
  return {
    ...server,
    asks: { key: () => keyHeaders(key), memo: () => callMemo({ slug: SLUG }, key.key.id), trips: () => trips.count },
  };
}

/** The stores of `openStorage`, on a database that is counted. */
async function openStores(location: string, trips: { count: number }) {
  const isPostgres = location.startsWith('postgres:');
  const database = counting(isPostgres ? await openPostgres(location) : await openSqlite(location), trips);
  const marks = createSqlCounters(database);
  const { increment, decrement, reset } = isPostgres ? marks : createMemoryCounters();
  return {
    ledger: createSqlLedger(database),
    idempotency: createSqlIdempotencyStore(database),
    counters: { ...marks, increment, decrement, reset },
    gateway: createGatewayStores(database, Date.now),
  };
}

function counting(database: SqlDatabase, trips: { count: number }): SqlDatabase {
  return {
    dialect: database.dialect,
    presence: database.presence,
    query(...step) {
      trips.count += 1;
      return database.query(...step);
    },
    batch(steps) {
      trips.count += 1;
      return database.batch(steps);
    },
    batchIf(guard, steps, first) {
      trips.count += 1;
      return database.batchIf(guard, steps, first);
    },
    close: () => database.close(),
  };
}
