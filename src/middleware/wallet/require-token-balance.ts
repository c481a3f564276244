import { z } from 'zod';
import {
  atomicMinimum,
  type BalanceInput,
  decimalsOf,
  type Minimum,
  minimumOption,
  wireNumber,
} from '../../access/balance.js';
import type { Holdings } from '../../access/holdings.js';
import { mintOption } from '../../access/mint.js';
import { badOption } from '../../errors/errors.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { resolveOptions } from '../../lib/options.js';
import { type AddressInput, addressOption, addressTextOption } from '../../protocol/address-input.js';
import { formatAmount } from '../../protocol/money/money.js';
import type { Gate } from '../gate/gate.js';
import {
  PASSED,
  type Verdict,
  type WalletGateOptions,
  walletGate,
  walletGateOptions,
  walletGateParts,
} from './wallet-gate.js';

const WHERE = 'requireTokenBalance';

/** Options of {@link requireTokenBalance}: one token, or a collection of NFTs. */
export interface RequireTokenBalanceOptions extends WalletGateOptions {
  /** The token: a mint, base58 or web3.js `PublicKey`, or the symbol of a known token. `SOL` counts lamports and wrapped SOL. */
  readonly mint?: AddressInput;
  /** Instead of `mint`: the mints of a collection of NFTs, base58 or `PublicKey`, at most 100,000. Holding any of them counts. */
  readonly collection?: readonly AddressInput[];
  /**
   * How much the wallet must hold at least, in whole tokens, as decimal text or number. Of a collection: how many NFTs,
   * default 1.
   */
  readonly minBalance?: BalanceInput;
}

const MAX_COLLECTION = 100_000;
/** So many mints of a collection are named in a 403. */
const MAX_NAMED = 20;

const options = z.strictObject({
  ...walletGateOptions,
  mint: addressTextOption('the address of a mint (base58 or PublicKey), or a symbol').optional(),
  collection: z
    .array(addressOption('the address of a mint (base58 or PublicKey)'), 'a list of mints (base58 or PublicKey)')
    .min(1, 'at least one mint')
    .max(MAX_COLLECTION, `at most ${MAX_COLLECTION} mints`)
    .readonly()
    .optional(),
  minBalance: z.union([z.string(), z.number()], 'a decimal amount, such as 100 or "0.5"').optional(),
});

/** What a wallet must hold. */
interface BalanceRule {
  readonly mints: readonly string[];
  readonly minimum: Minimum;
  /** The same in atomic units, where the token's decimals are known without asking the chain. */
  readonly least: bigint | undefined;
  /** How the token is named in a 403. */
  readonly named: Readonly<Record<string, unknown>>;
  decimals(reader: Holdings): MaybePromise<number>;
}

/**
 * Express middleware that lets in whose wallet holds enough of a token. The caller proves the wallet, with an access token
 * or by signing in (`SIGN-IN-WITH-X`); a wallet that is merely named in a query or body opens nothing. Without proof 401
 * with a challenge to sign, with too little 403 that says what is missing, 503 when the chain cannot be asked. The wallet
 * is on `req.wallet`. Can be given to `anyOf`.
 * @throws TollhouseError `bad_option` now, not at the first request, when an option is wrong
 */
export function requireTokenBalance(given: RequireTokenBalanceOptions): Gate {
  const resolved = resolveOptions(WHERE, options, given);
  const parts = walletGateParts(resolved);
  const rule = readRule(resolved);
  return walletGate(WHERE, parts, (_req, wallet) => judge(rule, wallet, parts.holdings));
}

function judge(rule: BalanceRule, wallet: string, reader: Holdings): MaybePromise<Verdict> {
  return whenKnown(rule.decimals(reader), (places) => {
    const atLeast = rule.least ?? atomicMinimum(WHERE, rule.minimum.text, places);
    const holding = reader.readHolding({ wallet, mints: rule.mints, atLeast });
    return whenKnown(holding, ({ amount }) => (amount >= atLeast ? PASSED : tooLittle(rule, wallet, amount, places)));
  });
}

function tooLittle({ minimum, named }: BalanceRule, wallet: string, amount: bigint, places: number): Verdict {
  return {
    ok: false,
    code: 'insufficient_balance',
    detail: `The wallet ${wallet} holds ${formatAmount(amount, places)} of the ${minimum.text} that it takes to get in.`,
    missing: { balance: wireNumber(amount, places), min_balance: Number(minimum.text), ...named },
  };
}

function readRule({ facilitator, mint, collection, minBalance }: z.output<typeof options>): BalanceRule {
  if ((mint === undefined) === (collection === undefined)) {
    throw badOption(WHERE, 'give either option "mint" or option "collection"', 'mint');
  }
  if (collection !== undefined) return collectionRule(collection, minBalance ?? 1);
  if (minBalance === undefined) throw badOption(WHERE, 'option "minBalance" is missing, such as 100', 'minBalance');
  const asked = mintOption(WHERE, 'mint', mint ?? '', facilitator.tokens);
  const minimum = minimumOption(WHERE, 'minBalance', minBalance);
  const known = facilitator.tokens.find((token) => token.mint === asked);
  const least = known === undefined ? undefined : atomicMinimum(WHERE, minimum.text, known.decimals);
  const decimals = (reader: Holdings) => known?.decimals ?? decimalsOf(WHERE, asked, reader);
  return { mints: [asked], minimum, least, named: { mint: asked }, decimals };
}

function collectionRule(collection: readonly string[], minBalance: BalanceInput): BalanceRule {
  const minimum = minimumOption(WHERE, 'minBalance', minBalance);
  if (minimum.places > 0) throw badOption(WHERE, 'option "minBalance" must be a whole number of NFTs', 'minBalance');
  const mints = [...new Set(collection)];
  return {
    mints,
    minimum,
    least: BigInt(minimum.text),
    named: { mints: mints.slice(0, MAX_NAMED) },
    decimals: () => 0,
  };
}
