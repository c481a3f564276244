import type { EmbeddedFacilitator } from '../../facilitator/create-facilitator.js';
import type { Networks } from '../../facilitator/networks/networks.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import type { PriceRules } from './read-pricing.js';

/** In what projects may be paid. */
export function priceRules({ first, all, named }: Networks<EmbeddedFacilitator>): PriceRules {
  return {
    findToken: (text, on) => findPriceToken(named(on), text),
    tokenFault(text, on) {
      const facilitator = named(on);
      return facilitator.tokenFault(priceMint(facilitator, text));
    },
    network: first.network,
    networks: all.map((it) => it.network),
  };
}

/** x402 moves tokens only: SOL is wrapped SOL in a price, and native SOL where a payment is created for it. */
async function findPriceToken(facilitator: EmbeddedFacilitator, text: string): Promise<Token | undefined> {
  const token = await facilitator.findToken(priceMint(facilitator, text));
  return token?.mint === token?.program ? undefined : token;
}

function priceMint({ tokens }: EmbeddedFacilitator, text: string): string {
  return tokens.find(({ symbol, mint }) => mint === moneyOf(text) || symbol === text.toUpperCase())?.mint ?? text;
}
