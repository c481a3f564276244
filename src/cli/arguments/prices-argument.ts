import { UsageError } from '../command.js';
import { type PriceArgument, priceArgument } from './price-argument.js';

/** A price of calls as an endpoint of projects takes it: of single calls, in one token or in several, and of more than one call. */
export interface PricesArgument extends Partial<PriceArgument> {
  readonly prices?: readonly PriceArgument[];
  readonly offers?: readonly (PriceArgument & { readonly pass: PassArgument })[];
}

/** What a payment buys that is for more than one call. */
interface PassArgument {
  readonly uses?: number;
  readonly for?: string;
  readonly credit?: true;
  readonly cost?: string;
}

const EXAMPLES =
  '"0.01 USDC", "0.01 USDC or 0.01 PYUSD", "0.05 USDC for 10 calls", "1 USDC for 30d" or "5 USDC as credit at 0.004"';

/**
 * Prices as people write them, with `or` between them: `0.01 USDC` for one call, `0.05 USDC for 10 calls`, `1 USDC for 24h`,
 * `2 USDC for 500 calls in 30d`, `5 USDC as credit at 0.004`, of which each call takes so much.
 */
export function pricesArgument(flag: string, text: string): PricesArgument {
  const parts = text.split(' or ').map((it) => readPart(flag, it.trim()));
  const [first, ...prices] = parts.flatMap(({ pass, ...money }) => (pass === undefined ? [money] : []));
  const offers = parts.flatMap(({ pass, ...money }) => (pass === undefined ? [] : [{ ...money, pass }]));
  return {
    ...first,
    ...(prices.length === 0 ? {} : { prices }),
    ...(offers.length === 0 ? {} : { offers }),
  };
}

/** Whether what is said of a price says what a call costs. */
export function hasPrice<T extends PricesArgument>(pricing: T | undefined): pricing is T {
  return pricing?.amount !== undefined || pricing?.offers !== undefined;
}

/** What a patch of a project says of its price: a price that is given is the whole of it. */
export function wholePrice(prices: PricesArgument): object {
  return { amount: null, token: null, prices: null, offers: null, ...prices };
}

function readPart(flag: string, text: string): PriceArgument & { readonly pass?: PassArgument } {
  const [money = '', bought, ...more] = text.split(/ (?:for|as) /);
  const price = priceArgument(flag, money);
  if (bought === undefined) return price;
  const pass = more.length > 0 ? undefined : readPass(bought);
  if (pass === undefined) throw new UsageError(`${flag} must be as in ${EXAMPLES}, not "${text}"`);
  return { ...price, pass };
}

function readPass(text: string): PassArgument | undefined {
  const [, cost] = /^credit at (\d{1,20}(?:\.\d{1,18})?)$/.exec(text) ?? [];
  if (cost !== undefined) return { credit: true, cost };
  const [, count, within] = /^(\d{1,9}) (?:calls?|requests?|uses?)(?: in (\d{1,9}[smhd]))?$/.exec(text) ?? [];
  if (count !== undefined) return { uses: Number(count), ...(within === undefined ? {} : { for: within }) };
  return /^\d{1,9}[smhd]$/.test(text) ? { for: text } : undefined;
}
