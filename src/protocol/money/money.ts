import { badOption } from '../../errors/errors.js';
import { didYouMean } from '../../lib/did-you-mean.js';
import { type Parsed, parsed, shown, unparsed } from '../../lib/parsed.js';
import { trimEnd } from '../../lib/trim-end.js';
import { isAddress } from '../address.js';
import { type AddressInput, addressText } from '../address-input.js';
import { MAX_AMOUNT, MAX_AMOUNT_LENGTH, MAX_PRICE_LENGTH } from '../limits.js';
import { isKnownSymbol } from '../networks/tokens.js';
import type { Token } from '../types.js';

/** An amount of a token in its smallest unit. */
export interface AtomicPrice {
  /** Atomic units: a bigint, or its decimal digits. */
  readonly amount: bigint | string;
  /** Symbol of a known token, or the address of any mint: base58, or a web3.js `PublicKey`. */
  readonly asset: AddressInput;
}

/**
 * A price as it is written: `"$0.01"` (USDC), `"0.5 USDT"`, `"0.001 SOL"` (wrapped SOL), or `{ amount, asset }`. It counts the mint's
 * own units by its decimals; of a Token-2022 mint with a multiplier or interest, wallets may show another number.
 */
export type PriceInput = string | AtomicPrice;

/** A price as it is charged. */
export interface ParsedPrice {
  /** Mint of the token, base58. */
  readonly asset: string;
  /** Atomic units, at least 1; of a cost at least 0. */
  readonly amount: bigint;
  /** The token, where it is a known one. */
  readonly token?: Token;
}

/** What a price in dollars is in. */
const DOLLAR = 'USDC';
const FREE = 'what is free needs no gate';
const DECIMAL = /^\d+(?:\.\d+)?$/;
const EXPONENT = /^[+-]?[\d.]+e[+-]?\d+$/i;
/** Commas between thousands, and one for a point. */
const GROUPED = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const COMMA = /^\d+,\d+$/;
const NEGATIVE = /^-[\d.]/;

/**
 * Reads a price, exactly.
 *
 * @param price - a {@link PriceInput}; anything else is refused
 * @param tokens - tokens that can be named by symbol; a price in dollars is in the one called USDC
 */
export function readPrice(price: unknown, tokens: readonly Token[]): Parsed<ParsedPrice> {
  const result = readCost(price, tokens);
  if (result.ok && result.value.amount === 0n)
    return unparsed(`a price must be more than zero, not ${shownPrice(price)}; ${FREE}`);
  return result;
}

/** Reads what something has cost, which may be nothing; else as {@link readPrice} does. */
export function readCost(cost: unknown, tokens: readonly Token[]): Parsed<ParsedPrice> {
  return typeof cost === 'string' ? readText(cost, tokens) : readAtomic(cost, tokens);
}

/**
 * Reads a price that was given as an option; see {@link readPrice}.
 *
 * @param where - the function the price was given to, for the message
 * @throws TollhouseError `bad_option` that says what is wrong with it and what was probably meant
 */
export function parsePrice(price: PriceInput, tokens: readonly Token[], where = 'price'): ParsedPrice {
  const result = readPrice(price, tokens);
  if (result.ok) return result.value;
  throw badOption(where, result.detail, 'price');
}

/**
 * Reads a decimal amount as atomic units, exactly: `('1.5', 6)` is 1,500,000. A JSON number is read through its shortest
 * decimal text. Zero is an amount.
 *
 * @param input - digits with at most one point between them, or a number
 * @param decimals - decimal places of the token; an amount with more is refused, never rounded
 */
export function parseDecimal(input: string | number, decimals: number): Parsed<bigint> {
  const text = typeof input === 'number' ? numberText(input) : input;
  const fault = decimalFault(text);
  if (fault !== undefined) return unparsed(fault);
  const [whole = '', fraction = ''] = text.split('.');
  if (fraction.length > decimals) {
    return unparsed(`${shown(input)} has more decimal places than the token, which has ${decimals}`);
  }
  const amount = BigInt(whole + fraction.padEnd(decimals, '0'));
  if (amount > MAX_AMOUNT) return unparsed(`${shown(input)} is more than a token account can hold`);
  return parsed(amount);
}

/** What keeps a text or a number from being an amount, of whatever token; undefined when nothing does. */
export function amountFault(input: string | number): string | undefined {
  return decimalFault(typeof input === 'number' ? numberText(input) : input);
}

