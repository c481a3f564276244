import { REASONS, type Reason } from '../protocol/reasons.js';
import { associatedTokenAddress } from './associated-token.js';
import { isTokenAccountOf } from './checks.js';
import { type PlainInstruction, readInstruction } from './instructions.js';
import { NATIVE_SOL } from './programs.js';
import type { Check, CheckPolicy, RuleSubject } from './rules.js';
import * as rules from './rules.js';
import type { DecodedTransaction } from './transaction.js';

/** What a transaction must do to pay a payment request: all legs, each by a transfer of its own. */
export interface TransferDemand {
  /** Mint, base58; NATIVE_SOL for SOL. */
  readonly asset: string;
  /** Token program of the mint; any text for SOL. */
  readonly tokenProgram: string;
  readonly legs: readonly { readonly recipient: string; readonly amount: bigint }[];
  /** Public key that must be among the transaction's accounts. */
  readonly reference: string;
  readonly memo: string | undefined;
}

/** The verdict: who pays and who pays the network fee, or the first rule that is broken. */
export type DemandResult =
  | { readonly ok: true; readonly payer: string; readonly sponsored: boolean; readonly first: Movement }
  | { readonly ok: false; readonly reason: Reason; readonly message: string };

/** A transfer of the demanded asset, whichever instruction makes it. */
export interface Movement {
  readonly source: string;
  readonly destination: string;
  readonly authority: string;
  readonly amount: bigint;
}

interface Subject extends RuleSubject {
  readonly demand: TransferDemand;
  readonly movements: readonly Movement[];
}

/** Eight legs with their accounts, compute budget, memo and wallet guards. */
const MAX_INSTRUCTIONS = 24;

const OUTCOME: readonly Check<Subject>[] = [
  rules.noLookupTables,
  rules.noDurableNonce,
  { name: 'reference is named', run: checkReference },
  { name: 'every leg is paid', run: checkLegs },
  rules.memos,
  rules.signatures,
];

/** Where we pay the fee, the transaction may do nothing else, and nothing at our cost. */
const SPONSORED: readonly Check<Subject>[] = [
  rules.twoSigners,
  rules.atMostInstructions(MAX_INSTRUCTIONS),
  rules.computeLimit,
  rules.computePrice,
  rules.onlyInstructions([
    'token-transfer',
    'sol-transfer',
    'create-token-account',
    'compute-limit',
    'compute-price',
    'memo',
    'guard',
  ]),
  rules.noKeyOfOurs,
  { name: 'source is not ours', run: checkSources },
  { name: 'the payer is the authority', run: checkAuthorities },
  rules.feeUnderCap,
];

/**
 * Whether a transaction, however it was built, has the outcome that a payment request asks for. The payer may pay the
 * network fee itself: then whatever else the transaction does is its own business. Pure.
 */
export function checkDemand(
  transaction: DecodedTransaction,
  demand: TransferDemand,
  policy: CheckPolicy,
): DemandResult {
  const instructions = transaction.instructions.map(readInstruction);
  const movements = instructions.flatMap((it) => movementOf(it, demand));
  const sponsored = policy.managedKeys.has(transaction.accounts[0] ?? '');
  const payer = movements[0]?.authority ?? transaction.accounts[sponsored ? 1 : 0] ?? '';
  const subject: Subject = { transaction, instructions, payer, memo: demand.memo, policy, demand, movements };
  const reason = rules.firstReason(sponsored ? [...SPONSORED, ...OUTCOME] : OUTCOME, subject);
  if (reason !== undefined) return { ok: false, reason, message: REASONS[reason] };
  const [first] = movements;
  if (first === undefined) throw new Error('unreachable: the rule "every leg is paid" was applied');
  return { ok: true, payer, sponsored, first };
}

function movementOf(plain: PlainInstruction, { asset, tokenProgram }: TransferDemand): Movement[] {
  if (plain.kind === 'sol-transfer') {
    const { source, destination, lamports } = plain;
    return asset === NATIVE_SOL ? [{ source, destination, authority: source, amount: lamports }] : [];
  }
  const isToken = plain.kind === 'token-transfer' || plain.kind === 'unchecked-token-transfer';
  if (!isToken || plain.program !== tokenProgram) return [];
  if (plain.kind === 'token-transfer' && plain.mint !== asset) return [];
  const { source, destination, authority, amount } = plain;
  return [{ source, destination, authority, amount }];
}

function checkReference({ transaction, demand }: Subject): Reason | undefined {
  return transaction.accounts.includes(demand.reference) ? undefined : 'invalid_transfer_reference_missing';
}

/** Each leg needs a transfer of its own: one transfer does not pay two legs to the same wallet. */
function checkLegs({ movements, demand }: Subject): Reason | undefined {
  const open = movements.filter(({ source, destination }) => source !== destination);
  for (const { recipient, amount } of demand.legs) {
    const destination = destinationOf(recipient, demand);
    const index = open.findIndex((it) => it.destination === destination && it.amount === amount);
    if (index === -1) return 'invalid_transfer_leg_missing';
    open.splice(index, 1);
  }
  return undefined;
}

function destinationOf(recipient: string, { asset, tokenProgram }: TransferDemand): string {
  return asset === NATIVE_SOL ? recipient : associatedTokenAddress(recipient, asset, tokenProgram);
}

function checkSources({ movements, policy, demand }: Subject): Reason | undefined {
  const ours = movements.some(({ source }) => isTokenAccountOf(policy.managedKeys, source, demand.asset));
  return ours ? 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds' : undefined;
}

function checkAuthorities({ movements, transaction }: Subject): Reason | undefined {
  const [, payer] = transaction.accounts;
  return movements.every(({ authority }) => authority === payer)
    ? undefined
    : 'invalid_exact_svm_payload_excessive_signers';
}
