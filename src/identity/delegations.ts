import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { z } from 'zod';
import { TollhouseError } from '../errors/errors.js';
import type { Facilitator } from '../facilitator/types.js';
import { type MaybePromise, whenKnown } from '../lib/maybe-promise.js';
import { resolveOptions } from '../lib/options.js';
import { isAddress } from '../protocol/address.js';
import type { Counters } from '../storage/counters/counters.js';
import { createMemoryCounters } from '../storage/counters/memory-counters.js';
import { CHAIN_NAMES } from './sign-in/chain-names.js';
import { buildSiwsMessage, parseSiwsMessage, type SiwsMessage } from './sign-in/siws-message.js';
import { isSignedBy, readSignature } from './sign-in/wallet-signature.js';

/** Options of {@link createDelegations}. */
export interface DelegationsOptions {
  /** Its network stands in the statements, and what is stated is kept in its storage, or in this process's memory. */
  readonly facilitator: Facilitator;
  /** Host of the site, with a port where it is not 443: a statement is good for it only. */
  readonly domain: string;
  /** Where they are kept. Default: the counters of the facilitator's storage, or this process's memory. */
  readonly counters?: Counters;
  /** How long a delegation lives, in milliseconds. Default 90 days, at most 365. */
  readonly lifeMs?: number;
  /** Clock, milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** A statement as it was signed. */
export interface SignedDelegation {
  /** What {@link Delegations.statement} returned, character by character. */
  readonly message: string;
  /** Ed25519 signature of it by the wallet that is stood for, base58 or base64. */
  readonly signature: string;
}

/**
 * Wallets that stand for others at gates: what a cold wallet holds counts for the wallet that signs in. A wallet stands for one
 * other at most, and has at most one that stands for it: a later statement takes the place of an earlier one.
 */
export interface Delegations {
  /** The statement (Sign In With Solana text) that the cold wallet signs. It may be handed in for ten minutes. */
  statement(wallets: { readonly holder: string; readonly delegate: string }): string;
  /**
   * Takes a signed statement, from the wallet that is to stand for the other and has proven itself, such as `walletOf(req)`.
   * @returns the wallet that it stands for from now on, base58
   * @throws TollhouseError `invalid_delegation`, `store_unavailable`
   */
  accept(delegate: string, signed: SignedDelegation): Promise<string>;
  /** Ends what either wallet has to do with: call it for a wallet that has proven itself. */
  revoke(wallet: string): Promise<void>;
  /** The wallet that a wallet stands for. */
  holderFor(delegate: string): MaybePromise<string | undefined>;
}

const WHERE = 'createDelegations';
const DAY_MS = 86_400_000;
const HAND_IN_MS = 600_000;
const STATEMENT =
  /^Let ([1-9A-HJ-NP-Za-km-z]{32,44}) come in with what this wallet holds\. It moves nothing and can be revoked\.$/;

const delegationsOptions = z.strictObject({
  facilitator: z.custom<Facilitator>((it) => typeof Reflect.get(Object(it), 'network') === 'string', 'a facilitator'),
  domain: z
    .string('the host of the site')
    .regex(/^[-.:[\]A-Za-z0-9]{1,255}$/, 'the host of the site, such as "club.example"'),
  counters: z
    .custom<Counters>((it) => typeof Reflect.get(Object(it), 'takeOnce') === 'function', 'counters')
    .optional(),
  lifeMs: z
    .int('a whole number of milliseconds')
    .min(60_000, 'at least a minute')
    .max(365 * DAY_MS, 'at most 365 days')
    .default(90 * DAY_MS),
  now: z.custom<() => number>((it) => typeof it === 'function', 'a function').default(() => Date.now),
});

/**
 * Makes delegations.
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function createDelegations(options: DelegationsOptions): Delegations {
  const { facilitator, domain, lifeMs, now, ...given } = resolveOptions(WHERE, delegationsOptions, options);
  const counters = given.counters ?? facilitator.storage?.counters ?? createMemoryCounters({ now });
  const chainId = CHAIN_NAMES[facilitator.network];

  function check(delegate: string, { message, signature }: SignedDelegation): SiwsMessage {
    const read = parseSiwsMessage(message);
    if (!read.ok) throw invalid(`it cannot be read: ${read.detail}`);
    const { address, statement = '', issuedAt, expirationTime } = read.value;
    const isOurs = read.value.domain === domain && read.value.chainId === chainId;
    if (!isOurs) throw invalid(`it is for another site or network than ${domain} on ${facilitator.network}`);
    if (STATEMENT.exec(statement)?.[1] !== delegate) throw invalid(`it does not say that ${delegate} may come in`);
    const age = now() - Date.parse(issuedAt);
    if (age < -HAND_IN_MS || age >= HAND_IN_MS) throw invalid('it is older than ten minutes; have a new one signed');
    const life = expirationTime === undefined ? 0 : Date.parse(expirationTime) - now();
    if (life <= 0 || life > lifeMs + HAND_IN_MS) throw invalid('it ends at another time than it was made for');
    const bytes = readSignature(signature);
    if (bytes === undefined || !isSignedBy(address, message, bytes)) throw invalid(`it is not signed by ${address}`);
    return read.value;
  }

  async function revoke(wallet: string): Promise<void> {
    for (const [mine, theirs] of [PLACES, PLACES.toReversed()] as const) {
      const other = await counters.get(`${mine}:${wallet}`);
      await counters.remove(`${mine}:${wallet}`);
      if (other !== undefined && (await counters.get(`${theirs}:${other}`)) === wallet)
        await counters.remove(`${theirs}:${other}`);
    }
  }

  return {
    statement: (wallets) => statementOf(wallets, { domain, chainId, time: now(), lifeMs }),
    async accept(delegate, signed) {
      const { address: holder, nonce, expirationTime = '' } = check(delegate, signed);
      if (!(await counters.takeOnce(`delegation-used:${nonce}`, 3 * HAND_IN_MS)))
        throw invalid('it was handed in before');
      await revoke(delegate);
      await revoke(holder);
      const life = Date.parse(expirationTime) - now();
      await counters.put(`delegate-of:${holder}`, delegate, life);
      await counters.put(`holder-for:${delegate}`, holder, life);
      return holder;
    },
    revoke,
    holderFor: (delegate) =>
      whenKnown(counters.get(`holder-for:${delegate}`), (holder) => {
        if (holder === undefined) return undefined;
        // Both must say so: a cold wallet's latest word counts, whichever wallet it was about.
        return whenKnown(counters.get(`delegate-of:${holder}`), (named) => (named === delegate ? holder : undefined));
      }),
  };
}

interface StatementParts {
  readonly domain: string;
  readonly chainId: string;
  readonly time: number;
  readonly lifeMs: number;
}

function statementOf(
  { holder, delegate }: Parameters<Delegations['statement']>[0],
  { domain, chainId, time, lifeMs }: StatementParts,
): string {
  if (!isAddress(holder) || !isAddress(delegate)) throw invalid('both wallets must be addresses (base58)');
  return buildSiwsMessage({
    domain,
    address: holder,
    statement: `Let ${delegate} come in with what this wallet holds. It moves nothing and can be revoked.`,
    uri: `https://${domain}`,
    version: '1',
    chainId,
    nonce: bs58.encode(randomBytes(16)),
    issuedAt: new Date(time).toISOString(),
    expirationTime: new Date(time + lifeMs).toISOString(),
  });
}

/** Under which keys each wallet of a pair finds the other. */
const PLACES: readonly [string, string] = ['delegate-of', 'holder-for'];

function invalid(detail: string): TollhouseError {
  return new TollhouseError('invalid_delegation', `The statement is not taken: ${detail}.`);
}
