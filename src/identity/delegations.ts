import { createHash, randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { z } from 'zod';
import { TollhouseError } from '../errors/errors.js';
import type { Facilitator } from '../facilitator/types.js';
import { type MaybePromise, whenKnown } from '../lib/maybe-promise.js';
import { resolveOptions } from '../lib/options.js';
import { isAddress } from '../protocol/address.js';
import type { Counters } from '../storage/counters/counters.js';
import { createMemoryCounters } from '../storage/counters/memory-counters.js';
import { createHolderWords } from './holder-words.js';
import { CHAIN_NAMES } from './sign-in/chain-names.js';
import { buildSiwsMessage, MAX_SIWS_LENGTH, parseSiwsMessage, type SiwsMessage } from './sign-in/siws-message.js';
import { isSignedBy, readSignature } from './sign-in/wallet-signature.js';
import { CLOCK_SKEW_MS } from './sign-in-options.js';

/** Options of {@link createDelegations}. */
export interface DelegationsOptions {
  /** Its network stands in the statements, and what is stated is kept in its storage, or in this process's memory. */
  readonly facilitator: Facilitator;
  /** Host of the site, with a port where it is not 443: a statement is good for it only, and what is revoked at it goes on at others. */
  readonly domain: string;
  /** Where they are kept. Default: the counters of the facilitator's storage, or this process's memory. */
  readonly counters?: Counters | undefined;
  /** How long a delegation lives, in milliseconds. Default 90 days, at most 365. In memory the 50,000 used last live. */
  readonly lifeMs?: number | undefined;
  /** Clock, milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
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
 * other at most, and has at most one that stands for it: a statement takes the place of those that were made before it. All that is so at
 * one domain and network; others that share the storage know nothing of it.
 */
export interface Delegations {
  /** The statement (Sign In With Solana text) that the cold wallet signs. It may be handed in for ten minutes. */
  statement(wallets: { readonly holder: string; readonly delegate: string }): string;
  /**
   * Takes a signed statement, from the wallet that is to stand for the other and has proven itself, such as `walletOf(req)`. One that
   * was made before the last that was taken of its holder, or before a revoke, is refused.
   * @param signed - as it came from outside: anything but a statement is refused
   * @returns the wallet that it stands for from now on, base58
   * @throws TollhouseError `invalid_delegation`, `store_unavailable`
   */
  accept(delegate: string, signed: SignedDelegation): Promise<string>;
  /**
   * Ends what the wallet has to do with at this domain and network, as either of two, and what it has signed for them and was not handed in:
   * call it for a wallet that has proven itself.
   */
  revoke(wallet: string): Promise<void>;
  /** The wallet that a wallet stands for. */
  holderFor(delegate: string): MaybePromise<string | undefined>;
  /**
   * Whether a wallet may come in for the one that it stands for, at a place where holdings must last: the first that comes may, and no other
   * until `forMs` after that. What is kept of it may be forgotten early.
   * @param place - the same in every process, at most 100 characters
   */
  comesAlone(
    wallets: { readonly holder: string; readonly delegate: string },
    place: string,
    forMs: number,
  ): Promise<boolean>;
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

const signedDelegation = z.object({ message: z.string().max(MAX_SIWS_LENGTH), signature: z.string().max(128) });

/**
 * Makes delegations.
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function createDelegations(options: DelegationsOptions): Delegations {
  const { facilitator, domain, lifeMs, now, ...given } = resolveOptions(WHERE, delegationsOptions, options);
  const counters = given.counters ?? facilitator.storage?.counters ?? createMemoryCounters({ now });
  const chainId = CHAIN_NAMES[facilitator.network];

  function check(delegate: string, signed: SignedDelegation): SiwsMessage {
    const shape = signedDelegation.safeParse(signed);
    if (!shape.success)
      throw invalid('it must be an object with "message" and "signature", texts of at most 8,192 and 128 characters');
    const { message, signature } = shape.data;
    const read = parseSiwsMessage(message);
    if (!read.ok) throw invalid(`it cannot be read: ${read.detail}`);
    const { address, statement = '', issuedAt, expirationTime } = read.value;
    const isOurs = read.value.domain === domain && read.value.chainId === chainId;
    if (!isOurs) throw invalid(`it is for another site or network than ${domain} on ${facilitator.network}`);
    if (STATEMENT.exec(statement)?.[1] !== delegate) throw invalid(`it does not say that ${delegate} may come in`);
    const age = now() - Date.parse(issuedAt);
    if (age < -CLOCK_SKEW_MS) throw invalid('it was made in the future');
    if (age >= HAND_IN_MS) throw invalid('it is older than ten minutes; have a new one signed');
    const life = expirationTime === undefined ? 0 : Date.parse(expirationTime) - now();
    if (life <= 0 || life > lifeMs + HAND_IN_MS) throw invalid('it ends at another time than it was made for');
    const bytes = readSignature(signature);
    if (bytes === undefined || !isSignedBy(address, message, bytes)) throw invalid(`it is not signed by ${address}`);
    return read.value;
  }

  const site = siteName(facilitator.network, domain);
  const placeOf = (delegate: string): string => `holder-for:${site}:${delegate}`;
  const words = createHolderWords({ counters, site, now, heedMs: HAND_IN_MS + 2 * CLOCK_SKEW_MS });
  let latest = 0;

  /** The time, never the same twice, so that of two things that are said one is later. */
  function tick(): number {
    const time = Math.floor(now());
    latest = latest - time < CLOCK_SKEW_MS ? Math.max(time, latest + 1) : time;
    return latest;
  }

  return {
    statement: (wallets) => statementOf(wallets, { domain, chainId, issuedAt: tick(), endsAt: now() + lifeMs }),
    async accept(delegate, signed) {
      const { address: holder, issuedAt, expirationTime = '' } = check(delegate, signed);
      const [at, endsAt] = [Date.parse(issuedAt), Date.parse(expirationTime)];
      if (!(await words.name(holder, { at, endsAt, delegate }))) {
        throw invalid(`${holder} has said something else since it was made, or revoked; have a new one signed`);
      }
      await counters.put(placeOf(delegate), holder, Math.max(1, endsAt - now()));
      return holder;
    },
    async revoke(wallet) {
      const holder = await counters.get(placeOf(wallet));
      if (holder !== undefined && (await words.delegateOf(holder)) === wallet) await words.revoke(holder, tick());
      await counters.remove(placeOf(wallet));
      await words.revoke(wallet, tick());
    },
    holderFor: (delegate) =>
      whenKnown(counters.get(placeOf(delegate)), (holder) => {
        if (holder === undefined) return undefined;
        // Both must say so: a cold wallet's latest word counts, whichever wallet it was about.
        return whenKnown(words.delegateOf(holder), (named) => (named === delegate ? holder : undefined));
      }),
    comesAlone: (...asked) => comesAlone({ counters, site }, ...asked),
  };
}

async function comesAlone(
  { counters, site }: { readonly counters: Counters; readonly site: string },
  { holder, delegate }: Parameters<Delegations['comesAlone']>[0],
  place: string,
  forMs: number,
): Promise<boolean> {
  const key = `stood-for:${site}:${place}:${holder}`;
  const known = await counters.get(key);
  if (known !== undefined) return known === delegate;
  // Another request of the same wallet may have been quicker.
  return (await counters.replace(key, undefined, delegate, forMs)) || (await counters.get(key)) === delegate;
}

interface StatementParts {
  readonly domain: string;
  readonly chainId: string;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly endsAt: number;
}

function statementOf(
  { holder, delegate }: Parameters<Delegations['statement']>[0],
  { domain, chainId, issuedAt, endsAt }: StatementParts,
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
    issuedAt: new Date(issuedAt).toISOString(),
    expirationTime: new Date(endsAt).toISOString(),
  });
}

/** Short, as keys are bounded. What is kept of one domain and network says nothing at another: who signs a statement reads both in it. */
function siteName(network: string, domain: string): string {
  return createHash('sha256').update(`${network} ${domain}`).digest('base64url').slice(0, 22);
}

function invalid(detail: string): TollhouseError {
  return new TollhouseError('invalid_delegation', `The statement is not taken: ${detail}.`);
}
