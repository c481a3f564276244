import { formatAmount } from '../../protocol/money/money.js';
import { KNOWN_TOKENS, NATIVE_TOKEN, SANDBOX_TOKENS } from '../../protocol/networks/tokens.js';
import type { NetworkId, Token } from '../../protocol/types.js';

/** A token of the books by its mint: SOL, the operator's own, or a well-known one. */
export function findToken(mint: string, network: NetworkId, tokens: readonly Token[]): Token | undefined {
  return [NATIVE_TOKEN, ...tokens, ...KNOWN_TOKENS[network], ...SANDBOX_TOKENS].find((token) => token.mint === mint);
}

/** An amount of the books for people: "0.01 USDC", or in atomic units where nobody knows the decimals of its token. */
export function moneyText(
  amount: bigint,
  { mint, network }: { readonly mint: string; readonly network: NetworkId },
  tokens: readonly Token[],
): string {
  const token = findToken(mint, network, tokens);
  return token === undefined ? `${amount} of ${mint}` : `${formatAmount(amount, token.decimals)} ${token.symbol}`;
}
