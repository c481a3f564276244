import type { Response } from 'express';
import { z } from 'zod';
import { TollhouseError } from '../../errors/errors.js';
import { requireKeyProject } from '../../identity/service-keys/key-project.js';
import { requireScopes, SCOPES, type Scope } from '../../identity/service-keys/scopes.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import { whenKnownOr } from '../../lib/maybe-promise.js';
import { resolveOptions } from '../../lib/options.js';
import { keepPrivate, varyBy } from '../gate/cache-control.js';
import { createGate, type Decision, type Gate } from '../gate/gate.js';
import { type RequestNames, type RequestServiceKey, requestNamesOption, tell } from '../gate/request-properties.js';
import { exposeHeaders, sendError, sendProblem } from '../gate/respond.js';
import { observeGate } from '../tracing/gate-request.js';
import { type KeyGateway, keyGatewayOption } from './key-gateway.js';
import { readServiceKey } from './read-service-key.js';

/** Options of {@link serviceKeyAuth}. */
export interface ServiceKeyAuthOptions {
  /** Knows the keys. Whether it takes test keys is up to it: on mainnet they are refused. */
  readonly gateway: KeyGateway;
  /** All of them a key must have. Default `['call']`. */
  readonly scopes?: readonly Scope[] | undefined;
  /**
   * Whether live keys or test keys are let in. Default: live ones where the gateway has mainnet among its networks, elsewhere both.
   */
  readonly mode?: 'live' | 'test' | undefined;
  /**
   * Id of the project that the route belongs to (`prj_…`): a key that is for certain projects is let in where this is one of them.
   * Default: none, and such keys are refused.
   */
  readonly project?: string | undefined;
  /**
   * `{ serviceKey: 'caller' }` tells the handler on `req.caller`, `{ serviceKey: false }` on no property of the request, for apps
   * that have a `req.serviceKey` of their own; `serviceKeyOf(req)` returns it either way. Default: `req.serviceKey`.
   */
  readonly requestNames?: RequestNames<'serviceKey'> | undefined;
}

const WHERE = 'serviceKeyAuth';
const HEADERS = 'X-Service-Key, X-Service-Secret';
const CHALLENGE = { 'WWW-Authenticate': 'ServiceKey realm="tollhouse", headers="X-Service-Key X-Service-Secret"' };
const EXPOSED = ['WWW-Authenticate', 'Retry-After', 'RateLimit', 'RateLimit-Policy'];
const PROJECT = 'the id of a project ("prj_…"), not its slug';
const ABSENT = 'Send a service key: X-Service-Key and X-Service-Secret.';

const options = z.strictObject({
  gateway: keyGatewayOption,
  scopes: z.array(z.enum(SCOPES, `one of ${SCOPES.join(', ')}`), 'a list of scopes').default(['call']),
  mode: z.enum(['live', 'test'], '"live" or "test"').optional(),
  project: z
    .string(PROJECT)
    .regex(/^prj_\w+$/, PROJECT)
    .optional(),
  requestNames: requestNamesOption('serviceKey'),
});

/**
 * Express middleware that lets in who shows a service key, in the headers `X-Service-Key` and `X-Service-Secret`, and puts
 * {@link RequestServiceKey} on `req.serviceKey`. Any wallet can make itself a key: whether its `owner` may do what your route
 * does is for your handler to say. Answers 401 without a good key, 403 when it lacks a scope, is for certain projects and `project`
 * is none of them, or comes from another address than it may, 429 above its limit a second. Can be given to `anyOf`.
 * @throws TollhouseError `bad_option` now, not at the first request, when an option is wrong
 */
export function serviceKeyAuth(given: ServiceKeyAuthOptions): Gate {
  const { gateway, scopes, requestNames, project, mode: asked } = resolveOptions(WHERE, options, given);
  const mode = asked ?? (gateway.keys.mode === 'live' ? 'live' : undefined);
  const absent = (res: Response) =>
    refused(false, () => sendProblem(res, 'unauthenticated', ABSENT, { headers: CHALLENGE }));
  return createGate(WHERE, (req, res) => {
    observeGate(gateway.observed, req, res);
    exposeHeaders(res, EXPOSED);
    varyBy(res, HEADERS);
    return whenKnownOr<ServiceKey | undefined, Decision>(
      () => readServiceKey(req, res, gateway.keys),
      (key) => {
        if (key === undefined) return absent(res);
        requireScopes(key.scopes, scopes);
        requireKeyProject(key, project);
        if (mode !== undefined && key.mode !== mode) throw wrongMode(key, mode);
        return {
          admitted: true,
          enter(next) {
            tell(req, requestNames, 'serviceKey', () => shownOf(key));
            keepPrivate(res);
            next();
          },
        };
      },
      (error) => {
        if (!(error instanceof TollhouseError) || error.status >= 500) throw error;
        return refused(true, () => answer(res, error));
      },
    );
  });
}

function wrongMode({ mode }: Pick<ServiceKey, 'mode'>, wanted: 'live' | 'test'): TollhouseError {
  const detail = `The service key is a ${mode} key; use a ${wanted} key.`;
  return new TollhouseError('wrong_key_mode', detail);
}

/** What of a key is the handler's business. */
function shownOf({ id, owner, projectId, mode, scopes, metadata }: ServiceKey): RequestServiceKey {
  const shown = { id, owner, mode, scopes, metadata };
  return projectId === undefined ? shown : { ...shown, projectId };
}

function refused(presented: boolean, answer: () => void): Decision {
  return { admitted: false, wants: 'key', presented, answer };
}

function answer(res: Response, error: TollhouseError): void {
  if (error.status === 401) res.setHeader('WWW-Authenticate', CHALLENGE['WWW-Authenticate']);
  sendError(res, error);
}
