import { z } from 'zod';
import {
  atomicMinimum,
  type BalanceInput,
  decimalsOf,
  type HeldBalance,
  type Minimum,
  minimumOption,
  wireNumber,
} from '../../access/balance.js';
import type { Holdings, Lookups } from '../../access/holdings.js';
import { mintOption, symbolIn, unitOf } from '../../access/mint.js';
import { badOption } from '../../errors/errors.js';
import type { Collection, Holding } from '../../facilitator/holdings/holding.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { resolveOptions } from '../../lib/options.js';
import type { MustHold } from '../../pages/texts/must-hold.js';
import { addressOption, addressTextOption } from '../../protocol/address-input.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { Token } from '../../protocol/types.js';
import { clientAddress } from '../gate/client-address.js';
import type { Gate } from '../gate/gate.js';
import { type AdmissionOptions, admissionOptions, ruleName, withAdmission } from './admission.js';
import {
  PASSED,
  type RuleOfGate,
  type Verdict,
  type WalletGateOptions,
  walletGate,
  walletGateOptions,
  walletGateParts,
} from './wallet-gate.js';

const WHERE = 'requireTokenBalance';

/** Options of {@link requireTokenBalance}: one token, or a collection of NFTs. */
export interface RequireTokenBalanceOptions extends WalletGateOptions, AdmissionOptions, HeldBalance {}

const MAX_COLLECTION = 100_000;
/** So many mints of a collection are named in a 403. */
const MAX_NAMED = 20;

const nft = addressOption('the address of a mint (base58 or PublicKey)');
const COLLECTION = 'a list of mints, or { creator }, or { address }; addresses base58 or PublicKey';
const mintList = z
  .array(nft, COLLECTION)
  .min(1, 'at least one mint')
  .max(MAX_COLLECTION, `at most ${MAX_COLLECTION} mints`)
  .readonly();
const byMetadata = z.union([z.strictObject({ creator: nft }), z.strictObject({ address: nft })], COLLECTION);

/** Read as what it is meant to be, so that a fault in a list is told as one. */
const collectionOption = z.unknown().transform((given, context): CollectionOption => {
  const result = Array.isArray(given) ? mintList.safeParse(given) : byMetadata.safeParse(given);
  if (result.success) return result.data;
  for (const { message, path } of result.error.issues) context.addIssue({ code: 'custom', message, path });
  return z.NEVER;
});

type CollectionOption = z.output<typeof mintList> | z.output<typeof byMetadata>;

const options = z.strictObject({
  ...walletGateOptions,
  ...admissionOptions,
  mint: addressTextOption('the address of a mint (base58 or PublicKey), or a symbol').optional(),
  collection: collectionOption.optional(),
  minBalance: z.union([z.string(), z.number()], 'a decimal amount, such as 100 or "0.5"').optional(),
});

type BalanceReader = Lookups & Pick<Holdings, 'readCollection'>;

/** Whose wallet is looked at, and from which address he comes; nothing where nobody does. */
interface Caller {
  readonly wallet: string;
  readonly client?: string;
}

/** What a wallet must hold. */
interface BalanceRule {
  readonly minimum: Minimum;
  /** What must be held, for programs. */
  readonly what: unknown;
  /** How it is named in a 403. */
  readonly named: Readonly<Record<string, unknown>>;
  /** What is counted, in words. */
  readonly unit: string;
  /** How a page names it. */
  readonly held: Pick<MustHold, 'token'>;
  /** How the amounts of it are divided. */
  decimals(): MaybePromise<number>;
  /** What the wallet of a caller holds of it; at least to know whether that is enough. */
  read(by: Caller, atLeast: bigint): MaybePromise<Holding>;
}

/**
 * Express middleware that lets in whose wallet holds enough of a token. The caller proves the wallet, with an access token
 * or by signing in (`SIGN-IN-WITH-X`); a wallet that is merely named in a query or body opens nothing. Without proof 401
 * with a challenge to sign, with too little 403 that says what is missing, 503 when the chain cannot be asked. The wallet
 * is on `req.wallet`. Can be given to `anyOf`.
 * @throws TollhouseError `bad_option` now, not at the first request, when an option is wrong
 */
export function requireTokenBalance(given: RequireTokenBalanceOptions): Gate {
  const { parts, judge } = balanceRule(WHERE, given);
  return walletGate(WHERE, parts, judge);
}

/**
 * Reads the options of {@link requireTokenBalance} for whoever asks a wallet for a balance.
 * @param where - the function that they were given to, for messages
 * @throws TollhouseError `bad_option` where one is wrong
 */
