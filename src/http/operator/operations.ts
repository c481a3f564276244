import type { z } from 'zod';
import type { Operator } from '../../gateway/owners/operator.js';
import type { OwnerRecord, QuotaChange } from '../../storage/owners/owners.js';
import type { Quotas } from '../../storage/owners/quotas.js';
import type { Suspensions } from '../../storage/owners/suspensions.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { defineOperation } from '../framework/operation.js';
import {
  auditCursor,
  auditQuery,
  auditsResponse,
  OPERATOR_PATHS,
  operatorKeysResponse,
  operatorProjectsResponse,
  ownedQuery,
  ownerPatchBody,
  ownerResponse,
  ownersQuery,
  ownersResponse,
  placeCursor,
  resumeBody,
  suspendBody,
  suspensionResponse,
  suspensionsResponse,
} from './schemas.js';
import { auditView, operatorKeyView, operatorProjectView, ownerView, suspensionView } from './views.js';

/** What {@link OPERATOR_OPERATIONS} work with. */
export interface OperatorOperationsParts {
  readonly operator: Operator;
  readonly suspensions: Pick<Suspensions, 'find'>;
  /** What a wallet may own. */
  readonly quotas: (owner: string) => Promise<Quotas>;
}

const TAG = 'Operator';
const LISTED = ['not_an_operator', 'validation_failed'] as const;

const listOwners = defineOperation({
  method: 'get',
  path: OPERATOR_PATHS.owners,
  id: 'listOwners',
  tag: TAG,
  summary: 'Wallets that own something here, newest first',
  scope: 'operator',
  query: ownersQuery,
  responses: { 200: { description: 'One page of them.', schema: ownersResponse } },
  errors: LISTED,
  async handler({ query: { limit, cursor } }, parts: OperatorOperationsParts) {
    const [since, wallet] = readCursor(cursor, placeCursor) ?? [];
    const after = since === undefined || wallet === undefined ? undefined : { since, wallet };
    const found = await parts.operator.owners(limit + 1, after);
    const page = listResponse(
      found,
      limit,
      (it) => [it.since, it.wallet],
      (it) => it,
    );
    return { ...page, data: await Promise.all(page.data.map((it) => shown(parts, it))) };
  },
});

const getOwner = defineOperation({
  method: 'get',
  path: OPERATOR_PATHS.owner,
  id: 'getOwner',
  tag: TAG,
  summary: 'One owner',
  scope: 'operator',
  responses: { 200: { description: 'The owner.', schema: ownerResponse } },
  errors: ['not_an_operator', 'not_found'],
  handler: async ({ params: { wallet } }, parts: OperatorOperationsParts) =>
    shown(parts, await parts.operator.owner(wallet)),
});

const updateOwner = defineOperation({
  method: 'patch',
  path: OPERATOR_PATHS.owner,
  id: 'updateOwner',
  tag: TAG,
  summary: 'Say how much a wallet may own, change, and cost',
  description:
    'What it has already stays, also where that is more. A share of the network fees begins anew when it is changed; all instances know it within ten seconds.',
  scope: 'operator',
  body: ownerPatchBody,
  responses: { 200: { description: 'The owner.', schema: ownerResponse } },
  errors: ['not_an_operator', 'validation_failed'],
  handler: async ({ caller, params: { wallet }, body }, parts: OperatorOperationsParts) =>
    shown(parts, await parts.operator.setQuotas(caller, wallet, quotasFrom(body))),
});

const listAllProjects = defineOperation({
  method: 'get',
  path: OPERATOR_PATHS.projects,
  id: 'listAllProjects',
  tag: TAG,
  summary: 'Projects of all owners, newest first',
  scope: 'operator',
  query: ownedQuery,
  responses: { 200: { description: 'One page of them.', schema: operatorProjectsResponse } },
  errors: LISTED,
  async handler({ query: { limit, cursor, owner } }, { operator, suspensions }: OperatorOperationsParts) {
    const found = await operator.projects(owner, limit + 1, placeOf(cursor));
    const page = listResponse(found, limit, placeIn, (it) => it);
    const data = page.data.map(async (it) => operatorProjectView(it, await suspensions.find('project', it.id)));
    return { ...page, data: await Promise.all(data) };
  },
});

const listAllKeys = defineOperation({
  method: 'get',
  path: OPERATOR_PATHS.keys,
  id: 'listAllKeys',
  tag: TAG,
  summary: 'Service keys of all owners, newest first, revoked ones too',
  scope: 'operator',
  query: ownedQuery,
  responses: { 200: { description: 'One page of them.', schema: operatorKeysResponse } },
  errors: LISTED,
  async handler({ query: { limit, cursor, owner } }, { operator, suspensions }: OperatorOperationsParts) {
    const after = placeOf(cursor);
    const found = await operator.keys(owner, { limit: limit + 1, ...(after === undefined ? {} : { after }) });
    const page = listResponse(found, limit, placeIn, (it) => it);
    const data = page.data.map(async (it) => operatorKeyView(it, await suspensions.find('key', it.id)));
    return { ...page, data: await Promise.all(data) };
  },
});

