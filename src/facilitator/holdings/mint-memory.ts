import { badOption, type TollhouseError } from '../../errors/errors.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import { isBuiltIn, SOL } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import type { LoadAccount } from '../../solana/accounts/account-batch.js';
import { type MintFacts, mintFactsOf } from '../../solana/accounts/token-accounts.js';

/** What is known of a mint; undefined when the address is none. Rejects with `bad_option` where `tokens` says something else. */
export type FindMint = (mint: string) => Promise<MintFacts | undefined>;

/** What is known of mints. */
export interface MintMemory {
  readonly find: FindMint;
  /**
   * What the chain has said against a token of `tokens`. Where it was not asked yet, it is now, and nobody waits: undefined is the
   * answer meanwhile.
   */
  fault(mint: string): TollhouseError | undefined;
}

const MINTS_REMEMBERED = 10_000;
const MINT_MEMORY_MS = 300_000;
/** An address that is no mint yet may become one. */
const NO_MINT_MEMORY_MS = 15_000;

/**
 * Remembers mints. The tokens that everybody knows cost no call; what else stands in `tokens` is believed as far as the chain
 * says the same, since amounts would be off by powers of ten.
 */
export function createMintMemory(load: LoadAccount, tokens: readonly Token[]): MintMemory {
  const known = new Map<string, MintFacts>([SOL, ...tokens.filter(isBuiltIn)].map((token) => [token.mint, token]));
  const declared = tokens.filter((token) => !isBuiltIn(token));
  const isDeclared = (mint: string): boolean => declared.some((token) => token.mint === mint);
  const faults = new Map<string, TollhouseError>();
  const read = boundedCache<string, MintFacts | 'none'>({
    max: MINTS_REMEMBERED,
    ttl: MINT_MEMORY_MS,
    async fetchMethod(mint, _stale, { options }) {
      const facts = mintFactsOf(await load(mint));
      if (facts === undefined) options.ttl = NO_MINT_MEMORY_MS;
      return facts ?? 'none';
    },
  });

  /** A mint may stand among the tokens under several symbols. */
  function note(mint: string, facts: MintFacts): void {
    const fault = declared
      .filter((token) => token.mint === mint)
      .map((token) => faultOf(token, facts))
      .find(isFault);
    if (fault === undefined) return void faults.delete(mint);
    faults.set(mint, fault);
    throw fault;
  }

  async function find(mint: string): Promise<MintFacts | undefined> {
    // What is declared otherwise than everybody knows it is asked about.
    const facts = (isDeclared(mint) ? undefined : known.get(mint)) ?? (await read.fetch(mint));
    if (facts === undefined || facts === 'none') return undefined;
    note(mint, facts);
    return facts;
  }

  return {
    find,
    fault(mint) {
      // An outage is told to whoever waits for an answer.
      if (isDeclared(mint) && !read.has(mint)) find(mint).catch(() => undefined);
      return faults.get(mint);
    },
  };
}

function faultOf(token: Token, { decimals, program }: MintFacts): TollhouseError | undefined {
  const where = `createFacilitator: option "tokens": ${token.symbol} (${token.mint})`;
  if (token.decimals !== decimals) {
    const detail = `it has ${decimals} decimals on the chain, not ${token.decimals}; correct "decimals"`;
    return badOption(where, detail, 'tokens');
  }
  if (token.program === program) return undefined;
  return badOption(where, `it belongs to the program ${program} on the chain, not to ${token.program}`, 'tokens');
}

function isFault(fault: TollhouseError | undefined): fault is TollhouseError {
  return fault !== undefined;
}
