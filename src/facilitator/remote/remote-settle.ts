import { defined } from '../../lib/defined.js';
import { withAmountJson } from '../../protocol/money/amount-json.js';
import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { Settlement, Verification } from '../../protocol/types.js';
import { decodeSettlement, type RemoteSettlement } from '../../protocol/wire/remote.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { BackendSettlement, InspectedPayment, SettleStep } from '../backend/backend.js';
import { failureText } from '../backend/chain-landing.js';
import { unavailable, unsent } from '../backend/outcomes.js';
import type { Remote } from './remote.js';
import { type Asked, askInTurn } from './remote-ask.js';
import type { GivenPayment, RemoteChain } from './remote-chain.js';
import { inDoubt, isTooLate } from './too-late.js';

/** What settlements elsewhere are made with. */
export interface RemoteSettlementParts {
  /** At least one, in order of preference. */
  readonly remotes: readonly Remote[];
  /** Longest wait for the response of a settlement, in milliseconds. */
  readonly settleTimeoutMs: number;
  /** Asked what became of a payment when the facilitators' word is not enough. */
  readonly chain?: RemoteChain;
  /** Clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Whether the facilitators find a payment good, which says that they have not settled it; asked a moment ago or now. */
  verify(inspected: InspectedPayment): Promise<Verification>;
}

/** Reasons that say that the payment can never be made with this transaction. */
const FINAL: Partial<Record<Reason, 'failed' | 'expired'>> = {
  invalid_exact_svm_transaction_failed: 'failed',
  invalid_exact_svm_transaction_expired: 'expired',
};
/** So much longer than the terms allow we listen: the facilitator's own "pending" tells more than our time-out. */
const LISTEN_LONGER_MS = 5_000;
/** By then a transaction has landed or never will, and no facilitator is still at work on it. */
const OVER_MS = 180_000;

type Failure = Extract<Settlement, { readonly status: 'failed' }>;

/** A settlement that was asked for, and the response to it, if any came. */
interface AskedSettlement {
  readonly given: GivenPayment;
  readonly step: SettleStep;
  readonly word: RemoteSettlement | undefined;
}

/**
 * Settles for the first time. The claim is kept as "sent" before the settlement is asked for, and a payment that the
 * facilitator does not find good comes not so far: whatever it says of one that is "sent", it has heard of it from here
 * first.
 */
export async function settle(
  parts: RemoteSettlementParts,
  inspected: InspectedPayment,
  step: SettleStep,
): Promise<BackendSettlement> {
  const { payer } = inspected;
  if (step.refused !== undefined) return { status: 'unsent', ...step.refused };
  const verification = await parts.verify(inspected);
  if (!verification.ok) return unsent(verification.reason, payer, verification.message);
  if (!(await step.recordBroadcast({}))) return unsent('settlement_in_progress', payer);
  const asked = await askToSettle(parts, inspected);
  if (!asked.ok && !asked.fault.mayHaveActed) {
    await step.notSent();
    throw unavailable('The facilitator cannot be reached at the moment; nothing was charged.', asked.fault);
  }
  const word = asked.ok ? asked.value : undefined;
  // What comes of it buys at the door through which it was begun.
  if (word?.status === 'pending' && word.isBegunBefore) return unsent('settlement_in_progress', payer);
  const refused = await refusalOf(parts, inspected, word);
  if (refused !== undefined) return ended(refused) ?? { ...refused, status: 'unsent' };
  return conclude(parts, inspected, { given: { claimedAt: parts.now() }, step, word });
}

/**
 * Asks again what became of a settlement whose response stayed out. From then on a refusal is not believed: a facilitator that
 * settled before its response was lost says `duplicate_settlement`, finds no funds or an old blockhash, and the payer has
 * paid all the same. The chain tells, where it may be asked. Without it, `duplicate_settlement` with the signature is the
 * receipt of what was asked for from here; any other refusal ends the payment once nothing can come of it any more.
 */
export async function resume(
  parts: RemoteSettlementParts,
  inspected: InspectedPayment,
  record: PaymentRecord,
  step: SettleStep,
): Promise<BackendSettlement> {
  const asked = await askToSettle(parts, inspected);
  const word = asked.ok ? asked.value : undefined;
  const refused = await refusalOf(parts, inspected, word);
  if (refused !== undefined) {
    const end = ended(refused) ?? (parts.chain === undefined ? believed(parts, inspected, record, refused) : undefined);
    if (end !== undefined) return end;
  }
  return conclude(parts, inspected, { given: record, step, word });
}

