import { MAX_AMOUNT } from '../protocol/limits.js';
import type { Parsed } from '../protocol/parsed.js';
import type { Reason } from '../protocol/reasons.js';
import {
  type AskedPayment,
  decodeSettlement,
  decodeVerification,
  encodeFacilitatorRequest,
} from '../protocol/remote-wire.js';
import type { Commitment, NetworkId, Settlement, Supported, Terms, Verification } from '../protocol/types.js';
import type { PaymentRecord } from '../storage/ledger.js';
import type { BackendSettlement, InspectedPayment, SettlementBackend, SettleStep } from './backend.js';
import type { FacilitatorHealth } from './health.js';
import { inspectPayment } from './inspect-payment.js';
import { unavailable, unsent } from './outcomes.js';
import type { Remote, RemoteOffer } from './remote.js';
import { RemoteFault, type RemoteOperation } from './remote-client.js';

/** What the backend works with. */
export interface RemoteBackendParts {
  readonly network: NetworkId;
  /** At least one, in order of preference. */
  readonly remotes: readonly Remote[];
  readonly timeoutMs: number;
  readonly settleTimeoutMs: number;
}

/** An answer of `/supported` serves this long; an older one still serves, while a new one is asked for. */
const FRESH_MS = 60_000;
/** So often at most a facilitator that could not be reached is asked whether it is back. */
const REST_MS = 5_000;
/** So much longer than the terms allow we listen: the facilitator's own "pending" tells more than our time-out. */
const LISTEN_LONGER_MS = 5_000;

/** Reasons that say that the payment can never be made with this transaction. */
const FINAL: Partial<Record<Reason, 'failed' | 'expired'>> = {
  invalid_exact_svm_transaction_failed: 'failed',
  invalid_exact_svm_transaction_expired: 'expired',
};

/**
 * Verifies and settles through other facilitators' HTTP API (x402.md §4). The pure rules are applied here first, with the
 * facilitators' signers as the keys to protect, so that garbage never leaves; what a settlement may cost is their money
 * and their rule.
 *
 * The claim is kept as "sent" before a settlement is asked for. Where the answer stays out, the same payment asks again. From then
 * on only "it landed", "it landed with an error" and "it expired" are believed: a facilitator that settled before its
 * answer was lost says `duplicate_settlement`, finds no funds or an old blockhash, and the payer has paid all the same. Such a
 * payment stays pending until the facilitator tells its outcome.
 */
export function createRemoteBackend(parts: RemoteBackendParts): SettlementBackend {
  const { network, remotes } = parts;
  const warnOfCommitment = createCommitmentWarning();
  return {
    supported: () => supported(remotes),
    async inspect(payment, terms) {
      const { signers } = await supported(remotes);
      return inspectPayment(payment, terms, network, { managedKeys: new Set(signers), maxFeeLamports: MAX_AMOUNT });
    },
    verify: (inspected) => verify(parts, inspected),
    settle(inspected, step) {
      warnOfCommitment(step.commitment);
      return settle(parts, inspected, step);
    },
    resume: (inspected, record, step) => resume(parts, inspected, record, step),
    async close() {
      await Promise.all(remotes.map(({ client }) => client.close()));
    },
  };
}

/** x402 has no word for how far a payment must have come; most facilitators wait for `confirmed`. Warns once. */
function createCommitmentWarning(): (commitment: Commitment) => void {
  let warned = false;
  return (commitment) => {
    if (warned || commitment !== 'finalized') return;
    warned = true;
    process.emitWarning(
      'a route asks for the commitment "finalized", which cannot be asked of another facilitator; use createFacilitator for it',
      { code: 'TOLLHOUSE_REMOTE_COMMITMENT' },
    );
  };
}

const UNREACHABLE = ['facilitator_unreachable'] as const;

/** Whether payments can be settled, from whether the facilitators answer; asks each at most once in five seconds. */
export async function remoteHealth(remotes: readonly Remote[]): Promise<FacilitatorHealth> {
  await Promise.all(remotes.map((remote) => remote.renew(REST_MS)));
  const well = remotes.filter((remote) => remote.well());
  const wallet = (well[0] ?? remotes[0])?.offer()?.supported.kinds[0]?.feePayer ?? '';
  if (well.length === 0) return { status: 'down', wallet, faults: UNREACHABLE };
  if (well.length < remotes.length) return { status: 'degraded', wallet, faults: UNREACHABLE };
  return { status: 'active', wallet, faults: [] };
}

