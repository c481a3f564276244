import { z } from 'zod';
import { TollhouseError } from '../errors/errors.js';
import type {
  CollectionQuery,
  Holding,
  HoldingQuery,
  LookFurther,
  MintFacts,
} from '../facilitator/holdings/holding.js';
import type { Facilitator } from '../facilitator/types.js';
import { boundedCache } from '../lib/bounded-cache.js';
import { defined } from '../lib/defined.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { resolveOptions } from '../lib/options.js';
import { builtInToken } from '../protocol/networks/tokens.js';
import { createPublicLooks, type LookFor, PUBLIC_LOOKS_PER_SECOND } from './public-looks.js';
import { createStrangerLooks, STRANGER_LOOKS_PER_SECOND } from './stranger-looks.js';

/** Options of {@link createHoldings}. */
export interface HoldingsOptions {
  readonly facilitator: Facilitator;
  /**
   * How old a response may be, in milliseconds: so long a wallet that has given its tokens away still counts as holding them.
   * Default 15,000.
   */
  readonly staleMs?: number | undefined;
  /**
   * How often a second the chain is asked for those who may name any wallet ({@link Holdings.forAnybody}), all together; twice as
   * often for a moment; of one address some half. Default 10.
   */
  readonly publicLooksPerSecond?: number | undefined;
  /**
   * How often a second gates have a wallet looked at by a call of its own that shows less than is asked for (in its associated accounts,
   * which many share a call for) and was not seen holding that much: wallets cost nothing, and dust in them next to nothing. Four times
   * as often for a moment; of one address some half. Beyond that such a wallet is answered what was found in the last ten minutes, or
   * 503. Default 5.
   */
  readonly strangerLooksPerSecond?: number | undefined;
  /** Clock in milliseconds, never going back. Default `performance.now`. */
  readonly now?: (() => number) | undefined;
}

/** A question, and who has it asked. */
export type AskedBy<Query> = Query & {
  /** What names the address that a wallet comes from, an IPv6 one by its network. Default: not known, and no address has a share. */
  readonly client?: string | undefined;
  /** From how much on a wallet that comes to a gate is no stranger there. Default `atLeast`, or without it whatever it holds. */
  readonly countsFrom?: bigint | undefined;
  /** Whether what is remembered as less than `atLeast` is looked up again, where anybody may ask. Default: no. */
  readonly looksAgain?: boolean | undefined;
};

/** What is looked up of tokens and wallets. What is remembered is answered without a promise. */
export interface Lookups {
  /**
   * Decimals and token program of a mint; undefined when the address is none.
   * @param client - what names the address of who asks. Default: not known, and no address has a share
   */
  readMint(mint: string, client?: string): MaybePromise<MintFacts | undefined>;
  /** What a wallet holds, over all its token accounts. */
  readHolding(query: AskedBy<HoldingQuery>): MaybePromise<Holding>;
}

/**
 * What wallets hold, remembered for a stated time. Rejects with `chain_unavailable` when the chain cannot be asked, or is not for a stranger
 * beyond `strangerLooksPerSecond`, and with `wallet_too_large` when a wallet has more token accounts than are looked at.
 */
export interface Holdings extends Lookups {
  /** How old a response may be, in milliseconds. */
  readonly staleMs: number;
  /** How many NFTs of a collection a wallet holds. A collection that is another object is another collection. */
  readCollection(query: AskedBy<CollectionQuery>): MaybePromise<Holding>;
  /**
   * The same for callers who may name any wallet and any token, and so have the chain asked as often as they like: what has to be
   * looked up rejects with `rate_limited` beyond `publicLooksPerSecond`, or what of that an address has. What is remembered of them is answered always.
   */
  readonly forAnybody: Lookups;
}

const MAX_REMEMBERED = 50_000;
const MAX_MINTS = 1_000;
const MAX_STALE_MS = 86_400_000;

