import { type Request, type RequestHandler, Router } from 'express';
import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import type { Payouts } from '../../gateway/payouts/payouts.js';
import type { Scope } from '../../identity/service-keys/scopes.js';
import type { NetworkId } from '../../protocol/types.js';
import type { PayoutPosition, PayoutRecord } from '../../storage/payouts/payout-store.js';
import { callerOf } from '../framework/api-caller.js';
import { explorerOf } from '../framework/explorer.js';
import { handled } from '../framework/handled.js';
import { listResponse, pageQuery, readCursor } from '../framework/list-response.js';
import { noStore } from '../framework/no-store.js';
import { problemHandler } from '../framework/problem-handler.js';
import { readBody } from '../framework/read-body.js';
import { refuseOtherMethods } from '../framework/refuse-other-methods.js';
import { owedView, payoutView } from './payout-views.js';

/** Options of {@link createPayoutsRouter}. */
export interface PayoutsRouterOptions {
  readonly payouts: Payouts;
  /** Rejects with `project_not_found` unless a wallet owns a project. */
  readonly ownedProject: (id: string, wallet: string) => Promise<unknown>;
  /** Checks who is calling; made by `createApiCaller`. */
  readonly callerFor: (scope: Scope) => RequestHandler;
  /** On which network it is paid; for links. */
  readonly facilitator: { readonly network: NetworkId };
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** Address of a block explorer, without `/tx/…`. Default: one that knows the network. */
  readonly explorerUrl?: string | undefined;
}

/** Query of `GET /api/v1/projects/:project_id/payouts`. */
export const payoutsQuery = z.object(pageQuery);

const PATH = '/api/v1/projects/:project_id/payouts';
const position = z.tuple([z.int(), z.string()]);

/** Payouts of projects, and what they owe (service.md §5): for their owners, and service keys with the scope. */
export function createPayoutsRouter(options: PayoutsRouterOptions): Router {
  const { payouts, ownedProject, callerFor } = options;
  const router = Router();

  /** The payouts as they are shown, each with its token. */
  function viewsOf(records: readonly PayoutRecord[], req: Request) {
    const explorer = explorerOf(options, req);
    return Promise.all(records.map(async (it) => payoutView(it, await payouts.token(it.mint), explorer)));
  }

  async function owedBy(projectId: string) {
    const owed = await payouts.owed(projectId);
    return Promise.all(owed.map(async (it) => owedView(it, await payouts.token(it.mint))));
  }

  /** The project that a request is about, if it is the caller's. */
  async function projectOf(req: Request): Promise<string> {
    const { wallet, projectId } = callerOf(req);
    const id = String(req.params['project_id']);
    if (projectId !== undefined && projectId !== id) {
      throw new TollhouseError('project_not_found', 'The service key is for another project.');
    }
    // What a deleted project owes is still owed.
    if (!(await payouts.isOwner(id, wallet))) await ownedProject(id, wallet);
    return id;
  }

  const list = handled(async (req, res) => {
    const { limit, cursor } = readBody(payoutsQuery, req.query);
    const found = await payouts.list(await projectOf(req), limit + 1, positionOf(cursor));
    const page = listResponse(
      found,
      limit,
      ({ createdAt, id }) => [createdAt, id],
      (it) => it,
    );
    res.json({ ...page, data: await viewsOf(page.data, req) });
  });
  const owed = handled(async (req, res) => {
    res.json({ data: await owedBy(await projectOf(req)) });
  });
  const request = handled(async (req, res) => {
    const id = await projectOf(req);
    const made = await viewsOf(await payouts.request(id), req);
    res.status(made.length === 0 ? 200 : 202).json({ payouts: made, owed: await owedBy(id) });
  });

  router
    .route(PATH)
    .get(noStore, callerFor('payouts:read'), list)
    .post(noStore, callerFor('payouts:write'), request)
    .all(refuseOtherMethods('GET', 'HEAD', 'POST'));
  router.route(`${PATH}/owed`).get(noStore, callerFor('payouts:read'), owed).all(refuseOtherMethods('GET', 'HEAD'));
  router.use(problemHandler);
  return router;
}

function positionOf(cursor: string | undefined): PayoutPosition | undefined {
  const [createdAt, id] = readCursor(cursor, position) ?? [];
  return createdAt === undefined || id === undefined ? undefined : { createdAt, id };
}
