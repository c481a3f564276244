import type { Request } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type { Payouts } from '../../gateway/payouts/payouts.js';
import { type AuditEntry, actorOf, newAuditEntry } from '../../storage/audit/audit-log.js';
import type { PayoutPosition, PayoutRecord } from '../../storage/payouts/payout-store.js';
import type { ApiCaller } from '../framework/api-caller.js';
import { explorerOf } from '../framework/explorer.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { defineOperation } from '../framework/operation.js';
import {
  owedResponse,
  PAYOUTS_PATHS,
  payoutRequestResponse,
  payoutResolutionResponse,
  payoutResponse,
  payoutsCursor,
  payoutsQuery,
  payoutsResponse,
} from './schemas.js';
import { owedView, payoutView } from './views.js';

/** What {@link PAYOUTS_OPERATIONS} work with. */
export interface PayoutsOperationsParts {
  readonly payouts: Payouts;
  /** Writes into the audit log. */
  readonly note: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Rejects with `project_not_found` unless a wallet owns a project. */
  readonly ownedProject: (id: string, wallet: string) => Promise<unknown>;
  /** Address under which clients reach this server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** Address of a block explorer, without `/tx/…`. Default: one that knows the network. */
  readonly explorerUrl?: string | undefined;
}

const TAG = 'Payouts';
const ERRORS = ['project_not_found', 'chain_unavailable'] as const;

const listPayouts = defineOperation({
  method: 'get',
  path: PAYOUTS_PATHS.all,
  id: 'listPayouts',
  tag: TAG,
  summary: 'Payouts of a project, newest first',
  scope: 'payouts:read',
  query: payoutsQuery,
  responses: { 200: { description: 'One page of them.', schema: payoutsResponse } },
  errors: [...ERRORS, 'validation_failed'],
  async handler({ req, caller, params, query: { limit, cursor } }, parts: PayoutsOperationsParts) {
    const id = await ownProject(parts, caller, params.project_id);
    const found = await parts.payouts.list(id, limit + 1, positionOf(cursor));
    const page = listResponse(
      found,
      limit,
      (it) => [it.createdAt, it.id],
      (it) => it,
    );
    return { ...page, data: await viewsOf(parts, page.data, req) };
  },
});

const listOwed = defineOperation({
  method: 'get',
  path: PAYOUTS_PATHS.owed,
  id: 'listOwed',
  tag: TAG,
  summary: 'What a project owes, by recipient and token',
  description:
    'Only what came in a payment with one transfer is owed; a payment of `/create-payment` goes to every recipient at once.',
  scope: 'payouts:read',
  responses: { 200: { description: 'What is owed and is in no payout.', schema: owedResponse } },
  errors: ERRORS,
  handler: async ({ caller, params }, parts: PayoutsOperationsParts) => ({
    data: await owedBy(parts, await ownProject(parts, caller, params.project_id)),
  }),
});

const requestPayouts = defineOperation({
  method: 'post',
  path: PAYOUTS_PATHS.all,
  id: 'requestPayouts',
  tag: TAG,
  summary: 'Pay out now what a project owes',
  description:
    'Recipients without a token account are left out and stay owed, and so are those who are owed too little to be worth a transaction: the answer says from which amount or time on they are paid. The network fee is ours. Payouts are also made without being asked for, above a threshold and after a day.',
  scope: 'payouts:write',
  responses: {
    200: { description: 'Nothing can be paid.', schema: payoutRequestResponse },
    202: {
      description: 'Payouts are on their way; the list tells what becomes of them.',
      schema: payoutRequestResponse,
    },
  },
  errors: ERRORS,
  async handler({ req, res, caller, params }, parts: PayoutsOperationsParts) {
    const id = await ownProject(parts, caller, params.project_id);
    const asked = { actor: actorOf(caller), action: 'payout.requested', target: id, owner: caller.wallet, details: {} };
    await parts.note([newAuditEntry(asked, parts.now())]);
    const made = await viewsOf(parts, await parts.payouts.request(id), req);
    res.status(made.length === 0 ? 200 : 202).json({ payouts: made, owed: await owedBy(parts, id) });
  },
});

