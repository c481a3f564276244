import { TollhouseError } from '../../errors/errors.js';
import { signatureText } from '../../protocol/address.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import { readMint, readTokenBalances, tokenAccountOf } from '../../solana/accounts/token-accounts.js';
import { type PayoutPlan, payoutTransaction, type SplitWallet } from '../../solana/building/payout-transaction.js';
import type { BlockhashCache } from '../../solana/confirmation/blockhash-cache.js';
import type { Landing, TransactionDelivery } from '../../solana/confirmation/confirmation.js';
import type { FeePayer } from '../../solana/fee-payer.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import { networkFeeOf } from '../../solana/transaction/network-fee.js';
import type { HeldReason, PayoutRecord, SignedPayout } from '../../storage/payouts/payout-store.js';
import { asked, unknownInOutage } from '../backend/chain-landing.js';
import type { FeeLimit } from '../sponsorship/fee-limit.js';
import type { EarlierSends } from './earlier-sends.js';
import { createPastPayouts, type PaidPrefix, type PastPayouts } from './past-payouts.js';
import { failedLegOf, findPayoutFate, type PayoutOutcome } from './payout-fate.js';

/** A payout that is ready to be sent, or why it cannot be: nothing of it was signed then. */
export type PreparedPayout =
  | { readonly ok: true; readonly signed: SignedPayout }
  | { readonly ok: false; readonly reason: UnsentReason; readonly recipient?: string };

/** Why a payout is not signed. */
export type UnsentReason = WalletReason | RecipientReason;
type WalletReason = Extract<HeldReason, 'split_wallet_short' | 'split_wallet_replaced'>;
/** Why a recipient cannot be paid. */
export type RecipientReason = Extract<
  HeldReason,
  'recipient_token_account_missing' | 'recipient_token_account_not_owned' | 'transfer_refused'
>;

/** What is paid by one transaction: a payout, or a refund. */
export type SentMoney = Pick<PayoutRecord, 'id' | 'wallet' | 'mint' | 'legs' | 'total'>;

/**
 * Pays out on the chain. Rejects with `chain_unavailable` when the chain cannot be asked, and with `fee_limit_reached` while no
 * network fees are paid; nothing has been signed then.
 */
export interface PayoutSender {
  readonly network: NetworkId;
  /** The split wallet that is paid, base58. */
  readonly wallet: string;
  /** All wallets that can be paid out of, that one first: the others still hold what was paid to them before. */
  readonly wallets: readonly string[];
  /** A token by its mint; one that has no symbol here is called by its mint. */
  token(mint: string): Promise<Token>;
  /** Which of some recipients cannot receive a token, and why. A missing token account is never created: its rent is theirs to pay. */
  faults(mint: string, recipients: readonly string[]): Promise<ReadonlyMap<string, RecipientReason>>;
  /**
   * Resolves when payouts may be signed. Rejects with `chain_unavailable` while something may still land that was sent before the books were
   * restored, as `prepare` and `past` do too.
   */
  mayPay(): Promise<void>;
  /** Looks whether a payout from one of `wallets` would succeed, and signs its transaction. It is not sent. */
  prepare(payout: SentMoney): Promise<PreparedPayout>;
  /** Sends a signed payout and waits. Never rejects for an outage: it may have left. */
  send(signed: SignedPayout): Promise<PayoutOutcome>;
  /** Finds out what became of a payout that may have been sent before, and sends the same bytes again while they can land. */
  resume(signed: SignedPayout): Promise<PayoutOutcome>;
  /** Asks every node what became of a payout that may have been sent; sends nothing. */
  fate(signed: SignedPayout): Promise<PayoutOutcome>;
  /**
   * What the chain knows of payouts from a wallet, whatever the books say.
   * @param prefix - `rfd_`: of refunds. Default: of payouts
   */
  past(wallet: string, prefix?: PaidPrefix): PastPayouts;
  /** What a wallet holds of a token, atomic units. Rejects with `chain_unavailable`. */
  balance(wallet: string, mint: string): Promise<bigint>;
}