const holdingsOptions = z.strictObject({
  facilitator: z.custom<Facilitator>(
    (it) => typeof Reflect.get(Object(it), 'readHolding') === 'function',
    'a facilitator, made by createFacilitator',
  ),
  staleMs: z
    .int('a whole number of milliseconds')
    .min(0, 'at least 0')
    .max(MAX_STALE_MS, `at most ${MAX_STALE_MS}`)
    .default(15_000),
  publicLooksPerSecond: z.number('a number above 0').positive('a number above 0').default(PUBLIC_LOOKS_PER_SECOND),
  strangerLooksPerSecond: z.number('a number above 0').positive('a number above 0').default(STRANGER_LOOKS_PER_SECOND),
  now: z.custom<() => number>((it) => typeof it === 'function', 'a function').default(() => () => performance.now()),
});

/** One look at the chain, under way or done. */
interface Look {
  readonly atLeast: bigint | undefined;
  readonly startedAt: number;
  readonly holding: Promise<Holding>;
  /** What came of it, once that is known. */
  found?: Holding;
}

/** A question about a wallet. */
interface Question {
  /** The same for questions that one look answers. */
  readonly key: string;
  readonly atLeast: bigint | undefined;
  /** Whether what is remembered as less than that is looked up again. */
  readonly looksAgain?: boolean;
  ask(): Promise<Holding>;
}

/** What the chain said of a mint. */
interface KnownMint {
  readonly startedAt: number;
  readonly facts: MintFacts;
}

const forGates: LookFor = (look) => look();

/**
 * Remembers what wallets hold, nothing included. One look at a wallet and mint is under way at a time; whoever asks
 * meanwhile shares it. A failed look is not remembered, and no response is ever older than `staleMs`.
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function createHoldings(options: HoldingsOptions): Holdings {
  const resolved = resolveOptions('createHoldings', holdingsOptions, options);
  const { facilitator, staleMs, publicLooksPerSecond, strangerLooksPerSecond, now } = resolved;
  const mints = boundedCache<string, KnownMint>({ max: MAX_MINTS });
  const answer = createLooks({ staleMs, now });
  const nameOf = createNames();
  const forAll = createPublicLooks({ perSecond: publicLooksPerSecond, now });
  const lookForGate = createStrangerLooks({ perSecond: strangerLooksPerSecond, now });

  function readMint(mint: string, lookFor: LookFor, client?: string): MaybePromise<MintFacts | undefined> {
    const known = mints.get(mint);
    return known !== undefined && now() - known.startedAt < staleMs ? known.facts : askForMint(mint, lookFor, client);
  }

  async function askForMint(mint: string, lookFor: LookFor, client?: string): Promise<MintFacts | undefined> {
    const startedAt = now();
    const isFree = builtInToken(mint) !== undefined;
    const facts = await (isFree ? forGates : lookFor)(() => facilitator.readMint(mint), client);
    // An address that is no mint yet may become one.
    if (facts !== undefined) mints.set(mint, { startedAt, facts });
    return facts;
  }

  function nameOfMints(mints: readonly string[]): string {
    const [only] = mints;
    return mints.length === 1 && only !== undefined ? only : nameOf(mints);
  }

  function readHolding({ client, countsFrom, wallet, mints, atLeast }: AskedBy<HoldingQuery>): MaybePromise<Holding> {
    const key = `${wallet} ${nameOfMints(mints)}`;
    const ask = (lookFurther?: LookFurther) =>
      facilitator.readHolding({ wallet, mints, ...defined({ atLeast, lookFurther }) });
    return answer({ key, atLeast, ask: () => lookForGate({ key, client, countsFrom: countsFrom ?? atLeast, ask }) });
  }

  /** What strangers ask for takes nothing from what gates remember, and no gate waits for it. */
  function readPublicHolding({
    client,
    countsFrom: _gates,
    looksAgain = false,
    ...query
  }: AskedBy<HoldingQuery>): MaybePromise<Holding> {
    const key = `${query.wallet} ${nameOfMints(query.mints)} public`;
    const ask = () => forAll(() => facilitator.readHolding(query), client);
    return answer({ key, atLeast: query.atLeast, looksAgain, ask });
  }

  function readCollection({
    client,
    countsFrom,
    wallet,
    collection,
    atLeast,
  }: AskedBy<CollectionQuery>): MaybePromise<Holding> {
    const key = `${wallet} ${nameOf(collection)}`;
    const ask = (lookFurther?: LookFurther) =>
      facilitator.readCollection({ wallet, collection, ...defined({ atLeast, lookFurther }) });
    return answer({ key, atLeast, ask: () => lookForGate({ key, client, countsFrom: countsFrom ?? atLeast, ask }) });
  }

  return {
    staleMs,
    readMint: (mint) => readMint(mint, forGates),
    readHolding,
    readCollection,
    forAnybody: { readMint: (mint, client) => readMint(mint, forAll, client), readHolding: readPublicHolding },
  };
}

