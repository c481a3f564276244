import { z } from 'zod';
import { isBaseUrl } from '../../lib/http/base-url.js';
import type { NetworkId } from '../../protocol/types.js';
import type { IdempotencyStore } from '../../storage/idempotency/idempotency-store.js';
import type { Ledger } from '../../storage/ledger/ledger.js';
import type { Storage } from '../../storage/storage.js';
import {
  checkOption,
  idempotencyOption,
  ledgerOption,
  milliseconds,
  networkOption,
  storageOption,
  type TokenInput,
  tokensOption,
} from '../facilitator-options.js';
import { addressShareOption, paymentsInFlightOption } from '../payments/payments-in-flight.js';
import type { RemoteHeaders } from './remote-client.js';

/** Options of {@link remoteFacilitator}. */
export interface RemoteFacilitatorOptions {
  /**
   * Address of the facilitator, without `/verify`: `https://facilitator.example.com/x402`. With several, the first that
   * answers is offered to payers. A payment is settled only where its fee payer is at home; where several share a fee
   * payer, the next one is asked when one cannot be reached, but never once a settlement may have begun elsewhere.
   */
  readonly url: string | readonly string[];
  /** The cluster that payments are taken on. */
  readonly network: NetworkId;
  /**
   * Solana RPC of the network, or several in order of preference. It is asked what became of a payment when the
   * facilitator's word is not enough: its response was lost, it does not know, or it refuses what it may have settled.
   * Default: none, and the facilitator's word is all there is.
   */
  readonly rpcUrl?: string | readonly string[] | undefined;
  /** What `openStorage` answered: its `ledger` and `answers`. It is not closed with the facilitator. */
  readonly storage?: Storage | undefined;
  /** Where payments are remembered. Default: that of `storage`, or this process's memory, one for all its remote facilitators on the network. */
  readonly ledger?: Ledger | undefined;
  /** Where paid responses are kept that can be asked for again by their `payment-identifier`. Default: those of `storage`, or this process's memory, at most 64 MiB. */
  readonly idempotency?: IdempotencyStore | undefined;
  /** Tokens that can be asked for by symbol. Default: the known ones of the network. */
  readonly tokens?: readonly TokenInput[] | undefined;
  /** Headers for each call, for instance an API key; or a function of the call that answers them. Default: none. */
  readonly headers?: RemoteHeaders | undefined;
  /** Longest wait for a response of `/supported`, `/verify` and of the RPC, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Longest wait for the response of `/settle`, in milliseconds; five seconds more than the terms' `maxTimeoutSeconds` where
   * that is less. Then the outcome is "pending". Default 65,000.
   */
  readonly settleTimeoutMs?: number | undefined;
  /** How many payments may be under way at once; as for createFacilitator. Default 500. */
  readonly maxPaymentsInFlight?: number | undefined;
  /** What share of those one client address may have; as for createFacilitator. Default 0.5. */
  readonly maxAddressShare?: number | undefined;
  /**
   * Whether the set-up is looked at in the background once a gate is used: what `facilitator.check()` would find is told once, as
   * a warning with a code such as `TOLLHOUSE_RECIPIENT_ACCOUNT_MISSING`. Default true.
   */
  readonly check?: boolean | undefined;
  /** Clock, milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Who pays refunds, as it pays no network fees and has no transaction of its own. */
export const WHO_REFUNDS = 'give a createFacilitator with the same storage the option "refunds"';

const ADDRESS = 'the http(s) address of a facilitator, without user, query or fragment';

const rpcAddress = z.url({ protocol: /^https?$/, error: 'an http(s) address' });
const url = z.string(ADDRESS).refine(isBaseUrl, ADDRESS);

/** Schema of {@link RemoteFacilitatorOptions}; the defaults stand here. */
export const remoteFacilitatorOptions = z.strictObject({
  url: z.union([url, z.array(url).min(1, ADDRESS).readonly()], `${ADDRESS}, or a list of them`),
  network: networkOption,
  rpcUrl: z
    .union([rpcAddress, z.array(rpcAddress).min(1, 'an address').readonly()], 'an http(s) address, or a list of them')
    .optional(),
  storage: storageOption,
  refunds: z.undefined(`left out: ${WHO_REFUNDS}`).optional(),
  ledger: ledgerOption,
  idempotency: idempotencyOption,
  tokens: tokensOption,
  headers: z.custom<RemoteHeaders>(isHeaders, 'an object of header texts, or a function that answers one').optional(),
  timeoutMs: milliseconds.default(10_000),
  settleTimeoutMs: milliseconds.default(65_000),
  maxPaymentsInFlight: paymentsInFlightOption,
  maxAddressShare: addressShareOption,
  check: checkOption,
  now: z
    .custom<() => number>((it) => typeof it === 'function', 'a function that answers the time')
    .default(() => Date.now),
});

function isHeaders(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return typeof value === 'object' && value !== null && Object.values(value).every((it) => typeof it === 'string');
}
