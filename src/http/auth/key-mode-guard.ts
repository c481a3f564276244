import type { Request, RequestHandler } from 'express';
import { TollhouseError } from '../../errors/errors.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import { requireKeyMode } from '../../gateway/calls/key-mode.js';
import { sendError } from '../../middleware/gate/respond.js';
import { networkFrom } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import type { KeyMode } from '../../storage/keys/service-keys.js';
import { type ApiCaller, callerOf } from '../framework/api-caller.js';
import { API } from '../framework/path.js';

/** What {@link requireSameMode} works with. */
export interface KeyModeParts {
  readonly networks: Pick<Networks, 'first' | 'mode'>;
  /** The network of a project, be it deleted since; undefined where it is not the wallet's. */
  readonly networkOf: (projectId: string, wallet: string) => Promise<NetworkId | undefined>;
  /** The project that a webhook is of, if it is of one; rejects with `not_found` where it is not the caller's. */
  readonly webhook: (caller: ApiCaller, id: string) => Promise<{ readonly projectId?: string | undefined }>;
  /** A service key; rejects with `not_found` where it is not the caller's. */
  readonly key: (caller: ApiCaller, id: string) => Promise<{ readonly mode: KeyMode }>;
}

const NAME_A_PROJECT =
  'Here stands what belongs to money and to test money: with a service key name a project of its kind (project_id), or sign in with the wallet.';
const OTHER_KEY = 'A service key works with keys of its own kind only, live or test; sign in with the wallet.';
const EVENTS: readonly string[] = [`${API}/events`, `${API}/events/stream`];
const [WEBHOOKS, ONE_KEY, PROJECTS] = [`${API}/webhooks`, `${API}/keys/:id`, `${API}/projects`];

/**
 * Makes the check that a service key touches only what is of its kind of money, as it does for calls: projects and all that is
 * theirs. Where there is mainnet only, or none, every key is good. What is somebody else's is left to the operation, which says
 * that it is not there; so are lists, of which a key sees what is of its kind. Events and webhooks are of both kinds unless a project
 * is named.
 */
export function requireSameMode(parts: KeyModeParts): RequestHandler {
  return (req, res, next) => {
    const caller = callerOf(req);
    const { keyMode: mode } = caller;
    if (mode === undefined) return next();
    check(parts, req, caller, mode).then(
      () => next(),
      (error: unknown) => (error instanceof TollhouseError ? sendError(res, error) : next(error)),
    );
  };
}

async function check(parts: KeyModeParts, req: Request, caller: ApiCaller, mode: KeyMode): Promise<void> {
  // As it was declared: what clients write may differ in its letters.
  const path = String(Reflect.get(Object(req.route), 'path'));
  const served = parts.networks.mode;
  const { id = '' } = req.params as Readonly<Record<string, string | undefined>>;
  if (path === ONE_KEY && (await parts.key(caller, id)).mode !== mode) {
    throw new TollhouseError('wrong_key_mode', OTHER_KEY);
  }
  if (path === PROJECTS && req.method === 'POST') requireKeyMode({ mode }, newNetwork(parts, req), served);
  const project = caller.projectId ?? (await projectOf(parts, req, caller, path));
  const network = project === undefined ? undefined : await parts.networkOf(project, caller.wallet);
  if (network !== undefined) requireKeyMode({ mode }, network, served);
}

/** Of a project that is to be made; what is no network is refused later. */
function newNetwork({ networks }: KeyModeParts, { body }: Request): NetworkId {
  const named: unknown = Reflect.get(Object(Reflect.get(Object(body), 'pricing')), 'network');
  return (typeof named === 'string' ? networkFrom(named) : undefined) ?? networks.first.network;
}

/** The project that a request is about; what is of no project must not be read or changed. */
async function projectOf(
  parts: KeyModeParts,
  req: Request,
  caller: ApiCaller,
  path: string,
): Promise<string | undefined> {
  const { id = '', project_id: inPath } = req.params as Readonly<Record<string, string | undefined>>;
  if (EVENTS.includes(path)) return needed(req.query['project_id']);
  if (path === WEBHOOKS) return needed(req.method === 'POST' ? Reflect.get(Object(req.body), 'project_id') : undefined);
  if (path.startsWith(`${WEBHOOKS}/`)) return needed((await parts.webhook(caller, id)).projectId);
  return inPath ?? (path.startsWith(`${PROJECTS}/`) ? id : undefined);
}

function needed(project: unknown): string {
  if (typeof project === 'string') return project;
  throw new TollhouseError('wrong_key_mode', NAME_A_PROJECT);
}
