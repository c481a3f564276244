import type { Share } from '../../protocol/money/split.js';
import type { MoneyMode } from '../../protocol/networks/networks.js';
import type { NetworkId } from '../../protocol/types.js';
import type { EventRecord } from '../events/events.js';
import { ENDED_MS } from '../owners/quotas.js';
import type { CallPrice } from './call-price.js';
import type { FreeCallRule, ProjectRoute } from './project-routes.js';

/** Whether calls of a project are served. Of a deleted one is kept what its payments and figures need; it is shown to nobody. */
export type ProjectState = 'active' | 'paused' | 'deleted';

/** A share of what a project earns. */
export interface ProjectShare extends Share {
  /** Whose it is, for people. */
  readonly label?: string;
}

/** Where the calls of a project go. */
export interface ProjectUpstream {
  readonly url: string;
  /** How long its response may take, in milliseconds. */
  readonly timeoutMs: number;
  /** How often a GET or HEAD that got no byte of a response is sent again, 0 to 3. Default {@link DEFAULT_RETRIES}. */
  readonly retries?: number;
  /** Header fields that are added to each call, by name in lower case. */
  readonly headers?: SealedTexts;
  /** Parameters that are added to the query of each call. */
  readonly query?: SealedTexts;
  /** Where it tells that it is well. Default: nobody looks. */
  readonly health?: UpstreamHealth;
}

/** Secrets by name, each encrypted: stores hold nothing else. */
export type SealedTexts = Readonly<Record<string, string>>;

/** How often a call is repeated that got no byte of a response, unless its project says something else. */
export const DEFAULT_RETRIES = 1;

/** How an upstream is looked at. */
export interface UpstreamHealth {
  /** Begins with `/`; appended to the upstream's address. */
  readonly path: string;
  /** From one look to the next, in milliseconds. */
  readonly intervalMs: number;
}

/** What a call costs where no route says something else. */
export interface ProjectPrice extends CallPrice {
  readonly network: NetworkId;
  /** Statuses beside 2xx and 3xx that are charged. */
  readonly chargeOn?: readonly ChargedStatus[];
}

/** A status from 400 on, or all statuses of a hundred. */
export type ChargedStatus = number | '4xx' | '5xx';

/** What a project's upstream bears. */
export interface ProjectLimits {
  /** Calls in a second. */
  readonly perSecond: number;
  /** Calls at once. */
  readonly concurrent: number;
  /** Longest body of a call, in bytes. */
  readonly maxBodyBytes: number;
}

/** A call as the owner shows it to others. */
export interface ProjectExample {
  readonly method: string;
  /** Below `/v1/<slug>`: empty, or beginning with `/`; a query may follow. */
  readonly path: string;
  /** JSON. */
  readonly body?: unknown;
}

/** What an owner decides about a project, defaults filled in. */
export interface ProjectSettings {
  /** Its name in `/v1/<slug>`. */
  readonly slug: string;
  readonly name: string;
  readonly description?: string;
  readonly upstream: ProjectUpstream;
  readonly price: ProjectPrice;
  /** At least one; they sum to 10,000. */
  readonly split: readonly ProjectShare[];
  readonly limits: ProjectLimits;
  /**
   * Listed ones are in the marketplace; unlisted ones are there for whoever knows them; private ones are there for their owner and
   * those `allowed`, and for nobody else.
   */
  readonly visibility: 'listed' | 'unlisted' | 'private';
  /** Wallets, base58, and ids of service keys that may call it while it is private. Default: none. */
  readonly allowed?: readonly string[];
  /** In lower case. */
  readonly tags: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly example?: ProjectExample;
  /** What calls of some paths cost; the first that matches decides. Default: all have the project's price. */
  readonly routes?: readonly ProjectRoute[];
  /** Calls that each key has without paying. Default: none. */
  readonly freeCalls?: FreeCallRule;
}

