import type { LRUCache } from 'lru-cache';
import { isPending, type MaybePromise } from '../../lib/maybe-promise.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { KeyedWallets } from '../../solana/accounts/keyed-wallets.js';
import type { MintPolicy } from '../../solana/accounts/mint-policy.js';
import type { ReceivingAccount, ReceivingAccounts } from '../../solana/accounts/receiving-accounts.js';
import type { BlockhashCache } from '../../solana/confirmation/blockhash-cache.js';
import type { AccountState, SimulationOptions, SimulationOutcome, SolanaRpc } from '../../solana/rpc/rpc.js';
import { guardProof, guardsOnFeePayer } from '../../solana/rules/guards.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import { inSpan } from '../../telemetry/trace.js';
import type { InspectedPayment } from '../backend/backend.js';
import { online } from '../backend/chain-landing.js';
import { unavailable } from '../backend/outcomes.js';
import type { MoneyInFlight, Sight } from '../sponsorship/money-in-flight.js';
import { fundsAfter, spendingOf, UNKEYED } from '../sponsorship/spending.js';
import type { LookAtFunds } from '../sponsorship/sponsorship.js';
import { type FaultParts, whyNotTaken } from './why-not-taken.js';

/** What looking takes. */
export interface LookParts {
  readonly rpc: SolanaRpc;
  readonly blockhashes: Pick<BlockhashCache, 'lastValidBlockHeightOf'>;
  readonly mintPolicy: MintPolicy;
  /** Knows whose the accounts are that are paid into. */
  readonly receiving: ReceivingAccounts;
  /** Knows what the wallets are that own what is paid from. */
  readonly wallets: KeyedWallets;
  /** Numbers the looks. */
  readonly flight: Pick<MoneyInFlight, 'nextLook'>;
}

/** What was seen of payments whose simulation passed, by the hash of their message. */
export type VerifiedCache = LRUCache<string, Sight>;

const NO_INNER_INSTRUCTIONS =
  'A wallet guard names the fee payer, and the Solana RPC does not list inner instructions when it simulates, so nothing shows that the guard is harmless; nothing was charged. The operator needs an RPC endpoint that answers innerInstructions.';

const BEHIND =
  'The Solana RPC is behind and does not know the blockhash yet; nothing was charged: send the same payment again.';

const GUARD_CALLS = {
  reason: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
  message: 'A wallet guard that names the fee payer calls another program.',
} as const;

/** Simulates the payment, and sees what it would leave in its payer's accounts and whose those are that it goes to. */
export async function lookAtFunds(
  parts: LookParts & FaultParts,
  verified: VerifiedCache,
  inspected: InspectedPayment,
): ReturnType<LookAtFunds> {
  const { transaction, sponsored } = inspected;
  const asking = checkMint(parts, inspected);
  const mintFault = isPending(asking) ? await asking : asking;
  if (mintFault !== undefined) return { ok: false, refusal: { reason: mintFault, message: REASONS[mintFault] } };
  const spending = sponsored ? spendingOf(transaction) : [];
  const receivers = receiversOf(inspected);
  const guards = guardsToProve(inspected);
  const look = parts.flight.nextLook();
  const accounts = accountsOf(spending, receivers);
  const asked = { commitment: 'confirmed', accounts, innerInstructions: guards.length > 0 } as const;
  const simulation = await simulateInSpan(parts, inspected, asked);
  if (simulation.err !== null) return { ok: false, refusal: await whyNotTaken(parts, inspected, simulation) };
  const proof = guardProof(guards, simulation);
  if (proof === 'not-said') throw unavailable(NO_INNER_INSTRUCTIONS);
  if (proof === 'calls') return { ok: false, refusal: GUARD_CALLS };
  const checking = checkReceivers(parts, receivers, simulation.accounts?.slice(spending.length));
  const foreign = isPending(checking) ? await checking : checking;
  if (foreign !== undefined) return { ok: false, refusal: { reason: foreign, message: REASONS[foreign] } };
  const funds = fundsAfter(spending, simulation);
  const naming = nameOwners(parts, inspected, funds.owners);
  const owners = isPending(naming) ? await online(naming) : naming;
  const sight = { look, slot: simulation.slot, left: funds.left, owners, delegates: funds.delegates };
  verified.set(transaction.messageHash, sight);
  return { ok: true, sight };
}

/** Whoever signs for himself has a key. */
function nameOwners(
  { wallets }: Pick<LookParts, 'wallets'>,
  { payer }: InspectedPayment,
  owners: readonly string[],
): MaybePromise<readonly string[]> {
  if (owners.every((it) => it === payer)) return owners;
  const name = async (owner: string) => (owner === payer || (await wallets.isKeyed(owner)) ? owner : UNKEYED);
  return Promise.all(owners.map(name));
}