function askToSettle(
  { remotes, settleTimeoutMs }: RemoteSettlementParts,
  inspected: InspectedPayment,
): Promise<Asked<RemoteSettlement>> {
  const timeoutMs = Math.min(inspected.terms.maxTimeoutSeconds * 1000 + LISTEN_LONGER_MS, settleTimeoutMs);
  return askInTurn(remotes, inspected, 'settle', timeoutMs, decodeSettlement);
}

/**
 * The facilitator's refusal, as far as it is believed. That a transaction is too late does not say that it has not landed: its own
 * first try may have. Where the chain may be asked, it has the last word on that.
 */
async function refusalOf(
  { chain }: RemoteSettlementParts,
  inspected: InspectedPayment,
  word: Settlement | undefined,
): Promise<Failure | undefined> {
  if (word?.status !== 'failed') return undefined;
  if (!isTooLate(word)) return word;
  if (chain === undefined) return inDoubt(word);
  return (await chain.landedBefore(inspected)).status === 'never' ? word : undefined;
}

function ended(failure: Failure): BackendSettlement | undefined {
  const final = FINAL[failure.reason];
  return final === undefined ? undefined : { ...failure, final };
}

/** What a refusal of a payment that was "sent" comes to where there is nobody else to ask; undefined while it is open. */
function believed(
  { now }: RemoteSettlementParts,
  inspected: InspectedPayment,
  record: PaymentRecord,
  failure: Failure,
): BackendSettlement | undefined {
  const { reason, signature } = failure;
  // Without a signature in this very answer it may as well be one that it is still at work on, or that has failed since.
  if (reason === 'duplicate_settlement' && signature !== undefined) return settled(inspected, { signature, slot: 0 });
  if (now() - record.claimedAt < OVER_MS) return undefined;
  process.emitWarning(
    `payment ${record.id} is refused now (${reason}), and the answer to its settlement was lost: it may have been ` +
      'paid; look it up on the chain. With the option "rpcUrl" remoteFacilitator does',
    { code: 'TOLLHOUSE_REMOTE_OUTCOME' },
  );
  const doubt = 'An earlier settlement of this payment was not answered, and whether it was paid is not known.';
  return { ...failure, final: 'failed', message: `${failure.message} ${doubt}` };
}

/** Takes the facilitator's word where it says how the payment ended; else the chain's. */
async function conclude(
  { chain }: RemoteSettlementParts,
  inspected: InspectedPayment,
  { given, step, word }: AskedSettlement,
): Promise<BackendSettlement> {
  if (word?.status === 'settled') return word;
  const { payer } = inspected;
  const told = word?.signature;
  if (told !== undefined && told !== given.signature) await step.recordBroadcast({ signature: told });
  const signature = told ?? given.signature;
  const known = defined({ signature });
  const open = { status: 'pending', payer, ...known } as const;
  const found = await chain?.lookUp(inspected, { ...given, ...known });
  switch (found?.status) {
    case 'landed': {
      if (found.err === null) return settled(inspected, found);
      const message = failureText(found.err);
      const reason = 'invalid_exact_svm_transaction_failed';
      return { status: 'failed', final: 'failed', reason, message, payer, signature: found.signature };
    }
    case 'expired': {
      const reason = 'invalid_exact_svm_transaction_expired';
      return { status: 'failed', final: 'expired', reason, message: REASONS[reason], payer, ...known };
    }
    case 'absent': {
      const { lastValidBlockHeight } = found;
      if (given.lastValidBlockHeight === undefined) await step.recordBroadcast({ lastValidBlockHeight });
      return open;
    }
    default:
      return open;
  }
}

function settled(
  { terms, payer }: InspectedPayment,
  { signature, slot }: { readonly signature: string; readonly slot: number },
): BackendSettlement {
  const { network, payTo, asset, amount } = terms;
  return { status: 'settled', receipt: withAmountJson({ signature, network, payer, payTo, asset, amount, slot }) };
}
