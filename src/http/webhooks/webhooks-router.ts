import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { z } from 'zod';
import type { WebhookChange, Webhooks } from '../../gateway/webhooks/webhooks.js';
import type { Scope } from '../../identity/service-keys/scopes.js';
import { callerOf } from '../framework/api-caller.js';
import { handled } from '../framework/handled.js';
import { jsonBody } from '../framework/json-body.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { noStore } from '../framework/no-store.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import {
  createdCursor,
  deliveriesQuery,
  recoverBody,
  testBody,
  webhookBody,
  webhookPatch,
  webhooksQuery,
} from './webhooks-bodies.js';
import { showDelivery, showLoggedDelivery, showRevealedWebhook, showWebhook } from './webhooks-views.js';

/** Options of {@link createWebhooksRouter}. */
export interface WebhooksRouterOptions {
  readonly webhooks: Webhooks;
  /** Checks who is calling; made by `createApiCaller`. */
  readonly callerFor: (scope: Scope) => RequestHandler;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: () => number;
}

const PATH = '/api/v1/webhooks';
const BODY_LIMIT = '100kb';

/**
 * `/api/v1/webhooks` (service.md §6): a wallet's webhooks and their deliveries, by its access token or a service key. Those of
 * others, and with a key that is restricted to one project those of others and of none, are not there.
 */
export function createWebhooksRouter(options: WebhooksRouterOptions): Router {
  const { webhooks, callerFor } = options;
  const router = Router();
  const [read, write, json] = [callerFor('webhooks:read'), callerFor('webhooks:write'), jsonBody(BODY_LIMIT)];
  const own = ownHandlers(options);

  router
    .route(PATH)
    .all(noStore)
    .get(read, own.list)
    .post(...json, write, own.create)
    .all(refuseOtherMethods('GET', 'HEAD', 'POST'));
  router
    .route(`${PATH}/:id`)
    .all(noStore)
    .get(read, own.get)
    .patch(...json, write, own.change)
    .delete(write, own.remove)
    .all(refuseOtherMethods('GET', 'HEAD', 'PATCH', 'DELETE'));
  const post = (name: string, ...handlers: RequestHandler[]) =>
    router
      .route(`${PATH}/:id/${name}`)
      .post(noStore, ...handlers)
      .all(refuseOtherMethods('POST'));
  const get = (name: string, handle: (req: Request, res: Response) => Promise<void>) =>
    router.route(`${PATH}/:id/${name}`).get(noStore, read, handled(handle)).all(refuseOtherMethods('GET', 'HEAD'));

  post('rotate', write, own.rotate);
  post('test', ...json, write, own.test);
  post('recover', ...json, write, own.recover);
  post('deliveries/:delivery/retry', write, own.retry);
  get('deliveries', async (req, res) => void res.json(await listDeliveries(webhooks, req)));
  get('deliveries/:delivery', async (req, res) => {
    res.json(showLoggedDelivery(await webhooks.delivery(callerOf(req), idOf(req), deliveryOf(req))));
  });
  router.use(problemHandler);
  return router;
}

function ownHandlers({ webhooks, now = Date.now }: WebhooksRouterOptions) {
  return {
    list: handled(async (req, res) => {
      const { limit, cursor } = readBody(webhooksQuery, req.query);
      const found = await webhooks.list(callerOf(req), pageFrom(limit, cursor));
      res.json(listResponse(found, limit, createdKey, (it) => showWebhook(it, now())));
    }),
    create: handled(async (req, res) => {
      const { project_id: projectId, ...draft } = readBody(webhookBody, req.body);
      const made = await webhooks.create(callerOf(req), { ...draft, projectId });
      res.status(201).location(`${req.baseUrl}${PATH}/${made.id}`).json(showRevealedWebhook(made, now()));
    }),
    get: handled(async (req, res) => void res.json(showWebhook(await webhooks.get(callerOf(req), idOf(req)), now()))),
    change: handled(async (req, res) => {
      const change = changeFrom(readBody(webhookPatch, req.body));
      res.json(showWebhook(await webhooks.change(callerOf(req), idOf(req), change), now()));
    }),
    remove: handled(async (req, res) => {
      await webhooks.remove(callerOf(req), idOf(req));
      res.status(204).end();
    }),
    rotate: handled(async (req, res) => {
      res.json(showRevealedWebhook(await webhooks.rotate(callerOf(req), idOf(req)), now()));
    }),
    test: handled(async (req, res) => {
      const { type } = readBody(testBody, req.body ?? {});
      res.status(202).json(showDelivery(await webhooks.test(callerOf(req), idOf(req), type)));
    }),
    recover: handled(async (req, res) => {
      const since = Date.parse(readBody(recoverBody, req.body).since);
      res.status(202).json({ recovered: await webhooks.recover(callerOf(req), idOf(req), since) });
    }),
    retry: handled(async (req, res) => {
      res.status(202).json(showDelivery(await webhooks.retry(callerOf(req), idOf(req), deliveryOf(req))));
    }),
  };
}

async function listDeliveries(webhooks: Webhooks, req: Request) {
  const { limit, cursor, status } = readBody(deliveriesQuery, req.query);
  const state = status === undefined ? {} : { state: status };
  const found = await webhooks.deliveries(callerOf(req), idOf(req), { ...pageFrom(limit, cursor), ...state });
  return listResponse(found, limit, createdKey, showDelivery);
}

function createdKey({ createdAt, id }: { readonly createdAt: number; readonly id: string }) {
  return [createdAt, id] as const;
}

/** One more than is answered says whether there is a next page. */
function pageFrom(limit: number, cursor: string | undefined) {
  const [createdAt, id] = readCursor(cursor, createdCursor) ?? [];
  const after = createdAt === undefined || id === undefined ? {} : { after: { createdAt, id } };
  return { limit: limit + 1, ...after };
}

/** What is named changes. */
function changeFrom({ url, events, description, enabled }: z.output<typeof webhookPatch>): WebhookChange {
  return {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events }),
    ...(description === undefined ? {} : { description }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}

function idOf(req: Request): string {
  return String(req.params['id']);
}

function deliveryOf(req: Request): string {
  return String(req.params['delivery']);
}