/** The accounts that are looked at: those that are spent from first. */
function accountsOf(...lists: readonly (readonly { readonly account: string }[])[]): readonly string[] {
  const accounts: string[] = [];
  for (const list of lists) for (const { account } of list) accounts.push(account);
  return accounts;
}

/** What a node says of a payment, and whether it could not compare it with what has landed. */
type Simulation = SimulationOutcome & { readonly isUncompared?: boolean };

function simulateInSpan(parts: LookParts, inspected: InspectedPayment, asked: SimulationOptions): Promise<Simulation> {
  const about = { 'tollhouse.payment.id': inspected.transaction.messageHash };
  return inSpan('tollhouse.simulate', about, () => online(simulate(parts, inspected, asked)));
}

/** A node that has not got a blockhash of ours yet simulates with one that it has. */
async function simulate(parts: LookParts, inspected: InspectedPayment, asked: SimulationOptions): Promise<Simulation> {
  const { bytes } = inspected.transaction;
  const first = await parts.rpc.simulateTransaction(bytes, asked);
  const isBehind = first.err === 'BlockhashNotFound' && (await isBlockhashAlive(parts, inspected));
  if (!isBehind) return first;
  const second = await parts.rpc.simulateTransaction(bytes, Object.assign({ replaceBlockhash: true }, asked));
  if (second.err === 'BlockhashNotFound') throw unavailable(BEHIND);
  return { ...second, isUncompared: true };
}

/**
 * Whether a blockhash is one of ours and lives: the block height tells, and no node that may not have got it yet. Rejects with
 * RpcError.
 */
export async function isBlockhashAlive(
  { rpc, blockhashes }: Pick<LookParts, 'rpc' | 'blockhashes'>,
  { transaction }: InspectedPayment,
): Promise<boolean> {
  const last = blockhashes.lastValidBlockHeightOf(transaction.blockhash);
  if (last === undefined) return false;
  const { blockHeight } = await rpc.getTip('confirmed');
  return blockHeight <= last;
}

/** Guards that name our fee payer; nothing is signed before a simulation has shown that they call nobody. */
export function guardsToProve({ transaction, sponsored }: InspectedPayment): readonly number[] {
  return sponsored ? guardsOnFeePayer(transaction) : [];
}

/** Why the token of a payment is not taken. */
export function checkMint(
  { mintPolicy }: Pick<LookParts, 'mintPolicy'>,
  { transfer }: InspectedPayment,
): MaybePromise<Reason | undefined> {
  if (transfer === undefined) return undefined;
  const asking = mintPolicy(transfer.mint, transfer.program);
  return isPending(asking) ? online(asking) : asking;
}

/** Why a payment is not to be sent that was not looked at: its token is not taken, or it would go to somebody else. */
export async function checkUnseen(
  parts: Pick<LookParts, 'mintPolicy' | 'receiving'>,
  inspected: InspectedPayment,
): Promise<Reason | undefined> {
  const asking = checkMint(parts, inspected);
  const mintFault = isPending(asking) ? await asking : asking;
  return mintFault ?? checkReceivers(parts, receiversOf(inspected));
}

/** The token accounts that a payment goes to. Where we sign nothing, the chain is asked afterwards what was received. */
function receiversOf({ transfer, sponsored, terms, recipients = [terms.payTo] }: InspectedPayment): ReceivingAccount[] {
  if (transfer === undefined || !sponsored) return [];
  const { mint, program } = transfer;
  const receivers: ReceivingAccount[] = [];
  for (const wallet of recipients) receivers.push({ wallet, account: associatedTokenAddress(wallet, mint, program) });
  return receivers;
}

/** A node that does not show accounts with a simulation is asked for them. */
function checkReceivers(
  { receiving }: Pick<LookParts, 'receiving'>,
  receivers: readonly ReceivingAccount[],
  shown?: readonly (AccountState | null)[],
): MaybePromise<Reason | undefined> {
  if (shown === undefined) return online(receiving.isAnyForeign(receivers)).then(foreignReason);
  // Each is noted, also those behind the first that is foreign.
  return foreignReason(receivers.map((it, index) => receiving.isForeign(it, shown[index] ?? null)).includes(true));
}

function foreignReason(isForeign: boolean): Reason | undefined {
  return isForeign ? 'invalid_exact_svm_recipient_token_account_not_owned' : undefined;
}
