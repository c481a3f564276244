import { type FieldFault, TollhouseError } from '../../errors/errors.js';
import type { Actor } from '../../storage/audit/audit-log.js';
import type { WebhookEvents } from '../../storage/webhooks/webhooks.js';
import type { AddressGuard } from '../network-guard/address-guard.js';

/** Whose webhooks are meant: a wallet's, or those of one project of its. */
export interface WebhookCaller extends Actor {
  /** The only project that the caller may touch, if it is restricted to one. */
  readonly projectId?: string;
}

/** What the rules of webhooks ask others. */
export interface WebhookRules {
  readonly addressGuard: Pick<AddressGuard, 'checkUrl'>;
  /** Whether a wallet has a project of this id. */
  readonly ownsProject: (wallet: string, projectId: string) => Promise<boolean>;
}

/** What an owner decides about a webhook. */
export interface WebhookDraft {
  readonly url: string;
  readonly events: WebhookEvents;
  /** Default: it is told of all projects of the owner, and of what belongs to none. */
  readonly projectId?: string | undefined;
  readonly description?: string | undefined;
}

/**
 * Checks what the form of a webhook does not show.
 * @throws TollhouseError `validation_failed` with every fault at once; `rate_limited` where too many host names are looked up
 */
export async function checkWebhook(
  { url, projectId }: WebhookDraft,
  caller: WebhookCaller,
  { addressGuard, ownsProject }: WebhookRules,
): Promise<void> {
  const faults: FieldFault[] = [];
  const wrongUrl = await addressGuard.checkUrl(url, caller.wallet);
  if (wrongUrl !== undefined) faults.push({ pointer: '/url', code: 'address', detail: wrongUrl });
  if (projectId !== undefined && !(await mayUse(caller, projectId, ownsProject))) {
    faults.push({ pointer: '/project_id', code: 'project', detail: 'must be the id of a project of yours' });
  }
  if (faults.length === 0) return;
  const detail = faults.map((it) => `${it.pointer}: ${it.detail}`).join('; ');
  throw new TollhouseError('validation_failed', `The request is not valid. ${detail}.`, { errors: faults });
}

async function mayUse(
  caller: WebhookCaller,
  projectId: string,
  ownsProject: WebhookRules['ownsProject'],
): Promise<boolean> {
  if (caller.projectId !== undefined && caller.projectId !== projectId) return false;
  return ownsProject(caller.wallet, projectId);
}
