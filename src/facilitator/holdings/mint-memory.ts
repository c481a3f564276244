import { LRUCache } from 'lru-cache';
import { badOption } from '../../errors/errors.js';
import { isBuiltIn } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import type { LoadAccount } from '../../solana/accounts/account-batch.js';
import { type MintFacts, mintFactsOf } from '../../solana/accounts/token-accounts.js';

/** What is known of a mint; undefined when the address is none. Rejects with `bad_option` where `tokens` says something else. */
export type FindMint = (mint: string) => Promise<MintFacts | undefined>;

const MINTS_REMEMBERED = 10_000;
const MINT_MEMORY_MS = 300_000;
/** An address that is no mint yet may become one. */
const NO_MINT_MEMORY_MS = 15_000;

/**
 * Remembers mints. The tokens that everybody knows cost no call; what else stands in `tokens` is believed as far as the chain
 * says the same, since amounts would be off by powers of ten.
 */
export function createMintMemory(load: LoadAccount, tokens: readonly Token[]): FindMint {
  const known = new Map<string, MintFacts>(tokens.filter(isBuiltIn).map((token) => [token.mint, token]));
  const read = new LRUCache<string, MintFacts | 'none'>({
    max: MINTS_REMEMBERED,
    ttl: MINT_MEMORY_MS,
    async fetchMethod(mint, _stale, { options }) {
      const facts = mintFactsOf(await load(mint));
      if (facts === undefined) options.ttl = NO_MINT_MEMORY_MS;
      return facts ?? 'none';
    },
  });
  return async (mint) => {
    const facts = known.get(mint) ?? (await read.fetch(mint));
    if (facts === undefined || facts === 'none') return undefined;
    const declared = tokens.find((token) => token.mint === mint);
    if (declared !== undefined) checkDeclared(declared, facts);
    return facts;
  };
}

function checkDeclared(token: Token, { decimals, program }: MintFacts): void {
  const where = `createFacilitator: option "tokens": ${token.symbol} (${token.mint})`;
  if (token.decimals !== decimals) {
    throw badOption(
      where,
      `it has ${decimals} decimals on the chain, not ${token.decimals}; correct "decimals"`,
      'tokens',
    );
  }
  if (token.program !== program) {
    throw badOption(where, `it belongs to the program ${program} on the chain, not to ${token.program}`, 'tokens');
  }
}