const listSuspensions = defineOperation({
  method: 'get',
  path: OPERATOR_PATHS.suspensions,
  id: 'listSuspensions',
  tag: TAG,
  summary: 'All that is suspended, newest first',
  scope: 'operator',
  responses: { 200: { description: 'All of it: there is one page.', schema: suspensionsResponse } },
  errors: ['not_an_operator'],
  async handler(_request, { operator }: OperatorOperationsParts) {
    const found = await operator.suspensions();
    return listResponse(found, found.length, () => [], suspensionView);
  },
});

const suspend = defineOperation({
  method: 'post',
  path: OPERATOR_PATHS.suspend,
  id: 'suspend',
  tag: TAG,
  summary: 'Suspend an owner, a project, a service key or a wallet',
  description:
    'Known everywhere within 30 seconds. A suspended project, and each project of a suspended owner, answers 503 ' +
    '`project_suspended` and is in no list; a suspended key 403 `service_key_suspended`; a suspended wallet, and its keys, 403 ' +
    '`wallet_suspended`. What is owed is paid out all the same.',
  scope: 'operator',
  body: suspendBody,
  responses: { 200: { description: 'It is suspended, or was before.', schema: suspensionResponse } },
  errors: ['not_an_operator', 'validation_failed', 'project_not_found', 'not_found'],
  handler: async ({ caller, body: { reason, ...what } }, { operator }: OperatorOperationsParts) =>
    suspensionView(await operator.suspend(caller, what, reason)),
});

const resume = defineOperation({
  method: 'post',
  path: OPERATOR_PATHS.resume,
  id: 'resume',
  tag: TAG,
  summary: 'Let go on what was suspended',
  scope: 'operator',
  body: resumeBody,
  responses: { 204: { description: 'It goes on, or was not suspended.' } },
  errors: ['not_an_operator', 'validation_failed', 'project_not_found', 'not_found'],
  async handler({ caller, body }, { operator }: OperatorOperationsParts) {
    await operator.resume(caller, body);
  },
});

const listAudit = defineOperation({
  method: 'get',
  path: OPERATOR_PATHS.audit,
  id: 'listAudit',
  tag: TAG,
  summary: 'Who changed what, when, from where; newest first',
  description:
    'Projects, service keys, webhooks, payouts that were asked for, and what operators did. Kept for 400 days.',
  scope: 'operator',
  query: auditQuery,
  responses: { 200: { description: 'One page of it.', schema: auditsResponse } },
  errors: LISTED,
  async handler({ query: { limit, cursor, ...wanted } }, { operator }: OperatorOperationsParts) {
    const [before] = readCursor(cursor, auditCursor) ?? [];
    const found = await operator.audit.list({ ...wanted, before, limit: limit + 1 });
    return listResponse(found, limit, ({ seq }) => [seq], auditView);
  },
});

/** `/api/v1/operator`: what the wallets in `OPERATORS` see and do. */
export const OPERATOR_OPERATIONS = [
  listOwners,
  getOwner,
  updateOwner,
  listAllProjects,
  listAllKeys,
  listSuspensions,
  suspend,
  resume,
  listAudit,
];

async function shown({ quotas, suspensions }: OperatorOperationsParts, owner: OwnerRecord) {
  const [allowed, ofOwner, ofWallet] = await Promise.all([
    quotas(owner.wallet),
    suspensions.find('owner', owner.wallet),
    suspensions.find('wallet', owner.wallet),
  ]);
  return ownerView(owner, allowed, { owner: ofOwner, wallet: ofWallet });
}

function quotasFrom({ quotas }: z.output<typeof ownerPatchBody>): QuotaChange {
  const { project_bytes: projectBytes, daily_changes: dailyChanges, fee_percent: feePercent, ...rest } = quotas;
  const { unpaid_requests: unpaidRequests, ...counts } = rest;
  return { ...counts, projectBytes, dailyChanges, unpaidRequests, feePercent };
}

function placeIn({ createdAt, id }: { readonly createdAt: number; readonly id: string }) {
  return [createdAt, id] as const;
}

function placeOf(cursor: string | undefined) {
  const [createdAt, id] = readCursor(cursor, placeCursor) ?? [];
  return createdAt === undefined || id === undefined ? undefined : { createdAt, id };
}
