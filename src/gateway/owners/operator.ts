import { TollhouseError } from '../../errors/errors.js';
import type { ServiceKey } from '../../identity/service-keys/service-key-types.js';
import { toServiceKey } from '../../identity/service-keys/service-key-view.js';
import { defined } from '../../lib/defined.js';
import { isAddress } from '../../protocol/address.js';
import { type Actor, type AuditEntry, type AuditLog, newAuditEntry } from '../../storage/audit/audit-log.js';
import type { KeyPage, ServiceKeyStore } from '../../storage/keys/service-keys.js';
import type {
  OwnerPlace,
  OwnerRecord,
  OwnerStore,
  QuotaChange,
  SuspendedKind,
  Suspension,
} from '../../storage/owners/owners.js';
import type { Suspensions } from '../../storage/owners/suspensions.js';
import type { ProjectPlace, ProjectRecord, ProjectStore } from '../../storage/projects/projects.js';

/** What {@link createOperator} works with. */
export interface OperatorParts {
  /** Wallets of the operators, base58. */
  readonly operators: readonly string[];
  readonly owners: OwnerStore;
  readonly projects: Pick<ProjectStore, 'find' | 'list' | 'listAll'>;
  readonly keys: Pick<ServiceKeyStore, 'findAny' | 'list' | 'listAll'>;
  readonly audit: AuditLog;
  readonly suspensions: Suspensions;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
}

/** What is to be suspended, or to go on. */
export interface SuspensionTarget {
  readonly kind: SuspendedKind;
  /** Wallet, base58, or id. */
  readonly target: string;
}

/** What operators of a service see and do. Whatever they change is in the audit log, in the same transaction. */
export interface Operator {
  /** Whether a wallet is one of theirs. */
  isOperator(wallet: string): boolean;
  /** The newest first. */
  owners(limit: number, after?: OwnerPlace): Promise<readonly OwnerRecord[]>;
  /** Rejects with `not_found` for a wallet that never owned anything. */
  owner(wallet: string): Promise<OwnerRecord>;
  /** Projects that are not deleted, the newest first, of one owner or of all. */
  projects(owner: string | undefined, limit: number, after?: ProjectPlace): Promise<readonly ProjectRecord[]>;
  /** Service keys, the newest first, revoked ones too, of one owner or of all. */
  keys(owner: string | undefined, page: KeyPage): Promise<readonly ServiceKey[]>;
  /** Everything that is suspended, the newest first. */
  suspensions(): Promise<readonly Suspension[]>;
  /** Quotas of its own of a wallet, also of one that owns nothing yet; known to every instance at once. */
  setQuotas(by: Actor, wallet: string, quotas: QuotaChange): Promise<OwnerRecord>;
  /**
   * Suspends: at once in this process, within 30 s in all others. What is suspended already stays as it is. Rejects with
   * `not_found`, `project_not_found`, or `validation_failed` for an operator's own wallet.
   */
  suspend(by: Actor, what: SuspensionTarget, reason?: string): Promise<Suspension>;
  /** Lets it go on; what is not suspended stays as it is. Rejects as {@link suspend}. */
  resume(by: Actor, what: SuspensionTarget): Promise<void>;
  /** Who changed what, when, from where; kept for 400 days. */
  readonly audit: Pick<AuditLog, 'list' | 'append'>;
}

/** Makes what operators work with. */
export function createOperator(parts: OperatorParts): Operator {
  const { owners, projects, keys, audit, suspensions, now } = parts;
  const operators = new Set(parts.operators);

  async function owner(wallet: string): Promise<OwnerRecord> {
    const found = await owners.find(wallet);
    if (found !== undefined) return found;
    throw new TollhouseError('not_found', 'This wallet has never owned anything here.');
  }

  /** The wallet whose it is. */
  async function ownerOf({ kind, target }: SuspensionTarget): Promise<string> {
    if (kind === 'project') return ownerOrThrow(await projects.find(target), 'project_not_found', 'project');
    if (kind === 'key') return ownerOrThrow(await keys.findAny(target), 'not_found', 'service key');
    if (!isAddress(target)) throw invalid('must be the address of a wallet');
    if (operators.has(target)) throw invalid('is an operator: take it out of OPERATORS first');
    return target;
  }

  async function entryOf(actor: Actor, what: SuspensionTarget, done: string, reason?: string): Promise<AuditEntry> {
    const { kind, target } = what;
    const details = defined({ reason });
    return newAuditEntry({ actor, action: `${kind}.${done}`, target, owner: await ownerOf(what), details }, now());
  }

  return {
    audit,
    isOperator: (wallet) => operators.has(wallet),
    owner,
    owners: (limit, after) => owners.list(limit, after),
    projects: (wallet, limit, after) =>
      wallet === undefined ? projects.listAll(limit, after) : projects.list(wallet, limit, after),
    async keys(wallet, page) {
      const found = await (wallet === undefined ? keys.listAll(page) : keys.list({ wallet }, page));
      return found.map(toServiceKey);
    },
    suspensions: () => owners.suspensions(),
    async setQuotas(actor, wallet, quotas) {
      if (!isAddress(wallet)) throw invalid('must be the address of a wallet');
      const entry = { actor, action: 'owner.quotas_changed', target: wallet, owner: wallet, details: { quotas } };
      await owners.setQuotas(wallet, quotas, newAuditEntry(entry, now()));
      return owner(wallet);
    },
    async suspend(actor, what, reason) {
      const entry = await entryOf(actor, what, 'suspended', reason);
      const suspension = { ...what, at: entry.at, operator: actor.wallet, ...defined({ reason }) };
      await owners.suspend(suspension, entry);
      await suspensions.refresh();
      return (await suspensions.find(what.kind, what.target)) ?? suspension;
    },
    async resume(actor, what) {
      await owners.resume(what.kind, what.target, await entryOf(actor, what, 'resumed'));
      await suspensions.refresh();
    },
  };
}

function ownerOrThrow(
  found: { readonly owner: string } | undefined,
  code: 'project_not_found' | 'not_found',
  what: string,
): string {
  if (found !== undefined) return found.owner;
  throw new TollhouseError(code, `There is no ${what} with this id.`);
}

function invalid(detail: string): TollhouseError {
  const errors = [{ pointer: '/target', code: 'custom', detail }];
  return new TollhouseError('validation_failed', `The request is not valid. /target: ${detail}.`, { errors });
}
