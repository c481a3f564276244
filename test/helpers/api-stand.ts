import type { RequestHandler } from 'express';
import express5 from 'express';
import type { ApiCallerParts } from '../../src/http/framework/api-caller.js';
import { createApiCaller } from '../../src/http/framework/api-caller.js';
import type { Scope } from '../../src/identity/service-keys/scopes.js';
import type { KeyAuthenticator, ServiceKey } from '../../src/identity/service-keys/service-key-types.js';
import { type AppServer, serveApp } from './app-server.js';
import { openIdentity } from './identity-stand.js';
import { accessTokenFor, type ProofHeaders } from './sign-in.js';
import { type WalletKey, walletKey } from './wallet-key.js';

/** A response as it came, its body read as JSON. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** Wallets and service keys that call `/api/v1`, and routers that they call. */
export function openApiStand() {
  const { identity, advance } = openIdentity();
  const issued = new Map<string, ServiceKey>();
  const keys: KeyAuthenticator = {
    async authenticate({ key }) {
      const found = issued.get(key);
      return found === undefined
        ? { ok: false, code: 'service_key_revoked', detail: 'The service key was revoked.' }
        : { ok: true, key: found, rate: undefined };
    },
  };
  const callers: ApiCallerParts = { identity, keys };
  const servers: AppServer[] = [];

  return {
    identity,
    callers,
    callerFor: createApiCaller(callers) as (scope: Scope) => RequestHandler,
    advance,
    tokenOf: (wallet: WalletKey): Promise<ProofHeaders> => accessTokenFor(wallet, identity, 'http://127.0.0.1/'),
    /** Headers of a key of Alice's. */
    keyWith(scopes: readonly Scope[], projectId?: string): ProofHeaders {
      const publicKey = `toll_pk_${issued.size}`;
      issued.set(publicKey, {
        id: `key_${issued.size}`,
        publicKey,
        owner: walletKey('alice').address,
        name: 'a key',
        scopes,
        mode: 'test',
        allowedIps: [],
        metadata: {},
        createdAt: 0,
        ...(projectId === undefined ? {} : { projectId }),
      });
      return { 'x-service-key': publicKey, 'x-service-secret': 'secret' };
    },
    revoke: (headers: ProofHeaders) => void issued.delete(String(headers['x-service-key'])),
    async serve(router: RequestHandler, express = express5): Promise<string> {
      const server = await serveApp((app) => app.use(router), express);
      servers.push(server);
      return server.url;
    },
    close: () => Promise.all(servers.map((it) => it.close())),
  };
}

/** Calls an address; a body goes as JSON. */
export async function call(
  method: string,
  url: string,
  headers: ProofHeaders = {},
  body?: unknown,
): Promise<ApiResponse> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(url, { method, headers: { ...headers, ...type }, ...sent });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
}
