import type { AuditEntry } from '../audit/audit-log.js';
import type { OwnerLimits } from './quotas.js';

/** What an operator can suspend: what a wallet sells, one project, one service key, or a wallet and all of its keys. */
export const SUSPENDED_KINDS = ['owner', 'project', 'key', 'wallet'] as const;

/** One of {@link SUSPENDED_KINDS}. */
export type SuspendedKind = (typeof SUSPENDED_KINDS)[number];

/** What is suspended, since when, and by whom. */
export interface Suspension {
  readonly kind: SuspendedKind;
  /** Wallet, base58, or id. */
  readonly target: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Wallet of the operator, base58. */
  readonly operator: string;
  readonly reason?: string;
}

/** A wallet that owns something, or did. */
export interface OwnerRecord {
  /** Base58. */
  readonly wallet: string;
  /** Since when, milliseconds since the epoch. */
  readonly since: number;
  /** Projects that are not deleted. */
  readonly projects: number;
  /** Service keys that are not revoked. */
  readonly keys: number;
  readonly webhooks: number;
  /** Those of its own. */
  readonly quotas: Partial<OwnerLimits>;
}

/** Where a list goes on: after this owner. */
export interface OwnerPlace {
  readonly since: number;
  readonly wallet: string;
}

/** Quotas of a wallet of its own; null takes one back. What is left out stays. */
export type QuotaChange = { readonly [Q in keyof OwnerLimits]?: OwnerLimits[Q] | null | undefined };

/**
 * Owners and what operators say of them. Every change is written together with its audit entry. Everything rejects with
 * `store_unavailable` when the database does not answer.
 */
export interface OwnerStore {
  /** The newest first. */
  list(limit: number, after?: OwnerPlace): Promise<readonly OwnerRecord[]>;
  find(wallet: string): Promise<OwnerRecord | undefined>;
  /** Quotas of its own of a wallet. */
  quotasOf(wallet: string): Promise<Partial<OwnerLimits>>;
  /** Also of a wallet that owns nothing yet. */
  setQuotas(wallet: string, quotas: QuotaChange, audit: AuditEntry): Promise<void>;
  /** Everything that is suspended, the newest first. */
  suspensions(): Promise<readonly Suspension[]>;
  /** False when it is suspended already; then nothing was written. */
  suspend(suspension: Suspension, audit: AuditEntry): Promise<boolean>;
  /** False when it is not suspended; then nothing was written. */
  resume(kind: SuspendedKind, target: string, audit: AuditEntry): Promise<boolean>;
}
