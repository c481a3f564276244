import { KNOWN_TOKENS, NATIVE_TOKEN, SANDBOX_TOKENS } from '../../protocol/networks/tokens.js';
import type { NetworkId, Token } from '../../protocol/types.js';

/** A token of the books by its mint: SOL, the operator's own, or a well-known one. */
export function findToken(mint: string, network: NetworkId, tokens: readonly Token[]): Token | undefined {
  return [NATIVE_TOKEN, ...tokens, ...KNOWN_TOKENS[network], ...SANDBOX_TOKENS].find((token) => token.mint === mint);
}
