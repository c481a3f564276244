import { badOption } from '../errors/errors.js';
import { didYouMean } from '../lib/did-you-mean.js';
import { type Parsed, parsed, shown, unparsed } from '../lib/parsed.js';
import { isAddress } from '../protocol/address.js';
import { isKnownSymbol, SOL_MINT } from '../protocol/networks/tokens.js';
import type { Token } from '../protocol/types.js';

/** The System Program, which keeps SOL: some write it where a mint is asked for. */
const SYSTEM_PROGRAM = '1'.repeat(32);

/**
 * Reads the name of a token: the address of a mint, or the symbol of one of `tokens`. `SOL` is always known.
 * @returns the mint, base58
 */
export function readMintName(name: string, tokens: readonly Token[]): Parsed<string> {
  const upper = name.toUpperCase();
  if (upper === 'SOL' || name === SYSTEM_PROGRAM) return parsed(SOL_MINT);
  const token = tokens.find(({ symbol }) => symbol === upper);
  if (token !== undefined) return parsed(token.mint);
  if (isAddress(name)) return parsed(name);
  const symbols = [...new Set(['SOL', ...tokens.map(({ symbol }) => symbol)])];
  const meant = isKnownSymbol(name) ? undefined : didYouMean(name, symbols);
  const hint = meant === undefined ? `the symbols are ${symbols.join(', ')}` : `did you mean "${meant}"?`;
  return unparsed(`the address of a mint (base58) or the symbol of a known token, not ${shown(name)}; ${hint}`);
}

/**
 * Reads the name of a token that was given as an option; see {@link readMintName}.
 * @throws TollhouseError `bad_option`
 */
export function mintOption(where: string, param: string, name: string, tokens: readonly Token[]): string {
  const mint = readMintName(name, tokens);
  if (mint.ok) return mint.value;
  throw badOption(where, `option "${param}" must be ${mint.detail}`, param);
}

/** What stands behind an amount of a token, for people: its symbol, or `of` and the mint where it has none here. */
export function unitOf(mint: string, tokens: readonly Token[]): string {
  return symbolIn(mint, tokens) ?? `of ${mint}`;
}

/** The symbol of a token; undefined where it has none here. */
export function symbolIn(mint: string, tokens: readonly Token[]): string | undefined {
  return mint === SOL_MINT ? 'SOL' : tokens.find((token) => token.mint === mint)?.symbol;
}
