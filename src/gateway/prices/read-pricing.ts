import { type FieldFault, TollhouseError } from '../../errors/errors.js';
import { defined } from '../../lib/defined.js';
import { wantedBy } from '../../lib/options.js';
import { type Parsed, parsed, shown, unparsed } from '../../lib/parsed.js';
import { passOption } from '../../middleware/terms/pass-option.js';
import { parseDecimal } from '../../protocol/money/money.js';
import { networkFrom } from '../../protocol/networks/networks.js';
import { moneyOf } from '../../protocol/networks/tokens.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import type { CallPrice, ProjectMoney, ProjectOffer, ProjectPass } from '../../storage/projects/call-price.js';
import { MAX_PRICE_DECIMALS, type ProjectPrice } from '../../storage/projects/projects.js';
import { fieldFault } from './field-fault.js';
import type { DraftMoney, DraftOffer, DraftPrice, DraftPricing } from './pricing-draft.js';
import { callPrices, formerOffers, soldPasses } from './project-offers.js';

/** What reading prices asks others. */
export interface PriceRules {
  /** A token by symbol or mint; undefined when there is none that can be paid in. */
  readonly findToken: (token: string, network: NetworkId) => Promise<Token | undefined>;
  /** What to say of one that is not found, after its name. */
  readonly tokenFault: (token: string, network: NetworkId) => Promise<string>;
  /** On which projects are paid that name none. */
  readonly network: NetworkId;
  /** All that are served. Default: that one. */
  readonly networks?: readonly NetworkId[];
}

/** A value as it was read, or all that is wrong with it. */
export type Read<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly faults: readonly FieldFault[] };

/** Payments of our own making answer amounts as JSON numbers, which must be exact. */
const MAX_PRICE = BigInt(Number.MAX_SAFE_INTEGER);
const WHERE = 'pricing';

/**
 * Reads what a draft asks to be paid for calls.
 * @param before - the prices that are changed: their tokens are not asked for again. Undefined for new ones
 */
export async function readPricing(
  pricing: DraftPricing,
  rules: PriceRules,
  before?: ProjectPrice,
): Promise<Read<ProjectPrice>> {
  const { network: named, chargeOn = [], ...draft } = pricing;
  const network = readNetwork(named, rules, before);
  if (!network.ok) return wrong('/pricing/network', network.detail);
  const price = await readCallPrice(draft, '/pricing', { ...rules, network: network.value }, before);
  if (!price.ok) return price;
  const charged = chargeOn.length === 0 ? undefined : [...new Set(chargeOn)];
  return { ok: true, value: { ...price.value, network: network.value, ...defined({ chargeOn: charged }) } };
}

/**
 * Reads what some calls are to cost.
 * @param pointer - JSON pointer of the price
 * @param rules - with the network of the project for their own
 * @param before - the price that is changed, see {@link readPricing}
 */
export async function readCallPrice(
  draft: DraftPrice,
  pointer: string,
  rules: PriceRules,
  before?: CallPrice,
): Promise<Read<CallPrice>> {
  const { prices = [], offers = [] } = draft;
  const known = before === undefined ? [] : callPrices(before).map(({ token }) => token);
  const tokens = { ...rules, known };
  const single = await readSingle(draft, pointer, tokens);
  const others = await Promise.all(prices.map((it, at) => readMoney(it, `${pointer}/prices/${at}`, tokens)));
  const sold = await Promise.all(offers.map((it, at) => readOffer(it, `${pointer}/offers/${at}`, tokens)));
  const faults = [single, ...others, ...sold].flatMap((it) => (it.ok ? [] : it.faults));
  if (!single.ok || faults.length > 0) return { ok: false, faults };
  return together({ pointer, single: single.value, prices: valuesOf(others), offers: valuesOf(sold), before });
}

interface ReadParts {
  readonly pointer: string;
  readonly single: ProjectMoney | undefined;
  readonly prices: readonly ProjectMoney[];
  readonly offers: readonly ProjectOffer[];
  readonly before: CallPrice | undefined;
}

/** Each is right; are they together? */
function together({ pointer, single, prices, offers, before }: ReadParts): Read<CallPrice> {
  const [first, others] = single === undefined ? [offers[0], offers.slice(1)] : [single, offers];
  if (first === undefined) {
    return wrong(`${pointer}/amount`, 'must be given with a token, where there are no offers');
  }
  if (prices.length > 0 && single === undefined) {
    return wrong(`${pointer}/prices`, 'must stand beside amount and token: they are the same in other tokens');
  }
  const monies = [first, ...prices].map(({ token }) => moneyOf(token.mint));
  const twice = monies.findIndex((it, at) => monies.indexOf(it) < at);
  if (twice > 0) return wrong(`${pointer}/prices/${twice - 1}/token`, 'must be another one than those before it');
  const more = { prices: prices.length === 0 ? undefined : prices, offers: others.length === 0 ? undefined : others };
  const price = { ...first, ...defined(more) };
  return checked(pointer, { ...price, ...defined({ former: before && formerOffers(before, price) }) });
}