/** Atomic units as the shortest exact decimal text: `(1_500_000n, 6)` is `1.5`. */
export function formatAmount(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? '-' : '';
  const digits = String(amount < 0n ? -amount : amount).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const fraction = trimEnd(digits.slice(point), '0');
  return `${sign}${digits.slice(0, point)}${fraction === '' ? '' : `.${fraction}`}`;
}

function readText(price: string, tokens: readonly Token[]): Parsed<ParsedPrice> {
  if (price.length > MAX_PRICE_LENGTH) return unparsed(`a price has at most ${MAX_PRICE_LENGTH} characters`);
  const text = price.trim();
  if (/^(?:free|none|nothing|0)$/i.test(text)) return unparsed(`${shown(price)} is not a price; ${FREE}`);
  if (text.startsWith('$')) return readDollars(text.slice(1).trim(), tokens);
  if (text.startsWith('-$')) return unparsed(`${shown(price)} is negative; ${formsOf(tokens)}`);
  const [amount = '', symbol, ...rest] = text.split(/\s+/);
  const meant = DECIMAL.test(amount) && symbol !== '$' ? undefined : meantPrice(text);
  if (meant !== undefined) return unparsed(`${shown(price)} is not a price; did you mean "${meant}"?`);
  if (amount === '' || rest.length > 0) return unparsed(`${shown(price)} is not a price; ${formsOf(tokens)}`);
  const fault = decimalFault(amount);
  if (fault !== undefined) return unparsed(`${fault}; ${formsOf(tokens)}`);
  if (symbol === undefined)
    return unparsed(`"${amount}" names no token; did you mean "$${amount}" or "${amount} USDC"?`);
  const token = findToken(symbol, tokens);
  return token.ok ? inUnitsOf(token.value, amount, tokens) : token;
}

function readDollars(amount: string, tokens: readonly Token[]): Parsed<ParsedPrice> {
  const [number = '', symbol] = amount.split(/\s+/);
  if (symbol !== undefined)
    return unparsed(`"$${amount}" names two tokens; write "$${number}" or "${number} ${symbol}"`);
  const meant = number.startsWith('.') ? meantPrice(`$${number}`) : undefined;
  if (meant !== undefined) return unparsed(`"$${number}" is not a price; did you mean "${meant}"?`);
  const token = findToken(DOLLAR, tokens);
  return token.ok ? inUnitsOf(token.value, number, tokens) : token;
}

function readAtomic(price: unknown, tokens: readonly Token[]): Parsed<ParsedPrice> {
  if (typeof price === 'number' || typeof price === 'bigint') return unparsed(numberFault(price, tokens));
  if (typeof price !== 'object' || price === null || Array.isArray(price)) {
    return unparsed(`${shown(price)} is not a price; ${formsOf(tokens)}`);
  }
  const stray = Object.keys(price).find((key) => key !== 'amount' && key !== 'asset');
  if (stray !== undefined) return unparsed(`a price has no field ${shown(stray)}; ${formsOf(tokens)}`);
  const amount = readUnits(Reflect.get(price, 'amount'));
  if (!amount.ok) return amount;
  const named: unknown = Reflect.get(price, 'asset');
  const asset = addressText(named);
  if (asset === undefined) return unparsed(`asset must be a symbol or a mint address, not ${shown(named)}`);
  const known = tokens.find(({ mint }) => mint === asset);
  if (known === undefined && isAddress(asset)) return parsed({ asset, amount: amount.value });
  const token = known === undefined ? findToken(asset, tokens) : parsed(known);
  return token.ok ? parsed({ asset: token.value.mint, amount: amount.value, token: token.value }) : token;
}

/** A number names no token, and is often meant in another unit than the next one who reads it thinks. */
function numberFault(price: number | bigint, tokens: readonly Token[]): string {
  if (typeof price === 'number' && !Number.isFinite(price)) return `${price} is not a price; ${formsOf(tokens)}`;
  if (price <= 0) return `a price must be more than zero, not ${price}; ${price < 0 ? formsOf(tokens) : FREE}`;
  const text = typeof price === 'number' ? numberText(price) : String(price);
  const atomic = Number.isInteger(Number(price)) ? `, or { amount: ${text}n, asset: "USDC" } in atomic units` : '';
  return `${text} is a number and names no token; did you mean "$${text}"${atomic}?`;
}

function readUnits(amount: unknown): Parsed<bigint> {
  if (typeof amount === 'string' && !amount.includes('.')) return parseDecimal(amount, 0);
  if (typeof amount !== 'bigint') return unparsed(unitsFault(amount));
  if (amount < 0n) return unparsed(`${shown(amount)} is negative`);
  return amount > MAX_AMOUNT ? unparsed(`${shown(amount)} is more than a token account can hold`) : parsed(amount);
}

