import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import type { WantedServiceKey } from '../../identity/service-keys/new-service-key.js';
import type { Scope } from '../../identity/service-keys/scopes.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import type { ServiceKeys } from '../../identity/service-keys/service-keys.js';
import type { KeyPage } from '../../storage/keys/service-keys.js';
import { callerOf } from '../framework/api-caller.js';
import { handled } from '../framework/handled.js';
import { jsonBody } from '../framework/json-body.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { noStore } from '../framework/no-store.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { generateBody, keysCursor, keysQuery } from './keys-bodies.js';
import { showKey, showRevealedKey } from './keys-views.js';

/** Options of {@link createKeysRouter}. */
export interface KeysRouterOptions {
  readonly keys: ServiceKeys;
  /** Checks who is calling; made by `createApiCaller`. */
  readonly callerFor: (scope: Scope) => RequestHandler;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

const PREFIX = '/api/v1/keys';
const BODY_LIMIT = '100kb';

/** Service keys of the caller (service.md §3): generate, list, get, rotate, revoke. */
export function createKeysRouter({ keys, callerFor, now = Date.now }: KeysRouterOptions): Router {
  const router = Router();
  const guarded = (scope: Scope, handle: (req: Request, res: Response) => Promise<void>) => [
    noStore,
    callerFor(scope),
    handled(handle),
  ];

  const generate = guarded('keys:write', async (req, res) => {
    const { wallet, keyId } = callerOf(req);
    if (keyId !== undefined) throw new TollhouseError('insufficient_scope', NO_KEYS_BY_KEYS);
    const made = await keys.generate(wallet, wantedKey(readBody(generateBody, req.body)));
    res.status(201).location(`${req.baseUrl}${PREFIX}/${made.key.id}`).json(showRevealedKey(made, now()));
  });
  const list = guarded('keys:read', async (req, res) => {
    const page = readPage(req);
    const found = await keys.list(callerOf(req), { ...page, limit: page.limit + 1 });
    const show = (key: ServiceKey) => showKey(key, now());
    res.json(listResponse(found, page.limit, ({ createdAt, id }) => [createdAt, id], show));
  });
  const get = guarded('keys:read', async (req, res) => {
    res.json(showKey(await keys.get(callerOf(req), idOf(req)), now()));
  });
  const rotate = guarded('keys:write', async (req, res) => {
    const caller = callerOf(req);
    if (caller.keyId !== undefined && caller.keyId !== idOf(req)) {
      throw new TollhouseError('insufficient_scope', ROTATES_ITSELF);
    }
    res.json(showRevealedKey(await keys.rotate(caller, idOf(req)), now()));
  });
  const revoke = guarded('keys:write', async (req, res) => {
    await keys.revoke(callerOf(req), idOf(req));
    res.status(204).end();
  });

  router
    .route(`${PREFIX}/generate`)
    .post(...jsonBody(BODY_LIMIT), ...generate)
    .all(refuseOtherMethods('POST'));
  router.route(PREFIX).get(list).all(refuseOtherMethods('GET', 'HEAD'));
  router.route(`${PREFIX}/:id/rotate`).post(rotate).all(refuseOtherMethods('POST'));
  router
    .route(`${PREFIX}/:id`)
    .get(get)
    .delete(revoke)
    .all(refuseOtherMethods('GET', 'HEAD', 'DELETE'));
  router.use(problemHandler);
  return router;
}

const NO_KEYS_BY_KEYS = 'A service key makes no keys; sign in with the wallet and send its access token.';
const ROTATES_ITSELF =
  'A service key may give itself another secret, no other key; sign in with the wallet and send its access token.';

function idOf(req: Request): string {
  return String(req.params['id']);
}

function readPage(req: Request): KeyPage {
  const { limit, cursor } = readBody(keysQuery, req.query);
  const [createdAt, id] = readCursor(cursor, keysCursor) ?? [];
  return createdAt === undefined || id === undefined ? { limit } : { limit, after: { createdAt, id } };
}

/** What was asked for, by the names that it has inside. */
function wantedKey(body: z.output<typeof generateBody>): WantedServiceKey {
  const { name, scopes, mode, spending, metadata, expires_at: expiresAt } = body;
  return {
    name,
    scopes,
    mode,
    spending,
    metadata,
    projectId: body.project_id,
    expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
    allowedIps: body.allowed_ips,
    perSecond: body.limits?.per_second,
  };
}
