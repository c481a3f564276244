import { addressOf } from '../../protocol/address.js';
import { formatAmount, parseDecimal } from '../../protocol/money/money.js';
import { DOLLARS, KNOWN_TOKENS, SANDBOX_TOKENS } from '../../protocol/networks/tokens.js';
import type { Terms } from '../../protocol/types.js';
import type { PayableTerms } from '../../protocol/wire/client.js';
import { readMint, TOKEN_HEAD_BYTES, tokenAccountOf } from '../../solana/accounts/token-accounts.js';
import { buildPaymentTransaction } from '../../solana/building/payment-transaction.js';
import { readKeypair } from '../../solana/keypair.js';
import type { AccountState, SolanaRpc } from '../../solana/rpc/rpc.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import type { PriceArgument } from '../arguments/price-argument.js';
import type { OpenBudget } from '../budget/open-budget.js';
import { CommandError } from '../command.js';
import type { PayOptions } from './pay-options.js';
import { otherChain, type PayerNode } from './payer-node.js';

/** In the token's own unit, where nothing is said. */
const DEFAULT_MAX = '1';

/** The token of a payment. */
export interface PaidAsset {
  /** Its mint. */
  readonly asset: string;
  /** The token program that it belongs to. */
  readonly program: string;
  readonly decimals: number;
  /** As people call it; its mint where it has no known symbol. */
  readonly symbol: string;
}

/** Terms that were chosen, with what is needed to pay them. */
export interface ChosenTerms {
  readonly payable: PayableTerms;
  readonly paidIn: PaidAsset;
  /** The amount as people write it: `0.01 USDC`. */
  readonly price: string;
}

/** Holdings of payer and recipient; undefined where there is no token account. */
export interface WalletHoldings {
  readonly payer: bigint | undefined;
  readonly recipient: bigint | undefined;
}

/** Terms that a wallet can pay, and what there was before. */
export interface AffordableTerms extends ChosenTerms {
  readonly before: WalletHoldings;
}

interface Payer extends Pick<PayOptions, 'price' | 'max'> {
  /** Wallet, base58. */
  readonly payer: string;
  readonly budget: OpenBudget | undefined;
}

/**
 * Takes the first terms whose price is the one that was named, not over the limit, not over what a budget has left, and not more than
 * the wallet has, as far as its node knows.
 * @throws CommandError where there are none, and where the node may be of another chain
 */
export async function chooseTerms(
  offers: readonly PayableTerms[],
  { price, max, budget, payer }: Payer,
  node: PayerNode,
): Promise<AffordableTerms> {
  const tooDear: string[] = [];
  const others: string[] = [];
  const refusals: string[] = [];
  for (const payable of offers) {
    const chosen = await describeTerms(payable, node);
    if (price !== undefined && !isPriceOf(price, chosen)) {
      others.push(chosen.price);
      continue;
    }
    const { paidIn } = chosen;
    const { amount, payTo } = payable.terms;
    if (amount > limitOf(max, budget, paidIn)) {
      tooDear.push(chosen.price);
      continue;
    }
    const refusal = await budget?.refusalOf({ paidIn, amount });
    if (refusal !== undefined) {
      refusals.push(refusal);
      continue;
    }
    const before = await readHoldingsBefore({ payer, payTo, paidIn }, payable.terms, node);
    const lack = lackOf(chosen, payer, before);
    if (lack === undefined) return { ...chosen, before };
    refusals.push(lack);
  }
  if (others.length === offers.length) throw new CommandError(`--price: offered are ${others.join(' or ')}`);
  const limit = max ?? (budget === undefined ? `${DEFAULT_MAX} dollar, in stablecoins that are known` : DEFAULT_MAX);
  const dear = `the price is ${tooDear.join(' or ')}, over the limit of ${limit}; allow more with --max <amount>`;
  const told = [...refusals, ...(tooDear.length > 0 ? [dear] : [])];
  throw new CommandError(refusals.length === 0 ? dear : `nothing was paid: ${told.join('; ')}`);
}

/** Nobody's wallet is to be emptied of a token whose worth only he knows, at the word of a server. */
function limitOf(max: string | undefined, budget: OpenBudget | undefined, { symbol, decimals }: PaidAsset): bigint {
  if (max === undefined && budget === undefined && !DOLLARS.has(symbol)) return -1n;
  const limit = parseDecimal(max ?? DEFAULT_MAX, decimals);
  if (!limit.ok) throw new CommandError(`--max: ${limit.detail}`);
  return limit.value;
}

function isPriceOf({ amount, token }: PriceArgument, { payable, paidIn }: ChosenTerms): boolean {
  const units = parseDecimal(amount, paidIn.decimals);
  const isToken = token === paidIn.asset || token.toUpperCase() === paidIn.symbol.toUpperCase();
  return isToken && units.ok && units.value === payable.terms.amount;
}

