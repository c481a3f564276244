import { defined } from '../../lib/defined.js';
import { newId } from '../../lib/ids.js';

/** Who makes a change, and from where. */
export interface Actor {
  /** Wallet, base58: the caller's own, or the owner's of its key. */
  readonly wallet: string;
  /** The service key that was used, if one was. */
  readonly keyId?: string;
  /** Address of the client. */
  readonly address?: string;
  /** `X-Request-Id`. */
  readonly requestId?: string;
}

/** What somebody has changed. Neither secrets nor addresses of upstreams are in it. */
export interface AuditEntry {
  /** `aud_` and base58 of 16 random bytes. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly actor: Actor;
  /** As the type of an event: `project.updated`. */
  readonly action: string;
  /** Id of what was changed, or a wallet. */
  readonly target: string;
  /** Wallet whose it is, base58. */
  readonly owner: string;
  /** Particulars: plain JSON. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** An entry with its place; later ones are greater. */
export interface LoggedAudit extends AuditEntry {
  readonly seq: number;
}

/** Which entries are wanted. Default: all. */
export interface AuditQuery {
  readonly owner?: string | undefined;
  /** Wallet that has made the change. */
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  readonly action?: string | undefined;
  /** Only what stands before this place. Default: from the newest on. */
  readonly before?: number | undefined;
  /** How many at most. */
  readonly limit: number;
}

/**
 * Who changed what, when, from where. Entries are added, mostly in the transaction of what they tell (`auditSteps`), and never
 * changed. Everything rejects with `store_unavailable` when the database does not answer.
 */
export interface AuditLog {
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** The newest first. */
  list(query: AuditQuery): Promise<readonly LoggedAudit[]>;
  /** Forgets at most `limit` entries from before a time; answers how many. */
  prune(before: number, limit: number): Promise<number>;
}

/** What of a caller goes into the log. */
export function actorOf({ wallet, keyId, address, requestId }: Actor): Actor {
  return { wallet, ...defined({ keyId, address, requestId }) };
}

/** Makes an entry of what happens now. */
export function newAuditEntry(entry: Omit<AuditEntry, 'id' | 'at'>, at: number): AuditEntry {
  return { id: newId('aud'), at, ...entry };
}
