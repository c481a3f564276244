import type { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import { mergePatch } from '../../gateway/projects/merge-patch.js';
import type { WantedServiceKey } from '../../identity/service-keys/new-service-key.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import type { ServiceKeys } from '../../identity/service-keys/service-keys.js';
import type { ApiCaller } from '../framework/api-caller.js';
import { entityTag, ifMatch } from '../framework/entity-tag.js';
import { listResponse, readCursor } from '../framework/list-response.js';
import { BY_TOKEN_ALONE, defineOperation } from '../framework/operation.js';
import { fillPath } from '../framework/path.js';
import { readInput } from '../framework/read-input.js';
import { overlapOf, rotationBody } from '../framework/rotation.js';
import {
  changedKey,
  generateBody,
  KEYS_PATHS,
  keyPatchBody,
  keyResponse,
  keysCursor,
  keysQuery,
  keysResponse,
  revealedKeyResponse,
} from './schemas.js';
import { keyBody, keyView, revealedKeyView } from './views.js';

/** What {@link KEYS_OPERATIONS} work with. */
export interface KeysParts {
  readonly keys: ServiceKeys;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

const TAG = 'Service keys';
const NO_KEYS_BY_KEYS = 'A service key makes no keys; sign in with the wallet and send its access token.';
const NO_CHANGES_BY_KEYS = 'A service key changes no keys; sign in with the wallet and send its access token.';
const ROTATES_ITSELF =
  'A service key may give itself another secret, no other key; sign in with the wallet and send its access token.';

const generateKey = defineOperation({
  method: 'post',
  path: KEYS_PATHS.generate,
  id: 'generateKey',
  tag: TAG,
  summary: 'Make a service key',
  description:
    'With an access token only: a key makes no keys. Calls carry `api_key` in the header `X-Service-Key` and `api_secret` in `X-Service-Secret`. The secret is shown this once.',
  scope: 'keys:write',
  security: BY_TOKEN_ALONE,
  admit({ keyId }: ApiCaller) {
    if (keyId !== undefined) throw new TollhouseError('insufficient_scope', NO_KEYS_BY_KEYS);
  },
  body: generateBody,
  responses: {
    201: { description: 'The key and its secret; `Location` says where the key is.', schema: revealedKeyResponse },
  },
  errors: ['validation_failed', 'quota_reached'],
  async handler({ req, res, caller, body }, { keys, now }: KeysParts) {
    const made = await keys.generate(caller.wallet, wantedKey(body), caller);
    res.location(`${req.baseUrl}${fillPath(KEYS_PATHS.one, { id: made.key.id })}`);
    return revealedKeyView(made, now());
  },
});

const listKeys = defineOperation({
  method: 'get',
  path: KEYS_PATHS.all,
  id: 'listKeys',
  tag: TAG,
  summary: 'Your service keys, newest first, revoked ones too',
  description:
    'A service key sees those of its kind of money, where both are sold: a page may be shorter then than the one after it.',
  scope: 'keys:read',
  takesTurns: true,
  query: keysQuery,
  responses: { 200: { description: 'One page of them.', schema: keysResponse } },
  errors: ['validation_failed'],
  async handler({ caller, query: { limit, cursor } }, { keys, now }: KeysParts) {
    const [createdAt, id] = readCursor(cursor, keysCursor) ?? [];
    const after = createdAt === undefined || id === undefined ? {} : { after: { createdAt, id } };
    const found = await keys.list(caller, { limit: limit + 1, ...after });
    const page = listResponse(
      found,
      limit,
      (key) => [key.createdAt, key.id],
      (key) => key,
    );
    const { keyMode } = caller;
    const shown = page.data.filter(({ mode }) => keyMode === undefined || mode === keyMode);
    return { ...page, data: shown.map((key) => keyView(key, now())) };
  },
});

const getKey = defineOperation({
  method: 'get',
  path: KEYS_PATHS.one,
  id: 'getKey',
  tag: TAG,
  summary: 'One of your service keys',
  scope: 'keys:read',
  responses: { 200: { description: 'The key; its `ETag` names the version.', schema: keyResponse } },
  errors: ['not_found'],
  async handler({ res, caller, params }, { keys, now }: KeysParts) {
    const key = await keys.get(caller, params.id);
    res.setHeader('ETag', entityTag(key.version ?? 1));
    return keyView(key, now());
  },
});

const updateKey = defineOperation({
  method: 'patch',
  path: KEYS_PATHS.one,
  id: 'updateKey',
  tag: TAG,
  summary: 'Change a service key',
  description:
    'A merge patch (RFC 7396) of what it was made with, but for `project_id` and `mode`: null takes away, lists are replaced. It counts at once in this process, everywhere within 30 seconds; what was spent of a budget stays spent. With an access token only. With `If-Match` the version that it names is meant, and no other.',
  scope: 'keys:write',
  security: BY_TOKEN_ALONE,
  admit({ keyId }: ApiCaller) {
    if (keyId !== undefined) throw new TollhouseError('insufficient_scope', NO_CHANGES_BY_KEYS);
  },
  headers: { 'If-Match': 'The `ETag` of the version that is meant.' },
  body: keyPatchBody,
  responses: { 200: { description: 'The key; its `ETag` names the version.', schema: keyResponse } },
  errors: ['not_found', 'validation_failed', 'precondition_failed', 'quota_reached'],
  async handler({ req, res, caller, params, body }, { keys, now }: KeysParts) {
    const change = (key: ServiceKey) => wantedKey(readInput(changedKey, mergePatch(keyBody(key), body)));
    const key = await keys.update(caller, params.id, change, ifMatch(req));
    res.setHeader('ETag', entityTag(key.version ?? 1));
    return keyView(key, now());
  },
});

const rotateKey = defineOperation({
  method: 'post',
  path: KEYS_PATHS.rotate,
  id: 'rotateKey',
  tag: TAG,
  summary: 'Give a service key another secret',
  description:
    'The secret before it is good for 24 hours more, or as long as is asked for. A service key may do this to itself only.',
  scope: 'keys:write',
  admit({ keyId }: ApiCaller, { id }) {
    if (keyId !== undefined && keyId !== id) throw new TollhouseError('insufficient_scope', ROTATES_ITSELF);
  },
  body: rotationBody,
  bodyMayBeMissing: true,
  responses: { 200: { description: 'The key and its new secret, shown this once.', schema: revealedKeyResponse } },
  errors: ['not_found', 'validation_failed'],
  handler: async ({ caller, params, body }, { keys, now }: KeysParts) =>
    revealedKeyView(await keys.rotate(caller, params.id, overlapOf(body)), now()),
});

const revokeKey = defineOperation({
  method: 'delete',
  path: KEYS_PATHS.one,
  id: 'revokeKey',
  tag: TAG,
  summary: 'Revoke a service key for ever',
  description:
    'It is refused everywhere within 30 seconds, and stays in the list, without its `metadata`, `allowed_ips` and `allowed_projects`.',
  scope: 'keys:write',
  responses: { 204: { description: 'It is revoked, or was before.' } },
  errors: ['not_found'],
  async handler({ caller, params }, { keys }: KeysParts) {
    await keys.revoke(caller, params.id);
  },
});

/** Service keys of the caller. */
export const KEYS_OPERATIONS = [generateKey, listKeys, getKey, updateKey, rotateKey, revokeKey];

/** What was asked for, by the names that it has inside. */
function wantedKey(body: Partial<z.output<typeof generateBody>> & z.output<typeof changedKey>): WantedServiceKey {
  const { name, scopes, mode, spending, metadata, expires_at: expiresAt, allowed_projects: allowedProjects } = body;
  return {
    name,
    scopes,
    mode,
    spending,
    metadata,
    allowedProjects,
    projectId: body.project_id,
    expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
    allowedIps: body.allowed_ips,
    perSecond: body.limits?.per_second,
  };
}
