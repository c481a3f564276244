import { Keypair } from '@solana/web3.js';
import type { InspectedPayment, SettlementBackend } from '../../src/facilitator/backend/backend.js';
import { createRemote, type Remote } from '../../src/facilitator/remote/remote.js';
import { createRemoteBackend, type RemoteBackendParts } from '../../src/facilitator/remote/remote-backend.js';
import { RemoteFault } from '../../src/facilitator/remote/remote-client.js';
import { KNOWN_TOKENS } from '../../src/protocol/networks/tokens.js';
import type { Commitment, Payment, Terms } from '../../src/protocol/types.js';
import { buildPaymentTransaction } from '../../src/solana/building/payment-transaction.js';
import { DEVNET, newAddress, openRemotePeer, type RemotePeer } from './remote-peer.js';

const LONG = 7_000;
/** What a payer is told while nobody can be asked. */
export const AWAY = 'The facilitator cannot be reached at the moment; nothing was charged.';

let closers: (() => Promise<void>)[] = [];

/** Closes what each test has opened, and keeps warnings off the console. */
export function useRemotes(): void {
  beforeEach(() => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    jest.restoreAllMocks();
  });
}

/** Opens a facilitator elsewhere. */
export async function aPeer(feePayer?: string): Promise<RemotePeer> {
  const peer = await openRemotePeer(feePayer);
  closers = [...closers, peer.close];
  return peer;
}

function remoteOf({ url }: RemotePeer): Remote {
  const remote = createRemote({ url, headers: {}, network: DEVNET, timeoutMs: LONG });
  closers = [() => remote.client.close(), ...closers];
  return remote;
}

/** Facilitators in a state: never asked, known, or known and away since. */
export async function remotesOf(...states: [RemotePeer, 'unknown' | 'well' | 'away'][]): Promise<readonly Remote[]> {
  const remotes = states.map(([peer]) => remoteOf(peer));
  for (const [index, [, state]] of states.entries()) {
    if (state !== 'unknown') await remotes[index]?.renew(0);
    if (state === 'away') remotes[index]?.failed(new RemoteFault('it is away', true));
  }
  return remotes;
}

/** What asks them. */
export function backendOf(
  remotes: readonly Remote[],
  settleTimeoutMs = LONG,
  more: Partial<Pick<RemoteBackendParts, 'chain' | 'now'>> = {},
): SettlementBackend {
  return createRemoteBackend({ network: DEVNET, remotes, timeoutMs: LONG, settleTimeoutMs, now: Date.now, ...more });
}

function newPayment(feePayer: string, maxTimeoutSeconds = 60): { readonly payment: Payment; readonly terms: Terms } {
  const [usdc] = KNOWN_TOKENS[DEVNET];
  if (usdc === undefined) throw new Error('no USDC');
  const { mint: asset, program: tokenProgram, decimals } = usdc;
  const [payTo, blockhash, amount] = [newAddress(), newAddress(), 10_000n];
  const terms = { scheme: 'exact', network: DEVNET, asset, amount, payTo, maxTimeoutSeconds, feePayer } as const;
  const input = { payer: Keypair.generate(), feePayer, asset, tokenProgram, decimals, amount, payTo, blockhash };
  return { terms, payment: { scheme: 'exact', network: DEVNET, transaction: buildPaymentTransaction(input) } };
}

/** A new payment with a fee payer, as the backend took it apart. */
export async function inspected(
  backend: SettlementBackend,
  { feePayer }: { readonly feePayer: string },
  maxTimeoutSeconds?: number,
): Promise<InspectedPayment> {
  const { payment, terms } = newPayment(feePayer, maxTimeoutSeconds);
  const inspection = await backend.inspect(payment, terms);
  if (!inspection.ok) throw new Error(inspection.refusal.message);
  return inspection.inspected;
}

/** A step that writes down what is noted. */
export function stepOf({
  commitment = 'confirmed',
  isHeld = true,
}: {
  commitment?: Commitment;
  isHeld?: boolean;
} = {}) {
  const noted: unknown[] = [];
  return {
    noted,
    commitment,
    recordBroadcast: async (broadcast: unknown) => {
      noted.push(broadcast);
      return isHeld;
    },
    notSent: async () => {
      noted.push('withdrawn');
      return true;
    },
  };
}

/** The error for a fault on our side. */
export const outage = (message: string) =>
  expect.objectContaining({ code: 'payment_backend_unavailable', message, context: expect.anything() });
