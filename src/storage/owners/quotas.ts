import { TollhouseError } from '../../errors/errors.js';

/** What one wallet may own. */
export interface Quotas {
  /** Projects that are not deleted; of those {@link ENDED_PER_LIVING} times as many within {@link ENDED_MS}. Default 20. */
  readonly projects: number;
  /** Service keys that are neither revoked nor expired; of those the same. Default 50. */
  readonly keys: number;
  /** Webhooks, disabled ones too. Default 20. */
  readonly webhooks: number;
  /** Bytes of a project as JSON, its OpenAPI document included. Default 65,536. */
  readonly projectBytes: number;
  /** Changes within {@link CHANGES_MS}: each request of it, or of a key of it, that may change something and was not refused. Default 2,000. */
  readonly dailyChanges: number;
  /** Payment requests that its keys make within a day, UTC, and nobody pays. Default 10,000. */
  readonly unpaidRequests: number;
}

/** The time within which those are counted, in milliseconds: a day of UTC. */
export const REQUESTS_MS = 86_400_000;

/** As many payment requests that nobody pays as so many wallets may have are made in a day by all together. */
export const UNPAID_WALLETS = 5;

/** The time within which the changes of a wallet are counted, from the first of them on, in milliseconds: a day. */
export const CHANGES_MS = 86_400_000;

/** As many changes as so many wallets make come from one address. */
export const ADDRESS_WALLETS = 5;

/** How many projects and keys of a wallet may end within {@link ENDED_MS}, for each that it may have: what is kept of them has a bound too. */
export const ENDED_PER_LIVING = 5;

/** The time within which those are counted that have ended, in milliseconds: 30 days. */
export const ENDED_MS = 30 * 86_400_000;

/** What a wallet may own unless something else is said. */
export const DEFAULT_QUOTAS: Quotas = {
  projects: 20,
  keys: 50,
  webhooks: 20,
  projectBytes: 65_536,
  dailyChanges: 2_000,
  unpaidRequests: 10_000,
};

/** What operators may say of one wallet. */
export interface OwnerLimits extends Quotas {
  /** How much of the network fees of an hour payments for what it sells may use, in percent, 1 to 100. */
  readonly feePercent: number;
}

/** The part of the network fees of an hour that nobody may pass, unless an operator says so. */
export const DEFAULT_FEE_PERCENT = 20;

/** What a wallet has, and not what it does. */
type Owned = Exclude<keyof Quotas, 'dailyChanges' | 'unpaidRequests'>;

/** What to do, by quota. */
const REMEDIES: Readonly<Record<Owned, (most: number) => string>> = {
  projects: (most) => `One wallet may have ${most} projects here: delete one`,
  keys: (most) => `One wallet may have ${most} service keys here: revoke one`,
  webhooks: (most) => `One wallet may have ${most} webhooks here: delete one`,
  projectBytes: (most) =>
    `A project may have ${most} bytes here, its OpenAPI document included: make its texts shorter`,
};

/** What has ended too often, by quota. */
const ENDED: Readonly<Record<'projects' | 'keys', (most: number) => string>> = {
  projects: (most) => `One wallet may delete ${most} projects within 30 days here`,
  keys: (most) => `Of one wallet ${most} service keys may be revoked or expire within 30 days here`,
};

/** Names of the quotas for clients. */
const WIRE_NAMES: Readonly<Record<Owned, string>> = {
  projects: 'projects',
  keys: 'keys',
  webhooks: 'webhooks',
  projectBytes: 'project_bytes',
};

/**
 * The error for a wallet that owns as much as it may.
 * @param quota - which is used up; goes into `param` as clients know it
 * @param most - how much it is
 */
export function quotaReached(quota: Owned, most: number): TollhouseError {
  const detail = `${REMEDIES[quota](most)}, or ask the operator of this service for more.`;
  return new TollhouseError('quota_reached', detail, { param: WIRE_NAMES[quota] });
}

/**
 * The error for a wallet of which as many have ended as may.
 * @param most - how many it may have at a time
 * @param freeAt - when it may make another, milliseconds since the epoch
 */
export function endedTooMany(quota: keyof typeof ENDED, most: number, freeAt: number): TollhouseError {
  const next = `make the next one from ${new Date(freeAt).toISOString()} on, or ask the operator of this service for more.`;
  const detail = `${ENDED[quota](most * ENDED_PER_LIVING)}: ${next}`;
  return new TollhouseError('quota_reached', detail, { param: WIRE_NAMES[quota] });
}

/** Of whom there are as many changes as may be. */
export interface UsedUpChanges {
  /** How many that are. */
  readonly most: number;
  readonly whose: 'wallet' | 'address';
  /** In how many milliseconds the next one may be made. */
  readonly waitMs: number;
}

const CHANGERS = {
  wallet: (most: number) => `One wallet may make ${most} changes a day here, its keys included`,
  address: (most: number) =>
    `All wallets at one address, or in the network around it, may make ${most} changes a day here`,
};

/** The error for who has made as many changes as he may. */
export function changesUsedUp({ most, whose, waitMs }: UsedUpChanges): TollhouseError {
  const detail = `${CHANGERS[whose](most)}, and nothing was changed now. Retry-After tells when to make the next one, or ask the operator of this service for more.`;
  return new TollhouseError('rate_limited', detail, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
}

/** Of whom there are too many payment requests that nobody has paid. */
export interface UnpaidRequests {
  /** How many there may be. */
  readonly most: number;
  readonly whose: 'wallet' | 'address';
  /** Whether that is a share of what all may have together. */
  readonly isShare: boolean;
  /** In how many milliseconds there may be more. */
  readonly waitMs: number;
}

/** The error for who has asked for as many payments as may stay unpaid. */
export function requestsUsedUp({ most, whose, isShare, waitMs }: UnpaidRequests): TollhouseError {
  const why = isShare ? ' while there are so many of all together' : '';
  const detail = `One ${whose} may ask for ${most} payments a day here that nobody makes${why}, and none was asked for now. Those that are paid do not count. Retry-After tells when to ask for the next one, or ask the operator of this service for more.`;
  return new TollhouseError('rate_limited', detail, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
}
