import type { Express } from 'express';
import express5 from 'express';
import { createAddressGuard } from '../../src/gateway/network-guard/address-guard.js';
import { createMarketplace, type MarketplaceParts } from '../../src/gateway/projects/marketplace.js';
import { createProjects, type Projects } from '../../src/gateway/projects/projects.js';
import { createApiCaller } from '../../src/http/framework/api-caller.js';
import { createRoutes } from '../../src/http/framework/routes.js';
import { openApiDocument } from '../../src/http/openapi/openapi.js';
import { MARKETPLACE_OPERATIONS } from '../../src/http/projects/marketplace.js';
import { PROJECTS_OPERATIONS } from '../../src/http/projects/operations.js';
import { KNOWN_TOKENS } from '../../src/protocol/networks/tokens.js';
import { isOnCurve } from '../../src/solana/transaction/on-curve.js';
import { createSqlProjects } from '../../src/storage/projects/sql-projects.js';
import type { SqlDatabase } from '../../src/storage/sql/sql-database.js';
import { createConformance, type OpenApi } from './documented.js';
import { type KeysStand, openKeysStand } from './keys-stand.js';
import type { ProofHeaders } from './sign-in.js';
import { walletKey } from './wallet-key.js';

/** A response, read. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Projects, their keys and the marketplace on a server, and a clock that the test moves. */
export interface ProjectsStand {
  readonly keys: KeysStand;
  readonly database: SqlDatabase;
  readonly projects: Projects;
  readonly url: string;
  /** Those of another process on the same database. */
  another(): Projects;
  /** Asks; the response must be as the OpenAPI document says. */
  ask(method: string, path: string, headers?: ProofHeaders, body?: unknown): Promise<ReadResponse>;
  close(): Promise<void>;
}

/** What the stand does other than usual. */
export interface ProjectsStandOptions {
  readonly express?: typeof express5;
  readonly figures?: MarketplaceParts['figures'];
  readonly configure?: (app: Express, projects: Projects) => void;
}

export const FEE_PAYER = walletKey('fee payer').address;
/** Addresses of hosts; others have none. */
const HOSTS: Readonly<Record<string, string>> = {
  'weather.example': '93.184.216.34',
  'news.example': '93.184.216.35',
  'inside.example': '10.0.0.7',
};
const TOKENS = KNOWN_TOKENS['solana-devnet'];
const OPERATIONS = [...PROJECTS_OPERATIONS, ...MARKETPLACE_OPERATIONS];
const faultsOf = createConformance(openApiDocument('test', '1', OPERATIONS) as object as OpenApi);

/** Opens projects on a database in memory. */
export async function openProjectsStand(options: ProjectsStandOptions = {}): Promise<ProjectsStand> {
  const { express = express5, figures = async () => new Map(), configure } = options;
  const keys = await openKeysStand(':memory:', { projectOwner: async (id) => (await store().find(id))?.owner });
  const { database, stand } = keys;
  const store = () => createSqlProjects(database);
  const another = () =>
    createProjects({
      store: store(),
      addressGuard: createAddressGuard({ lookup: async (host) => [HOSTS[host] ?? []].flat() }),
      findToken: async (text) => TOKENS.find(({ symbol, mint }) => mint === text || symbol === text.toUpperCase()),
      tokenFault: async () => 'is no token that can be paid in here',
      isWallet: isOnCurve,
      feePayers: async () => [FEE_PAYER],
      network: 'solana-devnet',
      now: stand.now,
    });
  const projects = another();
  const callerFor = createApiCaller({ identity: stand.identity, keys: keys.keys });
  const url = await keys.serve(express, (app) => {
    const marketplace = createMarketplace({ store: store(), projects, figures, now: stand.now });
    app.use(createRoutes(PROJECTS_OPERATIONS, { projects }, callerFor).router);
    app.use(createRoutes(MARKETPLACE_OPERATIONS, { marketplace }).router);
    configure?.(app, projects);
  });

  async function ask(method: string, path: string, headers: ProofHeaders = {}, body?: unknown): Promise<ReadResponse> {
    const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/v1${path}`, { method, headers: { ...type, ...headers }, ...content });
    const [{ status }, text] = [answer, await answer.text()];
    if (status !== 405)
      expect(faultsOf(method, `/api/v1${path}`, { status, headers: answer.headers, text })).toEqual([]);
    return { status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
  }

  return { keys, database, projects, url, another, ask, close: () => keys.close() };
}

/** Status and code of a response. */
export function outcomeOf({ status, body }: ReadResponse): readonly unknown[] {
  return [status, body['code']];
}
