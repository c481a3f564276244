import { boundedCache } from '../../lib/bounded-cache.js';
import { MAX_AMOUNT } from '../../protocol/limits.js';
import type { Supported } from '../../protocol/supported.js';
import type { Commitment, NetworkId, Verification } from '../../protocol/types.js';
import { decodeVerification } from '../../protocol/wire/remote.js';
import type { InspectedPayment, SettlementBackend } from '../backend/backend.js';
import { inspectPayment, policyFor } from '../backend/inspect-payment.js';
import { unavailable } from '../backend/outcomes.js';
import type { FacilitatorHealth } from '../setup/health.js';
import type { Remote, RemoteOffer } from './remote.js';
import { askInTurn } from './remote-ask.js';
import { type RemoteSettlementParts, resume, settle } from './remote-settle.js';
import { whyTooLate } from './too-late.js';

/** What the backend works with. */
export interface RemoteBackendParts extends Omit<RemoteSettlementParts, 'verify'> {
  readonly network: NetworkId;
  /** Longest wait for a response about a payment that is not settled yet, in milliseconds. */
  readonly timeoutMs: number;
}

/** What was found good serves the settlement that follows; what became of it since then, the settlement itself tells. */
const VERIFIED_MS = 30_000;
const VERIFIED_MAX = 10_000;

/** A response of `/supported` serves this long; an older one still serves, while a new one is asked for. */
const FRESH_MS = 60_000;
/** So often at most a facilitator that could not be reached is asked whether it is back. */
const REST_MS = 5_000;

/**
 * Verifies and settles through other facilitators' HTTP API (protocol/README.md, "Facilitator API"). The pure rules are applied here first, with the
 * facilitators' signers as the keys to protect, so that garbage never leaves; what a settlement may cost is their money
 * and their rule.
 */
export function createRemoteBackend(parts: RemoteBackendParts): SettlementBackend {
  const { network, remotes, chain } = parts;
  const warnOfCommitment = createCommitmentWarning();
  const verified = boundedCache<string, true>({ max: VERIFIED_MAX, ttl: VERIFIED_MS });

  async function verifyNow(inspected: InspectedPayment): Promise<Verification> {
    const verification = await verify(parts, inspected);
    if (verification.ok) verified.set(inspected.transaction.messageHash, true);
    return verification;
  }

  async function verifyOnce(inspected: InspectedPayment): Promise<Verification> {
    const { transaction, payer } = inspected;
    return verified.has(transaction.messageHash) ? { ok: true, payer } : verifyNow(inspected);
  }

  const settling: RemoteSettlementParts = { ...parts, verify: verifyOnce };
  return {
    supported: () => supported(remotes),
    async inspect(payment, terms, sentBy) {
      const { signers } = await supported(remotes);
      const policy = { managedKeys: new Set(signers), maxFeeLamports: MAX_AMOUNT };
      return inspectPayment(payment, terms, network, policyFor(policy, sentBy));
    },
    verify: verifyNow,
    settle(inspected, step) {
      warnOfCommitment(step.commitment);
      return settle(settling, inspected, step);
    },
    resume: (inspected, record, step) => resume(settling, inspected, record, step),
    async close() {
      await Promise.all([...remotes.map(({ client }) => client.close()), chain?.close()]);
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

async function verify(
  { remotes, timeoutMs, chain }: RemoteBackendParts,
  inspected: InspectedPayment,
): Promise<Verification> {
  const asked = await askInTurn(remotes, inspected, 'verify', timeoutMs, decodeVerification);
  if (asked.ok) return asked.value.ok ? asked.value : whyTooLate(chain, inspected, asked.value);
  throw unavailable('The facilitator cannot be reached at the moment; nothing was charged.', asked.fault);
}