async function describeTerms(payable: PayableTerms, node: PayerNode): Promise<ChosenTerms> {
  const { asset, network, amount } = payable.terms;
  const token = [...KNOWN_TOKENS[network], ...SANDBOX_TOKENS].find(({ mint }) => mint === asset);
  const mint = token ?? (await readMint(asset, node.rpc));
  if (mint === undefined) {
    await readWithFeePayer([], payable.terms, node);
    throw new CommandError(`the asset ${asset} is not a token mint on ${network}`);
  }
  const { decimals, program } = mint;
  const paidIn = { asset, program, decimals, symbol: token?.symbol ?? asset };
  return { payable, paidIn, price: showAmount(amount, paidIn) };
}

/** An amount of a token as people write it: `0.01 USDC`. */
export function showAmount(units: bigint, { decimals, symbol }: PaidAsset): string {
  return `${formatAmount(units, decimals)} ${symbol}`;
}

interface Holders {
  readonly payer: string;
  readonly payTo: string;
  readonly paidIn: PaidAsset;
}

/** What payer and recipient hold of the token. */
export async function readHoldings(of: Holders, rpc: SolanaRpc): Promise<WalletHoldings> {
  return holdingsIn(await rpc.getAccounts(tokenAccountsOf(of), 'confirmed', TOKEN_HEAD_BYTES));
}

/**
 * The same before anything is signed, when the node may still turn out to be of another chain.
 * @throws CommandError where it is, or where no fee payer is named
 */
async function readHoldingsBefore(of: Holders, terms: Terms, node: PayerNode): Promise<WalletHoldings> {
  return holdingsIn(await readWithFeePayer(tokenAccountsOf(of), terms, node));
}

/** What a wallet lacks to pay, in a sentence; undefined where it has enough. */
function lackOf(
  { payable, paidIn, price }: ChosenTerms,
  payer: string,
  { payer: held }: WalletHoldings,
): string | undefined {
  const { amount, network } = payable.terms;
  const missing = amount - (held ?? 0n);
  if (missing <= 0n) return undefined;
  const shown = held === undefined ? `no account for ${paidIn.symbol}` : showAmount(held, paidIn);
  const isOfFaucet = network === 'solana-devnet' && paidIn.symbol === 'USDC';
  const faucet = isOfFaucet ? ' (https://faucet.circle.com; on a sandbox take --demo)' : '';
  return `the price is ${price}, and ${payer} has ${shown}, too little: send it ${showAmount(missing, paidIn)} on ${network}${faucet}, or name another wallet by --keypair`;
}

/** Reads accounts, and in the same call that of the fee payer, which is to be there. */
async function readWithFeePayer(addresses: readonly string[], terms: Terms, node: PayerNode) {
  const feePayer = requireFeePayer(terms);
  const [paying, ...accounts] = await node.rpc.getAccounts([feePayer, ...addresses], 'confirmed', TOKEN_HEAD_BYTES);
  if (paying === null) throw otherChain(node, feePayer);
  return accounts;
}

function tokenAccountsOf({ payer, payTo, paidIn }: Holders): readonly string[] {
  return [payer, payTo].map((owner) => associatedTokenAddress(owner, paidIn.asset, paidIn.program));
}

function holdingsIn([held = null, received = null]: readonly (AccountState | null)[]): WalletHoldings {
  return { payer: tokenAccountOf(held)?.amount, recipient: tokenAccountOf(received)?.amount };
}

/** Builds and signs the payment. */
export async function signPayment(
  wallet: PayOptions['wallet'],
  chosen: ChosenTerms,
  rpc: SolanaRpc,
): Promise<Uint8Array> {
  const { terms } = chosen.payable;
  const feePayer = requireFeePayer(terms);
  const { asset, amount, payTo, memo } = terms;
  // One of the server's may be of another chain, on which the wallet's money is worth more.
  const { blockhash } = await rpc.getLatestBlockhash('confirmed');
  const { decimals, program: tokenProgram } = chosen.paidIn;
  const transfer = { payer: wallet, feePayer, asset, tokenProgram, decimals, amount, payTo, blockhash };
  return buildPaymentTransaction(memo === undefined ? transfer : { ...transfer, memo });
}

function requireFeePayer({ feePayer }: Terms): string {
  if (feePayer === undefined) throw new CommandError('the offered terms name no fee payer, so they cannot be paid');
  return feePayer;
}

/** Address of a wallet, base58. */
export function walletAddress(wallet: PayOptions['wallet']): string {
  return addressOf(readKeypair(wallet, 'tollhouse pay').publicKey);
}