const getPayout = defineOperation({
  method: 'get',
  path: PAYOUTS_PATHS.one,
  id: 'getPayout',
  tag: TAG,
  summary: 'A payout of a project',
  scope: 'payouts:read',
  responses: { 200: { description: 'The payout.', schema: payoutResponse } },
  errors: [...ERRORS, 'not_found'],
  async handler({ req, caller, params }, parts: PayoutsOperationsParts) {
    return viewOf(parts, await ownPayout(parts, caller, params), req);
  },
});

const RESOLUTIONS = {
  resolved: 'The payout is over.',
  open: 'No node that was asked can prove what became of it; it stays as it is, and is asked about again.',
  unsent: 'Nothing of it was sent yet; that is still done.',
  busy: 'It is being worked on; ask again in two minutes.',
  may_land: 'It can still land; ask again in two minutes.',
} as const;

const resolvePayout = defineOperation({
  method: 'post',
  path: PAYOUTS_PATHS.resolve,
  id: 'resolvePayout',
  tag: TAG,
  summary: 'Ask the chain what became of a payout, and book what it says',
  description:
    'Nothing is sent: a payout that has landed becomes `paid`; one that provably never lands becomes `failed`, and what it was to pay is owed again. What no node can prove stays as it is, so that nobody is paid twice.',
  scope: 'payouts:write',
  takesTurns: true,
  responses: { 200: { description: 'What came of it.', schema: payoutResolutionResponse } },
  errors: [...ERRORS, 'not_found'],
  async handler({ req, caller, params }, parts: PayoutsOperationsParts) {
    const payout = await ownPayout(parts, caller, params);
    const isOver = payout.state === 'paid' || payout.state === 'failed';
    const found = isOver ? ({ status: 'resolved', payout } as const) : await parts.payouts.resolve(payout);
    const asked = { actor: actorOf(caller), action: 'payout.resolved', target: payout.id, owner: payout.owner };
    const { status } = found;
    await parts.note([
      newAuditEntry({ ...asked, details: { resolution: status, state: found.payout.state } }, parts.now()),
    ]);
    const resolution = status === 'may_land' ? 'open' : status;
    return { resolution, detail: RESOLUTIONS[status], payout: await viewOf(parts, found.payout, req) };
  },
});

/** Payouts of what projects owe to the recipients of their splits; of deleted projects too. */
export const PAYOUTS_OPERATIONS = [listPayouts, listOwed, requestPayouts, getPayout, resolvePayout];

/** The payouts as they are shown, each with its token. */
function viewsOf(parts: PayoutsOperationsParts, records: readonly PayoutRecord[], req: Request) {
  return Promise.all(records.map((it) => viewOf(parts, it, req)));
}

async function viewOf(parts: PayoutsOperationsParts, record: PayoutRecord, req: Request) {
  const explorer = explorerOf({ ...parts, network: record.network }, req);
  return payoutView(record, await parts.payouts.token(record.mint), explorer);
}

async function owedBy({ payouts }: PayoutsOperationsParts, projectId: string) {
  const owed = await payouts.owed(projectId);
  return Promise.all(owed.map(async (it) => owedView(it, await payouts.token(it.mint))));
}

/** The payout in the path, if it is one of the caller's. */
async function ownPayout(
  parts: PayoutsOperationsParts,
  caller: ApiCaller,
  params: { readonly project_id: string; readonly payout_id: string },
): Promise<PayoutRecord> {
  const payout = await parts.payouts.find(await ownProject(parts, caller, params.project_id), params.payout_id);
  if (payout === undefined) throw new TollhouseError('not_found', 'The project has no payout with this id.');
  return payout;
}

/** The project in the path, if it is the caller's. */
async function ownProject(
  { payouts, ownedProject }: PayoutsOperationsParts,
  { wallet, projectId }: ApiCaller,
  id: string,
): Promise<string> {
  if (projectId !== undefined && projectId !== id) {
    throw new TollhouseError('project_not_found', 'The service key is for another project.');
  }
  // What a deleted project owes is still owed.
  if (!(await payouts.isOwner(id, wallet))) await ownedProject(id, wallet);
  return id;
}

function positionOf(cursor: string | undefined): PayoutPosition | undefined {
  const [createdAt, id] = readCursor(cursor, payoutsCursor) ?? [];
  return createdAt === undefined || id === undefined ? undefined : { createdAt, id };
}