async function supported(remotes: readonly Remote[]): Promise<Supported> {
  for (const remote of remotes) void remote.renew(remote.well() ? FRESH_MS : REST_MS);
  const offered = remotes.find((it) => it.well()) ?? remotes.find((it) => it.offer() !== undefined);
  const first = offered?.offer() ?? (await firstOffer(remotes));
  const signers = remotes.flatMap((it) => [...(it.offer()?.signers ?? [])]);
  return { ...first.supported, signers: [...new Set(signers)] };
}

async function firstOffer(remotes: readonly Remote[]): Promise<RemoteOffer> {
  for (const remote of remotes) {
    await remote.renew(0);
    const offer = remote.offer();
    if (offer !== undefined) return offer;
  }
  throw unavailable('The facilitator cannot be reached at the moment; send the same payment again later.');
}

async function verify({ remotes, timeoutMs }: RemoteBackendParts, inspected: InspectedPayment): Promise<Verification> {
  const asked = await askInTurn(remotes, inspected, 'verify', timeoutMs, decodeVerification);
  if (asked.ok) return asked.value;
  throw unavailable('The facilitator cannot be reached at the moment; nothing was charged.', asked.fault);
}

async function settle(
  parts: RemoteBackendParts,
  inspected: InspectedPayment,
  step: SettleStep,
): Promise<BackendSettlement> {
  const { payer } = inspected;
  if (!(await step.recordBroadcast({}))) return unsent('settlement_in_progress', payer);
  const asked = await askToSettle(parts, inspected);
  if (!asked.ok && !asked.fault.mayHaveActed) {
    await step.withdrawBroadcast();
    throw unavailable('The facilitator cannot be reached at the moment; nothing was charged.', asked.fault);
  }
  if (!asked.ok) return { status: 'pending', payer };
  const settlement = asked.value;
  if (settlement.status === 'failed') return ended(settlement) ?? { ...settlement, status: 'unsent' };
  if (settlement.status === 'pending') await noteSignature(settlement, step);
  return settlement;
}

async function resume(
  parts: RemoteBackendParts,
  inspected: InspectedPayment,
  { signature }: PaymentRecord,
  step: SettleStep,
): Promise<BackendSettlement> {
  const open = {
    status: 'pending',
    payer: inspected.payer,
    ...(signature === undefined ? {} : { signature }),
  } as const;
  const asked = await askToSettle(parts, inspected);
  if (!asked.ok) return open;
  const settlement = asked.value;
  if (settlement.status === 'failed') return ended(settlement) ?? open;
  if (settlement.status === 'pending') await noteSignature(settlement, step);
  return settlement;
}

function askToSettle({ remotes, settleTimeoutMs }: RemoteBackendParts, inspected: InspectedPayment) {
  const timeoutMs = Math.min(inspected.terms.maxTimeoutSeconds * 1000 + LISTEN_LONGER_MS, settleTimeoutMs);
  return askInTurn(remotes, inspected, 'settle', timeoutMs, decodeSettlement);
}

type Failure = Extract<Settlement, { readonly status: 'failed' }>;

function ended(failure: Failure): BackendSettlement | undefined {
  const final = FINAL[failure.reason];
  return final === undefined ? undefined : { ...failure, final };
}

async function noteSignature({ signature }: { readonly signature?: string }, step: SettleStep): Promise<void> {
  if (signature !== undefined) await step.recordBroadcast({ signature });
}

type Asked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: RemoteFault };

/**
 * Asks the facilitators that can sign for these terms, those that are well first. The next is asked when one cannot be
 * reached; a settlement only when it provably was not begun there.
 */
async function askInTurn<T>(
  remotes: readonly Remote[],
  { payment, terms, payer }: InspectedPayment,
  operation: RemoteOperation,
  timeoutMs: number,
  decode: (body: unknown, about: AskedPayment) => Parsed<T>,
): Promise<Asked<T>> {
  const request = encodeFacilitatorRequest(payment, terms);
  let fault = new RemoteFault('no facilitator signs for these terms', false);
  for (const remote of signersOf(remotes, terms)) {
    try {
      const read = (body: unknown) => decode(body, { terms, payer });
      return { ok: true, value: await remote.client.ask(operation, request, timeoutMs, read) };
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      remote.failed(error);
      fault = error;
      if (operation === 'settle' && error.mayHaveActed) break;
    }
  }
  return { ok: false, fault };
}

function signersOf(remotes: readonly Remote[], { feePayer = '' }: Terms): readonly Remote[] {
  const able = remotes.filter((remote) => remote.offer()?.signers.has(feePayer));
  return [...able.filter((it) => it.well()), ...able.filter((it) => !it.well())];
}
