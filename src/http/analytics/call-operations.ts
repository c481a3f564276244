import type { Request, Response } from 'express';
import type { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import type { Analytics } from '../../gateway/figures/analytics.js';
import { requireOrder } from '../../gateway/figures/time-steps.js';
import { type DescribeToken, labelsOf } from '../../gateway/token-label.js';
import { mountAddress } from '../../middleware/gate/request-url.js';
import type { ListedCall } from '../../storage/calls/call-store.js';
import type { CallsQuery } from '../../storage/calls/calls-query.js';
import { sendCsv, wantsCsv } from '../framework/csv.js';
import { type ListResponse, listResponse, readCursor } from '../framework/list-response.js';
import { defineOperation } from '../framework/operation.js';
import { fillPath, RECEIPT_PATH } from '../framework/path.js';
import { type FindSlug, slugsOf } from '../framework/project-label.js';
import { readRange } from '../framework/range-query.js';
import {
  CALL_LIST_PATHS,
  callResponse,
  callsCursor,
  callsResponse,
  ownCallResponse,
  ownCallsQuery,
  ownCallsResponse,
  projectCallsQuery,
} from './call-schemas.js';
import { type CallViewing, callsCsv, callView, ownCallView } from './call-views.js';
import { type OwnedProject, ownProject } from './own-project.js';

/** What {@link CALL_LIST_OPERATIONS} work with. */
export interface CallListParts extends OwnedProject {
  readonly analytics: Pick<Analytics, 'calls'>;
  readonly describeToken: DescribeToken;
  /** A project by its id, where it is not deleted. */
  readonly findProject: FindSlug;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
}

const FOR_TABLES = 'As `text/csv` it is one page as well; `Link` with `rel="next"` is where the next one is.';
const NOT_YOURS = 'A service key sees its own calls only.';

const listOwnCalls = defineOperation({
  method: 'get',
  path: CALL_LIST_PATHS.own,
  id: 'listOwnCalls',
  tag: 'Spending',
  summary: 'Your calls of whatever projects, newest first: those of your keys, and those that your wallet has paid',
  description: `A service key sees its own. ${FOR_TABLES}`,
  scope: 'spending:read',
  takesTurns: true,
  query: ownCallsQuery,
  responses: { 200: { description: 'One page of them.', schema: ownCallsResponse, mediaType: 'text/csv' } },
  errors: ['validation_failed', 'not_found'],
  async handler({ req, res, caller, query }, parts: CallListParts) {
    const { wallet, keyId = query.key } = caller;
    if (query.key !== undefined && query.key !== keyId) throw new TollhouseError('not_found', NOT_YOURS);
    const found = await parts.analytics.calls({
      ...conditionsOf(query),
      ...{ buyer: wallet, keyId, projectId: query.project },
    });
    const viewing = await viewingOf(found, req, parts);
    const slugs = await slugsOf(found, parts.findProject);
    const page = pageOf(found, query.limit, (call) =>
      ownCallView(call, viewing, { wallet, project: slugs.get(call.projectId) }),
    );
    return answerWith({ req, res, query }, page, ownCallResponse);
  },
});

const listCalls = defineOperation({
  method: 'get',
  path: CALL_LIST_PATHS.ofProject,
  id: 'listCalls',
  tag: 'Analytics',
  summary: 'Calls of a project that reached its upstream, newest first',
  description: FOR_TABLES,
  scope: 'analytics:read',
  takesTurns: true,
  query: projectCallsQuery,
  responses: { 200: { description: 'One page of them.', schema: callsResponse, mediaType: 'text/csv' } },
  errors: ['validation_failed', 'project_not_found'],
  async handler({ req, res, caller, params, query }, parts: CallListParts) {
    const projectId = await ownProject(parts, caller, params.project_id);
    const { key: keyId, payer } = query;
    const found = await parts.analytics.calls({ ...conditionsOf(query), projectId, keyId, payer });
    const viewing = await viewingOf(found, req, parts);
    const page = pageOf(found, query.limit, (call) => callView(call, viewing));
    return answerWith({ req, res, query }, page, callResponse);
  },
});

/** Calls, for those who made them and for those who were called. */
export const CALL_LIST_OPERATIONS = [listOwnCalls, listCalls];

type Conditions = Omit<z.output<typeof ownCallsQuery>, 'key' | 'project'>;

/** One call more than the page has, so that it is known whether there is another page. */
function conditionsOf({ status, route, limit, cursor, from, to }: Conditions): CallsQuery {
  const place = readCursor(cursor, callsCursor);
  const before = place && { at: place[0], seq: BigInt(place[1]) };
  const range = readRange({ from, to });
  if (range.from !== undefined && range.to !== undefined) requireOrder(range.from, range.to);
  return { ...endOf(status), route, before, limit: limit + 1, ...range };
}

/** How a call ended, or the statuses that `404` or `4xx` names. */
function endOf(status: string | undefined): Pick<CallsQuery, 'outcome' | 'status'> {
  if (status === undefined) return {};
  if (status === 'succeeded' || status === 'failed') return { outcome: status };
  const from = Number(status.replace('xx', '00'));
  return { status: { from, below: from + (status.endsWith('xx') ? 100 : 1) } };
}

function pageOf<V>(found: readonly ListedCall[], limit: number, show: (call: ListedCall) => V): ListResponse<V> {
  return listResponse(found, limit, ({ at, seq }) => [at, String(seq)], show);
}

async function viewingOf(
  found: readonly ListedCall[],
  req: Request,
  { describeToken, baseUrl }: CallListParts,
): Promise<CallViewing> {
  const mints = found.flatMap(({ charge, credit }) => [charge?.mint ?? [], credit?.charge.mint ?? []].flat());
  const tokens = await labelsOf(mints, describeToken);
  const origin = mountAddress(req, baseUrl);
  return { tokens, receiptUrl: (id) => `${origin}${fillPath(RECEIPT_PATH, { id })}` };
}

interface Asked {
  readonly req: Request;
  readonly res: Response;
  readonly query: Pick<Conditions, 'format'>;
}

/** The page as JSON, or undefined where it was sent as a table. */
function answerWith<V extends object>({ req, res, query }: Asked, page: ListResponse<V>, schema: z.ZodObject) {
  if (!wantsCsv(req, res, query.format)) return page;
  if (page.next_cursor !== null) {
    const next = new URLSearchParams(req.originalUrl.split('?')[1]);
    next.set('cursor', page.next_cursor);
    next.set('format', 'csv');
    res.setHeader('Link', `<?${next}>; rel="next"`);
  }
  sendCsv(res, 'calls', callsCsv(page.data, Object.keys(schema.shape)));
  return undefined;
}
