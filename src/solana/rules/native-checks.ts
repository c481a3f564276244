import type { Reason } from '../../protocol/reasons.js';
import { isTokenAccountOf } from '../transaction/associated-token.js';
import type { Instruction, PlainInstruction } from '../transaction/instructions.js';
import type { DecodedTransaction } from '../transaction/transaction.js';
import {
  isPaidFor,
  type Movement,
  matchLegs,
  movementsOf,
  type RequiredTransfers,
  receivingAccount,
} from './required-transfers.js';
import type { Check, CheckPolicy, RuleSubject } from './rules.js';
import * as rules from './rules.js';

/** The verdict: who pays and who pays the network fee, or the first rule that is broken. */
export type DemandResult =
  | { readonly ok: true; readonly payer: string; readonly sponsored: boolean; readonly first: Movement }
  | { readonly ok: false; readonly reason: Reason; readonly message: string };

interface Subject extends RuleSubject {
  readonly demand: RequiredTransfers;
  readonly movements: readonly Movement[];
  /** The transfers that pay the legs; none unless they pay them all. */
  readonly paid: readonly Movement[] | undefined;
}

/** Eight legs with their accounts, compute budget, memo and wallet guards. */
const MAX_INSTRUCTIONS = 24;

/** Whatever is in it, it must pay. */
const OUTCOME: readonly Check<Subject>[] = [
  { name: 'reference is named', run: checkReference },
  {
    name: 'every leg is paid',
    run: ({ paid }) => (paid === undefined ? 'invalid_transfer_leg_missing' : undefined),
  },
  { name: 'the reference is the last account of the transfer', run: checkPlace },
  rules.memos,
  rules.signatures,
];

const SELF_PAID: readonly Check<Subject>[] = [rules.noLookupTables, rules.noDurableNonce, ...OUTCOME];

/** Where we pay the fee, the transaction may do nothing but pay, and nothing at our cost. */
const SPONSORED: readonly Check<Subject>[] = [
  rules.noLookupTables,
  rules.twoSigners,
  rules.atMostInstructions(MAX_INSTRUCTIONS),
  rules.noDurableNonce,
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
  { name: 'keys of ours receive at most', run: checkKeysOfOurs },
  { name: 'source is not ours', run: checkSources },
  { name: 'the payer is the authority', run: checkAuthorities },
  rules.feeUnderCap,
  ...OUTCOME,
  { name: 'no transfer but the legs', run: checkNothingElse },
  { name: 'no account but those of the legs', run: checkCreations },
];

/**
 * Whether a transaction, however it was built, has the outcome that a payment request asks for. The payer may pay the
 * network fee itself: then whatever else the transaction does is its own business, and the chain is asked afterwards
 * whether the recipients hold the money (landed-payment.ts). Pure.
 */
export function checkDemand(
  transaction: DecodedTransaction,
  demand: RequiredTransfers,
  policy: CheckPolicy,
): DemandResult {
  const instructions = transaction.plain;
  const movements = movementsOf(instructions, demand);
  const paid = matchLegs(movements, demand);
  const sponsored = policy.managedKeys.has(transaction.accounts[0] ?? '');
  const payer = paid?.[0]?.authority ?? '';
  const subject: Subject = { transaction, instructions, payer, memo: demand.memo, policy, demand, movements, paid };
  const reason = rules.firstReason(sponsored ? SPONSORED : SELF_PAID, subject);
  if (reason !== undefined) {
    const [payers, recipients] = [movements.map((it) => it.authority), demand.legs.map((it) => it.recipient)];
    return { ok: false, reason, message: rules.messageOf(reason, payers, recipients) };
  }
  const [first] = paid ?? [];
  if (first === undefined) throw new Error('unreachable: the rule "every leg is paid" was applied');
  return { ok: true, payer, sponsored, first };
}

function checkReference({ transaction, demand }: Subject): Reason | undefined {
  const { reference } = demand;
  return reference === undefined || transaction.accounts.includes(reference)
    ? undefined
    : 'invalid_transfer_reference_missing';
}

function checkPlace({ transaction, demand, paid = [] }: Subject): Reason | undefined {
  const signers = transaction.accounts.slice(0, transaction.requiredSignatures);
  return isPaidFor(paid, demand, signers) ? undefined : 'invalid_transfer_reference_misplaced';
}

/** Where an instruction may name a key of ours: SOL may go to it, and a token account be created for it. */
const RECEIVING_POSITION: Partial<Record<PlainInstruction['kind'], number>> = {
  'sol-transfer': 1,
  'create-token-account': 2,
};

function checkKeysOfOurs({ transaction, instructions, policy }: Subject): Reason | undefined {
  const spends = transaction.instructions.some((it, position) => namesKeyOfOurs(it, instructions[position], policy));
  return spends ? 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds' : undefined;
}

function namesKeyOfOurs(
  { program, accounts }: Instruction,
  plain: PlainInstruction | undefined,
  { managedKeys }: CheckPolicy,
): boolean {
  const allowed = plain && RECEIVING_POSITION[plain.kind];
  return managedKeys.has(program) || accounts.some((key, index) => index !== allowed && managedKeys.has(key));
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

/** Of any asset: we pay for the legs, not for what the payer would like to move beside them. */
function checkNothingElse({ instructions, paid }: Subject): Reason | undefined {
  const transfers = instructions.filter(({ kind }) => kind === 'token-transfer' || kind === 'sol-transfer');
  return transfers.length === paid?.length ? undefined : 'invalid_transfer_other_transfer';
}

function checkCreations({ instructions, demand }: Subject): Reason | undefined {
  const accounts = new Set(demand.legs.map(({ recipient }) => receivingAccount(recipient, demand)));
  return instructions.every((it) => it.kind !== 'create-token-account' || accounts.has(it.account))
    ? undefined
    : 'invalid_exact_svm_payload_unknown_optional_instruction';
}