/** Answers questions about wallets from what is remembered, or by a look that all who ask the same share. */
function createLooks({ staleMs, now }: { readonly staleMs: number; readonly now: () => number }) {
  const looks = boundedCache<string, Look>({ max: MAX_REMEMBERED });

  function look({ key, atLeast, ask }: Question): Promise<Holding> {
    const startedAt = now();
    const started: Look = { atLeast, startedAt, holding: ask() };
    looks.set(key, started);
    started.holding.then(
      (found) => {
        started.found = found;
      },
      () => {
        if (looks.peek(key) === started) looks.delete(key);
      },
    );
    return started.holding;
  }

  const mayAnswer = ({ startedAt, found }: Look, { looksAgain = false, atLeast = 0n }: Question): boolean =>
    now() - startedAt < staleMs && !(looksAgain && found !== undefined && found.amount < atLeast);

  async function waitFor(question: Question): Promise<Holding> {
    for (;;) {
      const known = looks.get(question.key);
      if (known === undefined || !mayAnswer(known, question)) return look(question);
      const holding = await known.holding.catch((error: unknown) => {
        if (isOfWiderLook(error, known, question)) return undefined;
        throw error;
      });
      if (holding !== undefined && suffices(holding, question)) return holding;
      // It looked for less, or for more. Whoever comes first looks again, the others share that look.
      const latest = looks.peek(question.key);
      if (latest === known || latest === undefined) return look(question);
    }
  }

  return (question: Question): MaybePromise<Holding> => {
    const known = looks.get(question.key);
    const found = known?.found;
    if (known !== undefined && found !== undefined && mayAnswer(known, question) && suffices(found, question))
      return found;
    return waitFor(question);
  };
}

const shared = new WeakMap<Facilitator, Holdings>();

/** The holdings that all gates on a facilitator share unless they are given others. */
export function holdingsOf(facilitator: Facilitator): Holdings {
  const holdings = shared.get(facilitator) ?? createHoldings({ facilitator });
  shared.set(facilitator, holdings);
  return holdings;
}

function suffices({ amount, exact }: Holding, { atLeast }: Pick<Question, 'atLeast'>): boolean {
  return exact || (atLeast !== undefined && amount >= atLeast);
}

/** Whether a look that was shared failed since it wanted to know of more: one account may answer the question. */
function isOfWiderLook(error: unknown, { atLeast: wanted }: Look, { atLeast }: Question): boolean {
  return error instanceof TollhouseError && error.code === 'wallet_too_large' && atLeast !== wanted;
}

/** A short name for what may be a collection of thousands of mints: the same object has the same name. */
function createNames(): (named: object) => string {
  const numbers = new WeakMap<object, number>();
  let last = 0;
  return (named) => {
    const number = numbers.get(named) ?? last++;
    numbers.set(named, number);
    return `#${number}`;
  };
}