function unitsFault(amount: unknown): string {
  const instead = Number.isSafeInteger(amount) ? `write ${amount}n` : 'write whole tokens as text, such as "0.5 USDC"';
  return `amount must be atomic units as bigint or digits, not ${shown(amount)}; ${instead}`;
}

function inUnitsOf(token: Token, amount: string, tokens: readonly Token[]): Parsed<ParsedPrice> {
  const units = parseDecimal(amount, token.decimals);
  if (!units.ok) return unparsed(`${units.detail}; ${formsOf(tokens)}`);
  return parsed({ asset: token.mint, amount: units.value, token });
}

/** How a price is written, with a token that is known here. */
function formsOf(tokens: readonly Token[]): string {
  const { symbol } = tokens.find((it) => it.symbol !== DOLLAR) ?? { symbol: DOLLAR };
  return `write a price as "$0.01", "0.5 ${symbol}" or { amount: 10000n, asset: "${DOLLAR}" }`;
}

function findToken(symbol: string, tokens: readonly Token[]): Parsed<Token> {
  const wanted = symbol.toUpperCase();
  const token = tokens.find((it) => it.symbol.toUpperCase() === wanted);
  if (token !== undefined) return parsed(token);
  const symbols = tokens.map((it) => it.symbol);
  const meant = isKnownSymbol(symbol) ? undefined : didYouMean(symbol, symbols);
  if (meant !== undefined) return unparsed(`there is no token ${shown(symbol)} here; did you mean "${meant}"?`);
  const known = symbols.length === 0 ? 'no token is known' : `the known ones are ${symbols.join(', ')}`;
  const add = 'another one is added by the option "tokens" (TOKENS_FILE), or priced as { amount, asset: its mint }';
  return unparsed(`there is no token ${shown(symbol)} here; ${known}; ${add}`);
}

function shownPrice(price: unknown): string {
  return typeof price === 'string' ? shown(price) : '{ amount: 0 }';
}

/** What is wrong with a decimal amount, whatever token it is of; undefined where nothing is. */
export function decimalFault(text: string): string | undefined {
  if (text.length > MAX_AMOUNT_LENGTH) return `an amount has at most ${MAX_AMOUNT_LENGTH} characters`;
  if (DECIMAL.test(text)) return undefined;
  if (EXPONENT.test(text)) return `${shown(text)} is in exponent notation; write the digits, such as 0.001`;
  if (NEGATIVE.test(text)) return `${shown(text)} is negative`;
  if (GROUPED.test(text)) return `${shown(text)} has commas; write it as ${text.replaceAll(',', '')}`;
  if (COMMA.test(text)) return `${shown(text)} has a comma; write a point, ${text.replace(',', '.')}`;
  return `${shown(text)} is not a number such as 0.01`;
}

/** A number's shortest decimal text, without the exponent that JavaScript uses below 1e-6 and from 1e21. */
function numberText(value: number): string {
  const [mantissa = '', exponent] = String(value).split('e');
  if (exponent === undefined || value < 0) return mantissa;
  const shift = Number(exponent);
  const [whole = '', fraction = ''] = mantissa.split('.');
  if (shift < 0) return `0.${'0'.repeat(-shift - whole.length)}${whole}${fraction}`;
  return whole + fraction.padEnd(shift, '0');
}

const AMOUNT = String.raw`(\d+(?:\.\d+)?|\.\d+)`;
/** Usual ways to write a price that are none, and what is written instead. */
const MEANT: readonly (readonly [RegExp, (amount: string, symbol: string) => string])[] = [
  [new RegExp(String.raw`^\$\s*${AMOUNT}$`), (amount) => `$${amount}`],
  [new RegExp(String.raw`^${AMOUNT}\s*\$$`), (amount) => `$${amount}`],
  [new RegExp(String.raw`^${AMOUNT}\s*([a-z]\w*)$`, 'i'), (amount, symbol) => `${amount} ${symbol}`],
  [new RegExp(String.raw`^([a-z]+)\s*${AMOUNT}$`, 'i'), (symbol, amount) => `${amount} ${symbol}`],
];

/** A price as it was probably meant: `1USDC` as `1 USDC`, `$.5` as `$0.5`; undefined when nothing is near. */
function meantPrice(text: string): string | undefined {
  for (const [pattern, rewrite] of MEANT) {
    const [, first, second = ''] = pattern.exec(text) ?? [];
    if (first !== undefined) return rewrite(withZero(first), withZero(second));
  }
  return undefined;
}

function withZero(part: string): string {
  return part.startsWith('.') ? `0${part}` : part;
}