export function balanceRule(where: string, given: unknown): RuleOfGate {
  const resolved = resolveOptions(where, options, given);
  const parts = walletGateParts(resolved);
  const rule = readRule(where, resolved, parts.holdings);
  // Whoever comes has his balance remembered: a look by that would see what he shows.
  const unremembered = resolved.heldFor === undefined ? rule : readRule(where, resolved, resolved.facilitator);
  const what = [rule.what, rule.minimum.text];
  const admit = withAdmission(where, resolved, {
    what,
    judge: (req, wallet) => verdictOf(where, rule, { wallet, ...clientAddress(req) }),
    holds: (wallet) => whenKnown(verdictOf(where, unremembered, { wallet }), ({ ok }) => ok),
  });
  const mustHold = { amount: rule.minimum.text, ...rule.held };
  const judge = { name: ruleName([WHERE, ...what]), mustHold, judge: admit };
  return { parts, judge, inWords: `${rule.minimum.text} ${rule.unit}` };
}

function verdictOf(where: string, rule: BalanceRule, by: Caller): MaybePromise<Verdict> {
  return whenKnown(rule.decimals(), (places) => {
    const atLeast = atomicMinimum(where, rule.minimum.text, places);
    const holding = rule.read(by, atLeast);
    return whenKnown(holding, ({ amount }) =>
      amount >= atLeast ? PASSED : tooLittle(rule, by.wallet, amount, places),
    );
  });
}

function tooLittle(
  { minimum, named, unit, held }: BalanceRule,
  wallet: string,
  amount: bigint,
  places: number,
): Verdict {
  const needed = { amount: minimum.text, ...held };
  return {
    ok: false,
    code: 'insufficient_balance',
    detail: `The wallet ${wallet} holds ${formatAmount(amount, places)} of the ${minimum.text} ${unit} that it takes to get in.`,
    missing: { balance: wireNumber(amount, places), min_balance: Number(minimum.text), ...named },
    lack: { kind: 'amount', wallet, held: formatAmount(amount, places), needed },
  };
}

function readRule(where: string, resolved: z.output<typeof options>, reader: BalanceReader): BalanceRule {
  const { mint, collection, minBalance } = resolved;
  if ((mint === undefined) === (collection === undefined)) {
    throw badOption(where, 'give either option "mint" or option "collection"', 'mint');
  }
  if (collection !== undefined) return collectionRule(where, collection, minBalance ?? 1, reader);
  if (minBalance === undefined) throw badOption(where, 'option "minBalance" is missing, such as 100', 'minBalance');
  return tokenRule(where, mint ?? '', minBalance, reader, resolved.facilitator.tokens);
}

function tokenRule(
  where: string,
  name: string,
  minBalance: BalanceInput,
  reader: BalanceReader,
  tokens: readonly Token[],
): BalanceRule {
  const mint = mintOption(where, 'mint', name, tokens);
  const minimum = minimumOption(where, 'minBalance', minBalance);
  const known = tokens.find((token) => token.mint === mint);
  if (known !== undefined) atomicMinimum(where, minimum.text, known.decimals);
  const mints = [mint];
  return {
    minimum,
    what: mint,
    named: { mint },
    unit: unitOf(mint, tokens),
    held: { token: symbolIn(mint, tokens) ?? mint },
    decimals: () => decimalsOf(where, mint, reader),
    read: (by, atLeast) => reader.readHolding({ ...by, mints, atLeast }),
  };
}

function collectionRule(
  where: string,
  given: CollectionOption,
  minBalance: BalanceInput,
  reader: BalanceReader,
): BalanceRule {
  const minimum = minimumOption(where, 'minBalance', minBalance);
  if (minimum.places > 0) throw badOption(where, 'option "minBalance" must be a whole number of NFTs', 'minBalance');
  const collection: Collection = 'length' in given ? { mints: new Set(given) } : given;
  if ('mints' in collection && BigInt(minimum.text) > collection.mints.size) {
    const most = `there are ${collection.mints.size} mints in option "collection", and each counts once`;
    throw badOption(where, `option "minBalance" is ${minimum.text}, which nobody can hold: ${most}`, 'minBalance');
  }
  const named = 'length' in given ? { mints: [...new Set(given)].slice(0, MAX_NAMED) } : { collection: given };
  return {
    minimum,
    what: 'mints' in collection ? [...collection.mints].sort() : collection,
    named,
    unit: 'NFTs of a collection',
    held: {},
    decimals: () => 0,
    read: (by, atLeast) => reader.readCollection({ ...by, collection, atLeast }),
  };
}