function valuesOf<Value>(read: readonly Read<Value>[]): readonly Value[] {
  return read.flatMap((it) => (it.ok ? [it.value] : []));
}

/** What was paid on a network, passes and credit among it, stays there: a project is on one for ever. */
function readNetwork(
  named: string | undefined,
  { network, networks = [network] }: PriceRules,
  before: ProjectPrice | undefined,
): Parsed<NetworkId> {
  const wanted = named === undefined ? (before?.network ?? network) : networkFrom(named);
  const isServed = wanted !== undefined && networks.includes(wanted);
  if (!isServed && networks.length === 1) return unparsed(`must be "${networks[0]}", the only one here`);
  if (!isServed) return unparsed(`must be one of ${networks.join(', ')}, which are served here`);
  if (before === undefined || before.network === wanted) return parsed(wanted);
  return unparsed(`cannot be changed from "${before.network}": what was paid there stays there; make another project`);
}

interface KnownTokens extends PriceRules {
  readonly known: readonly Token[];
}

/** The price of one call; undefined where none are sold. */
async function readSingle(
  { amount, token }: DraftPrice,
  pointer: string,
  tokens: KnownTokens,
): Promise<Read<ProjectMoney | undefined>> {
  if (amount === undefined && token === undefined) return { ok: true, value: undefined };
  if (amount === undefined) return wrong(`${pointer}/amount`, 'must be given with a token');
  if (token === undefined) return wrong(`${pointer}/token`, 'must be given with an amount');
  return readMoney({ amount, token }, pointer, tokens);
}

async function readOffer(offer: DraftOffer, pointer: string, tokens: KnownTokens): Promise<Read<ProjectOffer>> {
  const money = await readMoney(offer, pointer, tokens);
  if (!money.ok) return money;
  const pass = readPass(offer.pass, `${pointer}/pass`, money.value.token);
  return pass.ok ? { ok: true, value: { ...money.value, pass: pass.value } } : pass;
}

async function readMoney(
  { amount, token: wanted }: DraftMoney,
  pointer: string,
  { known, network, findToken, tokenFault }: KnownTokens,
): Promise<Read<ProjectMoney>> {
  const token = known.find(({ mint }) => mint === wanted) ?? (await findToken(wanted, network));
  if (token === undefined) return wrong(`${pointer}/token`, `${shown(wanted)} ${await tokenFault(wanted, network)}`);
  if (token.decimals > MAX_PRICE_DECIMALS) {
    return wrong(`${pointer}/token`, `must have at most ${MAX_PRICE_DECIMALS} decimals`);
  }
  const units = readAmount(amount, token);
  return units.ok ? { ok: true, value: { amount: units.value, token } } : wrong(`${pointer}/amount`, units.detail);
}

function readAmount(text: string | number, { decimals }: Token): Parsed<bigint> {
  const amount = parseDecimal(text, decimals);
  if (!amount.ok) return amount;
  if (amount.value === 0n) return unparsed('must be more than zero');
  return amount.value > MAX_PRICE ? unparsed('is too large') : parsed(amount.value);
}

/** The rules are those of every gate. */
function readPass({ cost, ...draft }: DraftOffer['pass'], pointer: string, token: Token): Read<ProjectPass> {
  const units = cost === undefined ? undefined : readAmount(cost, token);
  if (units?.ok === false) return wrong(`${pointer}/cost`, units.detail);
  const price = units && { amount: units.value, asset: token.mint };
  const read = passOption.safeParse(defined({ ...draft, cost: price }));
  if (!read.success) {
    const faults = read.error.issues.map((it) => {
      const field = it.path.length === 0 ? '' : `/${it.path.join('/')}`;
      return fieldFault(`${pointer}${field}`, `must be ${wantedBy(it)}`);
    });
    return { ok: false, faults };
  }
  const { uses, group } = draft;
  return { ok: true, value: defined({ uses, for: draft.for, group, cost: units?.value }) };
}

/** It must be certain what each payment buys. */
function checked(pointer: string, price: CallPrice): Read<CallPrice> {
  try {
    soldPasses(WHERE, price);
    return { ok: true, value: price };
  } catch (error) {
    if (!(error instanceof TollhouseError && error.code === 'bad_option')) throw error;
    return wrong(`${pointer}/offers`, error.message.replace(`${WHERE}: `, ''));
  }
}

function wrong(pointer: string, detail: string): { readonly ok: false; readonly faults: readonly FieldFault[] } {
  return { ok: false, faults: [fieldFault(pointer, detail)] };
}
