import express from 'express';
import { TollhouseError } from '../../src/errors/errors.js';
import { createAnalytics } from '../../src/gateway/figures/analytics.js';
import { createSpendingReports } from '../../src/gateway/figures/spending-report.js';
import type { TokenLabel } from '../../src/gateway/token-label.js';
import { ANALYTICS_OPERATIONS } from '../../src/http/analytics/operations.js';
import { createApiCaller } from '../../src/http/framework/api-caller.js';
import { createRoutes } from '../../src/http/framework/routes.js';
import { openApiDocument } from '../../src/http/openapi/openapi.js';
import { SPENDING_OPERATIONS } from '../../src/http/spending/operations.js';
import { KNOWN_TOKENS } from '../../src/protocol/networks/tokens.js';
import { createSqlCallStore } from '../../src/storage/calls/sql-call-store.js';
import { createConformance, type OpenApi } from './documented.js';
import { openKeysStand } from './keys-stand.js';
import type { ProofHeaders } from './sign-in.js';

/** A mint that calls itself USDC as well. */
export const TWIN_MINT = 'Twin1nLhGmYDRZ8jKqHkVJ3vCkVhyuw4ZNcdPCsh2aPx';

const KNOWN = KNOWN_TOKENS['solana-devnet'];
const TOKENS = [...KNOWN, { symbol: 'USDC', mint: TWIN_MINT, decimals: 6 }];

const faultsOf = createConformance(
  openApiDocument('test', '0', [...ANALYTICS_OPERATIONS, ...SPENDING_OPERATIONS]) as object as OpenApi,
);

/** Mint of a token by its symbol. */
export function mintOf(symbol: string): string {
  return KNOWN.find((it) => it.symbol === symbol)!.mint;
}

/** A mint that nobody knows. */
export const UNKNOWN_MINT = 'So1nLhGmYDRZ8jKqHkVJ3vCkVhyuw4ZNcdPCsh2aPxz';

async function describeToken(mint: string): Promise<TokenLabel> {
  return TOKENS.find((it) => it.mint === mint) ?? { symbol: mint, decimals: 0 };
}

/** A book of calls with its figures over HTTP, and keys that spend. */
export async function openMoneyStand(owners: Readonly<Record<string, string>>) {
  const stand = await openKeysStand(':memory:', { projectOwner: async (id) => owners[id] });
  const { now, identity } = stand.stand;
  const book = createSqlCallStore(stand.database, now);
  const callerFor = createApiCaller({ identity, keys: stand.keys });
  const url = await stand.serve(express, (app) => {
    const analytics = createAnalytics({ book, describeToken, now });
    const ownedProject = async (id: string, wallet: string) => {
      if (owners[id] !== wallet) throw new TollhouseError('project_not_found', 'You have no project with this id.');
    };
    app.use(createRoutes(ANALYTICS_OPERATIONS, { analytics, ownedProject, describeToken, now }, callerFor).router);
    const report = createSpendingReports({ book, keys: stand.keys, describeToken, now });
    app.use(createRoutes(SPENDING_OPERATIONS, { report, now }, callerFor).router);
  });

  /** Asks; the response must be as documented. */
  async function ask(address: string, headers: ProofHeaders = {}) {
    const answer = await fetch(`${url}${address}`, { headers: { ...headers } });
    const { status } = answer;
    const text = await answer.text();
    expect(faultsOf('GET', address, { status, headers: answer.headers, text })).toEqual([]);
    return { status, headers: answer.headers, text, body: /^\{/.test(text) ? JSON.parse(text) : {} };
  }

  return { ...stand, book, ask, url };
}
