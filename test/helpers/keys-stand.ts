import type express5 from 'express';
import type { Express } from 'express';
import { createApiCaller } from '../../src/http/framework/api-caller.js';
import { createRoutes } from '../../src/http/framework/routes.js';
import { KEYS_OPERATIONS } from '../../src/http/keys/operations.js';
import type { WantedServiceKey } from '../../src/identity/service-keys/new-service-key.js';
import type { RevealedKey } from '../../src/identity/service-keys/service-keys.js';
import {
  createServiceKeys,
  type ServiceKeys,
  type ServiceKeysSetup,
} from '../../src/identity/service-keys/service-keys.js';
import { KNOWN_TOKENS } from '../../src/protocol/networks/tokens.js';
import { createMemoryCounters } from '../../src/storage/counters/memory-counters.js';
import { createSqlServiceKeys } from '../../src/storage/keys/sql-service-keys.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { openSqlite } from '../../src/storage/sql/sqlite/sqlite-database.js';
import { type AppServer, serveApp } from './app-server.js';
import { type IdentityStand, openIdentity } from './identity-stand.js';
import { accessTokenFor, type ProofHeaders } from './sign-in.js';
import type { WalletKey } from './wallet-key.js';

/** Service keys on a SQLite file, and servers with their routes; the test moves the clock. */
export interface KeysStand {
  readonly stand: IdentityStand;
  readonly database: SqlDatabase;
  readonly keys: ServiceKeys;
  /** Another process on the same database and counters. */
  another(more?: Partial<ServiceKeysSetup>): ServiceKeys;
  /** Makes a key. */
  make(owner: string, wanted?: Partial<WantedServiceKey>): Promise<RevealedKey>;
  /** An access token of a wallet. */
  token(wallet: WalletKey): Promise<ProofHeaders>;
  /** Serves the routes of some keys, and more; `X-Forwarded-For` is the client's address. */
  serve(express: typeof express5, configure?: (app: Express) => void, keys?: ServiceKeys): Promise<string>;
  close(): Promise<void>;
}

/** Opens service keys on a new file. */
export async function openKeysStand(path: string, more: Partial<ServiceKeysSetup> = {}): Promise<KeysStand> {
  const database = await openSqlite(path);
  const stand = openIdentity();
  const { identity, now } = stand;
  const counters = createMemoryCounters({ now });
  const servers: AppServer[] = [];
  const tokens = KNOWN_TOKENS['solana-devnet'];
  const another = (others: Partial<ServiceKeysSetup> = {}) =>
    createServiceKeys({
      store: createSqlServiceKeys(database),
      counters,
      tokens,
      mode: 'test',
      now,
      ...more,
      ...others,
    });
  const keys = another();

  async function serve(express: typeof express5, configure: (app: Express) => void = () => {}, served = keys) {
    const callerFor = createApiCaller({ identity, keys: served });
    const server = await serveApp((app) => {
      app.set('trust proxy', 1);
      app.use(createRoutes(KEYS_OPERATIONS, { keys: served, now }, callerFor).router);
      configure(app);
    }, express);
    servers.push(server);
    return server.url;
  }

  return {
    stand,
    database,
    keys,
    another,
    serve,
    make: (owner, wanted = {}) => keys.generate(owner, { name: 'a key', ...wanted }),
    token: (wallet) => accessTokenFor(wallet, identity, 'http://localhost/'),
    async close() {
      await Promise.all(servers.map((it) => it.close()));
      await database.close();
    },
  };
}

/** The headers that show a key. */
export function keyHeaders({ key, secret }: RevealedKey): ProofHeaders {
  return { 'x-service-key': key.publicKey, 'x-service-secret': secret };
}