/** An upstream behind a price, and whose it is. */
export interface ProjectRecord extends ProjectSettings {
  /** `prj_` and base58 of 16 random bytes. */
  readonly id: string;
  /** Wallet, base58. */
  readonly owner: string;
  readonly state: ProjectState;
  /** Signs what the gateway sends upstream. */
  readonly secret: string;
  /** The one before, until the upstream has learnt the new one. */
  readonly previousSecret?: string;
  /** When the previous secret ends, milliseconds since the epoch. */
  readonly previousSecretUntil?: number;
  /** 1, and one more with every change. */
  readonly version: number;
  /** When its upstream was last looked at, milliseconds since the epoch; read by owner and slug, and not written with the project. */
  readonly upstreamCheckedAt?: number;
  /** Since when its upstream is known not to answer, the same. */
  readonly upstreamDownSince?: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** A project's own OpenAPI document; undefined for none. Kept apart, for it is long and seldom needed. */
export type ProjectOpenApi = Readonly<Record<string, unknown>> | undefined;

/** Where a list goes on: after this project. */
export interface ProjectPlace {
  readonly createdAt: number;
  readonly id: string;
}

/**
 * How the marketplace is ordered. `calls`: by how many wallets have paid for its calls, most first, its owner's not counted: what
 * one wallet pays itself, however often, is one at most. `price`: lowest first. `new`: newest first.
 */
export type MarketSort = 'calls' | 'price' | 'new';

/** What is looked for in the marketplace. */
export interface MarketQuery {
  /** Each must occur in name, description, slug or tags. In lower case, at most {@link MAX_WORDS}. */
  readonly words: readonly string[];
  /** In lower case. */
  readonly tag?: string;
  /** Symbol in capitals, or mint. */
  readonly token?: string;
  /** Least and most of the lowest price of a project, in the token's own unit, as {@link priceKey} writes it. */
  readonly minPrice?: string;
  readonly maxPrice?: string;
  /** Default: what is sold for money and what is sold for test money. */
  readonly mode?: MoneyMode;
  readonly sort: MarketSort;
  /** Start of the day of UTC from which on payers are counted for the order, milliseconds since the epoch. */
  readonly since: number;
  readonly after?: { readonly rank: number | string; readonly id: string };
  readonly limit: number;
}

/** A listed project and the value by which it was ordered: payers, {@link priceKey}, or when it was created. */
export interface MarketEntry {
  readonly project: ProjectRecord;
  readonly rank: number | string;
}

/** Most words of one search. */
export const MAX_WORDS = 8;

/** Most decimal places of a token that projects can be priced in. */
export const MAX_PRICE_DECIMALS = 18;
const WHOLE_DIGITS = 20;

/** A decimal amount as text that is ordered as its value is: at most {@link MAX_PRICE_DECIMALS} decimals. */
export function priceKey(amount: string): string {
  const [whole = '', fraction = ''] = amount.split('.');
  return `${whole.padStart(WHOLE_DIGITS, '0')}.${fraction.padEnd(MAX_PRICE_DECIMALS, '0')}`;
}

/** How long the slug of a deleted project is kept for its owner, in milliseconds: as long as it counts among those that have ended. Then it is free. */
export const SLUG_REST_MS = ENDED_MS;

/** What came of adding a project. Where it was not created, nothing was written. */
export type ProjectCreation =
  | { readonly status: 'created' }
  /** `freeAt`, milliseconds since the epoch, where the project that had the slug is deleted. */
  | { readonly status: 'slug_taken'; readonly freeAt?: number }
  /**
   * The owner has as many as it may. `freeAt`, milliseconds since the epoch, where it has not, but has deleted as many as it may
   * for the time.
   */
  | { readonly status: 'quota_reached'; readonly freeAt?: number };

/**
 * Projects. Every change is written together with its events, all or nothing. Rejects with `store_unavailable` when the
 * database does not answer.
 */
export interface ProjectStore {
  /**
   * Adds a project. The slug of a deleted one can be taken again by its owner, and by others after {@link SLUG_REST_MS}.
   * @param most - how many projects, deleted ones not counted, its owner may have; however many are added at once, there are
   * never more, nor more than `ENDED_PER_LIVING` times as many that it has deleted within {@link SLUG_REST_MS}. Default:
   * any number
   */
  create(
    project: ProjectRecord,
    openapi: ProjectOpenApi,
    events: readonly EventRecord[],
    most?: number,
  ): Promise<ProjectCreation>;
  /**
   * Puts a project in the place of its version before (`version` - 1).
   * @param openapi - `'keep'` leaves the document as it is
   * @returns false when there is another version by now, or the project is deleted; then nothing was written
   */
  replace(project: ProjectRecord, openapi: ProjectOpenApi | 'keep', events: readonly EventRecord[]): Promise<boolean>;
  /** A project that is not deleted. */
  find(id: string): Promise<ProjectRecord | undefined>;
  /** A project that is not deleted, by its slug. */
  findBySlug(slug: string): Promise<ProjectRecord | undefined>;
  /** Wallet (base58) and network of a project, also of a deleted one; undefined where there was none. */
  originOf(id: string): Promise<(Pick<ProjectRecord, 'owner'> & Pick<ProjectPrice, 'network'>) | undefined>;
  /** The OpenAPI document of a project. */
  openApiOf(id: string): Promise<ProjectOpenApi>;
  /** An owner's projects that are not deleted, newest first. */
  list(owner: string, limit: number, after?: ProjectPlace): Promise<readonly ProjectRecord[]>;
  /** Everybody's projects that are not deleted, newest first; for operators. */
  listAll(limit: number, after?: ProjectPlace): Promise<readonly ProjectRecord[]>;
  /** Active, listed projects, none that is suspended by itself or with its owner, or whose upstream is down. */
  market(query: MarketQuery): Promise<readonly MarketEntry[]>;
}
