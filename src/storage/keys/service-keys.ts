import type { Actor } from '../audit/audit-log.js';
import type { EventRecord } from '../events/events.js';

/** What a key is good for: `live` everywhere, `test` on devnet, testnet and the sandbox only. */
export type KeyMode = 'live' | 'test';

/** Windows within which spending is limited, by the calendar in UTC; `total` never begins anew. */
export const SPENDING_WINDOWS = ['hour', 'day', 'month', 'total'] as const;

/** What happens when a limit is reached. */
export const SPENDING_ACTIONS = ['block', 'notify'] as const;

/** What a key may spend within a window. */
export interface KeySpending {
  /** Most that may be spent in a window, atomic units. */
  readonly limit: bigint;
  /** Mint of the token, base58. */
  readonly asset: string;
  /** Symbol of the token. */
  readonly token: string;
  /** Decimal places of the token. */
  readonly decimals: number;
  readonly window: (typeof SPENDING_WINDOWS)[number];
  /** `block` refuses what would go beyond the limit; `notify` only tells the owner. */
  readonly action: (typeof SPENDING_ACTIONS)[number];
}

/** A service key but for its secret. Times are milliseconds since the epoch. */
export interface ServiceKeyFacts {
  /** `key_` and base58. */
  readonly id: string;
  /** What goes into `X-Service-Key`. */
  readonly publicKey: string;
  /** Wallet that it belongs to, base58. */
  readonly owner: string;
  /** The only project that it may touch; none: all of the owner's, and calls of anybody's. */
  readonly projectId?: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly mode: KeyMode;
  readonly expiresAt?: number;
  readonly spending?: KeySpending;
  /** Addresses and networks (CIDR) that it may be used from; empty: all. */
  readonly allowedIps: readonly string[];
  /** Requests a second; none: the default. */
  readonly perSecond?: number;
  /** Ids of the only projects that may be called with it, whosever they are. Default: all. */
  readonly allowedProjects?: readonly string[];
  /** Of what its owner can change; it rises with each change. Default 1. */
  readonly version?: number;
  /** The owner's own notes. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  /** Until when the secret before the last rotation is good. */
  readonly previousUntil?: number;
  readonly revokedAt?: number;
  /** At most a minute behind. */
  readonly lastUsedAt?: number;
}

/** A service key as it is kept. */
export interface ServiceKeyRecord extends ServiceKeyFacts {
  /** SHA-256 of the secret. */
  readonly secretHash: string;
  /** SHA-256 of the secret before the last rotation. */
  readonly previousHash?: string;
}

/** Who may see a key: its owner, or only where it is for one project. */
export interface KeyHolder extends Actor {
  /** Only keys that are restricted to this project. */
  readonly projectId?: string;
}

/** Which keys of a list are wanted. */
export interface KeyPage {
  /** How many at most. */
  readonly limit: number;
  /** Only those behind this one: made before it, or with it and a lower id. */
  readonly after?: { readonly createdAt: number; readonly id: string };
}

/** A new secret for a key. */
export interface KeyRotation {
  readonly secretHash: string;
  /** Until when the secret before it is good as well, milliseconds since the epoch. */
  readonly previousUntil: number;
}

/** What came of adding a key. Where it is not kept, nothing was written. */
export type KeyCreation =
  | { readonly status: 'kept' }
  /**
   * Its owner has as many as it may. `freeAt`, milliseconds since the epoch, where it has not, but as many have ended as may for the
   * time.
   */
  | { readonly status: 'quota_reached'; readonly freeAt?: number };

/** Where service keys are kept. Each change is written in one transaction with the event that tells it. */
export interface ServiceKeyStore {
  /**
   * Keeps a new key. Its owner's notes on keys that were over `ENDED_MS` before are forgotten.
   * @param most - how many keys that are neither revoked nor expired its owner may have; however many are added at once, there
   * are never more, nor more than `ENDED_PER_LIVING` times as many that were revoked or have expired within `ENDED_MS`. Default: any
   * number
   */
  insert(record: ServiceKeyRecord, event: EventRecord, most?: number): Promise<KeyCreation>;
  /** The key with this public key, revoked ones too. */
  findByPublicKey(publicKey: string): Promise<ServiceKeyRecord | undefined>;
  /** A key that somebody may see. */
  find(id: string, holder: KeyHolder): Promise<ServiceKeyRecord | undefined>;
  /** Wallet of a key, base58, also of a revoked one. */
  ownerOf(id: string): Promise<string | undefined>;
  /** Keys that somebody may see, newest first, revoked ones too. */
  list(holder: KeyHolder, page: KeyPage): Promise<readonly ServiceKeyRecord[]>;
  /** Everybody's keys, newest first, revoked ones too; for operators. */
  listAll(page: KeyPage): Promise<readonly ServiceKeyRecord[]>;
  /** A key by its id, whosever it is; for operators. */
  findAny(id: string): Promise<ServiceKeyRecord | undefined>;
  /**
   * Changes what the owner decides of a key, if it is of that version still and not revoked.
   * @param record - the key as it is to be; its version is the one that it is changed from
   * @param most - how many keys its owner may have beside others that can be used. Default: any number
   * @returns whether it was changed
   */
  update(record: ServiceKeyRecord, event: EventRecord, most?: number): Promise<boolean>;
  /** Gives a key another secret. False when there is no such key, or it is revoked. */
  rotate(id: string, rotation: KeyRotation, event: EventRecord): Promise<boolean>;
  /** Revokes a key at a time, and forgets what it could be used for. False when there is no such key, or it is revoked already. */
  revoke(id: string, at: number, event: EventRecord): Promise<boolean>;
  /** Notes that a key was used at a time, unless that was noted within the last `everyMs`. */
  touch(id: string, at: number, everyMs: number): Promise<void>;
}