/** What payouts need of the chain. */
export interface PayoutSenderParts {
  readonly network: NetworkId;
  readonly tokens: readonly Token[];
  readonly rpc: SolanaRpc;
  readonly delivery: TransactionDelivery;
  readonly blockhashes: BlockhashCache;
  /** By address; the first pays the network fee: a payout costs its recipients nothing. */
  readonly feePayers: ReadonlyMap<string, FeePayer>;
  /** The first is the one that is paid. */
  readonly splitWallets: readonly [SplitWallet, ...SplitWallet[]];
  /** Bounds what the fee payer spends. */
  readonly feeLimit: FeeLimit;
  /** What was sent before the books were restored. Default: they were not. */
  readonly earlier?: EarlierSends;
  /** Longest wait for a payout to land before its outcome is unknown for now, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 30_000;
const RETRY_SECONDS = 2;
const SIGNATURE_BYTES = 64;

/** Makes what pays out of split wallets. */
export function createPayoutSender(parts: PayoutSenderParts): PayoutSender {
  const { network, delivery, splitWallets, timeoutMs = TIMEOUT_MS } = parts;
  const mints = new Map<string, Token>();
  const read = { marks: new Map() };
  const mayPay = async () => parts.earlier?.over();

  async function token(mint: string): Promise<Token> {
    const known = parts.tokens.find((it) => it.mint === mint) ?? mints.get(mint);
    if (known !== undefined) return known;
    const facts = await asked(readMint(mint, parts.rpc));
    if (facts === undefined) throw unavailable(`The chain knows no token ${mint}.`);
    const read = { symbol: mint, mint, ...facts };
    mints.set(mint, read);
    return read;
  }

  /** Only what has landed well is taken from one node's word; for the rest all of them are asked. */
  async function outcomeOf(landing: Promise<Landing>, signed: SignedPayout): Promise<PayoutOutcome> {
    const landed = await landing.catch(unknownInOutage);
    if (landed.status === 'landed' && landed.err === null) return { status: 'paid', slot: landed.slot };
    if (landed.status === 'landed' || landed.status === 'expired') return findPayoutFate(parts.rpc, signed, read);
    return { status: 'unknown' };
  }

  return {
    network,
    wallet: splitWallets[0].address,
    wallets: splitWallets.map(({ address }) => address),
    token,
    mayPay,
    past(wallet, prefix) {
      const past = createPastPayouts(parts.rpc, wallet, prefix);
      // What is missing in a history proves nothing as long as something may be added to it.
      return { ...past, page: (before) => mayPay().then(() => past.page(before)) };
    },
    faults: async (mint, recipients) => readFaults(await token(mint), recipients, parts.rpc),
    async prepare(payout) {
      await mayPay();
      return prepare(parts, payout, await token(payout.mint));
    },
    // It was simulated, and what a node says of it before it lands decides nothing: only the chain does.
    send: (signed) => outcomeOf(delivery.deliver({ ...deliveryOf(signed), preflight: false, timeoutMs }), signed),
    resume: (signed) => outcomeOf(delivery.watch({ ...deliveryOf(signed), timeoutMs }), signed),
    fate: (signed) => findPayoutFate(parts.rpc, signed, read),
    async balance(wallet, mint) {
      const { program } = await token(mint);
      const [held = 0n] = await asked(readTokenBalances([wallet], mint, program, parts.rpc));
      return held;
    },
  };
}

async function readFaults(
  { mint, program }: Token,
  recipients: readonly string[],
  rpc: SolanaRpc,
): Promise<ReadonlyMap<string, RecipientReason>> {
  const faults = new Map<string, RecipientReason>();
  const addresses = recipients.map((it) => associatedTokenAddress(it, mint, program));
  const accounts = await asked(rpc.getAccounts(addresses, 'confirmed'));
  for (const [index, recipient] of recipients.entries()) {
    const account = tokenAccountOf(accounts[index] ?? null);
    if (account === undefined) faults.set(recipient, 'recipient_token_account_missing');
    else if (account.owner !== recipient) faults.set(recipient, 'recipient_token_account_not_owned');
  }
  return faults;
}

async function prepare(parts: PayoutSenderParts, payout: SentMoney, token: Token): Promise<PreparedPayout> {
  const { rpc, blockhashes, feePayers, splitWallets, feeLimit } = parts;
  const [feePayer] = feePayers.values();
  if (feePayer === undefined) throw new Error('there is no key that pays network fees');
  const splitWallet = splitWallets.find(({ address }) => address === payout.wallet);
  if (splitWallet === undefined) return { ok: false, reason: 'split_wallet_replaced' };
  const recipients = payout.legs.map(({ recipient }) => recipient);
  const [fault] = await readFaults(token, recipients, rpc);
  if (fault !== undefined) return { ok: false, recipient: fault[0], reason: fault[1] };
  const [balance = 0n] = await asked(readTokenBalances([splitWallet.address], token.mint, token.program, rpc));
  if (balance < payout.total) return { ok: false, reason: 'split_wallet_short' };
  const { blockhash, lastValidBlockHeight } = await asked(blockhashes.latest());
  const { slot: signedSlot } = await asked(rpc.getTip('confirmed'));
  const { id, legs, mint } = payout;
  const { program: tokenProgram, decimals } = token;
  const plan = { id, legs, mint, tokenProgram, decimals, feePayer: feePayer.address, blockhash };
  const refusal = await refusalOf(plan, splitWallet.address, rpc);
  if (refusal !== undefined) return refusal;
  await feeLimit.take(networkFeeOf(await payoutTransaction(plan, splitWallet.address)));
  const transaction = await splitWallet.sign(plan);
  const bytes = feePayer.sign(transaction);
  const { signaturesOffset } = transaction;
  const signature = signatureText(bytes.subarray(signaturesOffset, signaturesOffset + SIGNATURE_BYTES));
  return { ok: true, signed: { signature, transaction: bytes, blockhash, lastValidBlockHeight, signedSlot } };
}

/** Why a transfer of the payout would fail. Any other error is no fault of the payout: it has to wait. */
async function refusalOf(plan: PayoutPlan, wallet: string, rpc: SolanaRpc): Promise<PreparedPayout | undefined> {
  const { bytes } = await payoutTransaction(plan, wallet);
  const { err } = await asked(rpc.simulateTransaction(bytes, { commitment: 'confirmed' }));
  if (err === null) return undefined;
  const leg = failedLegOf(err, plan.legs);
  if (leg !== undefined) return { ok: false, reason: 'transfer_refused', recipient: leg.recipient };
  throw unavailable(`The payout would fail on the chain now: ${JSON.stringify(err).slice(0, 200)}.`);
}

function unavailable(detail: string): TollhouseError {
  return new TollhouseError('chain_unavailable', detail, { retryAfterSeconds: RETRY_SECONDS });
}

function deliveryOf({ signature, transaction, blockhash, lastValidBlockHeight }: SignedPayout) {
  return { signature, transaction, blockhash, lastValidBlockHeight, commitment: 'confirmed' } as const;
}
