import { createRefusedSends } from '../../src/facilitator/backend/refused-sends.js';
import { createPaymentEventBus } from '../../src/facilitator/events/events.js';
import { createLeases } from '../../src/facilitator/payments/leases.js';
import { createPaymentsInFlight } from '../../src/facilitator/payments/payments-in-flight.js';
import type { RequestParts } from '../../src/facilitator/proofs/request-terms.js';
import { createRemoteBackend } from '../../src/facilitator/remote/remote-backend.js';
import type { NetworkId, Token } from '../../src/protocol/types.js';
import { createTransactionDelivery } from '../../src/solana/confirmation/delivery.js';
import type { LandedTransaction } from '../../src/solana/rpc/landed-transaction.js';
import { NATIVE_SOL } from '../../src/solana/transaction/programs.js';
import { createMemoryIdempotencyStore } from '../../src/storage/idempotency/memory-idempotency-store.js';
import { createMemoryLedger } from '../../src/storage/ledger/memory-ledger.js';
import type { PaymentRequestRecord } from '../../src/storage/ledger/payment-request.js';
import { createMemoryPassStore } from '../../src/storage/passes/memory-pass-store.js';
import { fakeNode } from './nodes/fake-node.js';
import { walletKey } from './transactions/wallet-key.js';

const network: NetworkId = 'solana-devnet';
const SOL: Token = { symbol: 'SOL', mint: NATIVE_SOL, decimals: 9, program: NATIVE_SOL };
/** When requests are made, and how late it is; milliseconds. */
export const NOW = 1_700_000_000_000;

/** Parts of a facilitator with a chain that cannot be reached, and a clock that stands still. */
export function requestParts(more: Partial<RequestParts> = {}): RequestParts {
  const rpc = fakeNode({});
  const ledger = createMemoryLedger();
  return {
    network,
    rpc,
    ledger,
    passes: createMemoryPassStore(),
    delivery: createTransactionDelivery({ rpc }),
    landed: async () => undefined,
    policy: { managedKeys: new Set(), maxFeeLamports: 100_000n },
    backend: createRemoteBackend({ network, remotes: [], timeoutMs: 1, now: Date.now, settleTimeoutMs: 1 }),
    leases: createLeases(ledger),
    inFlight: createPaymentsInFlight({ maxPaymentsInFlight: Number.POSITIVE_INFINITY }),
    events: createPaymentEventBus(),
    refusedSends: createRefusedSends(createMemoryIdempotencyStore(), () => false),
    now: () => NOW,
    ...more,
  };
}

/** A request for 5 lamports, good for two minutes. */
export function requestOf(change: Partial<PaymentRequestRecord> = {}): PaymentRequestRecord {
  const [payTo, reference] = [walletKey('seller').address, walletKey('reference').address];
  const legs = [{ recipient: payTo, amount: 5n }];
  const life = { createdAt: NOW, expiresAt: NOW + 120_000 };
  return { id: 'pay_1', network, token: SOL, amount: 5n, payTo, legs, reference, ...life, ...change };
}

/** The transaction that pays a request, as it landed in slot 7. */
export function landedFor(
  { payTo, reference }: PaymentRequestRecord,
  change: Partial<LandedTransaction> = {},
): LandedTransaction {
  const payer = walletKey('payer').address;
  return {
    slot: 7,
    blockTime: undefined,
    messageHash: 'payment 1',
    blockhash: walletKey('blockhash').address,
    err: null,
    requiredSignatures: 1,
    feeLamports: 5_000n,
    computeUnits: 150,
    accounts: [payer, payTo, reference, NATIVE_SOL],
    instructions: [{ program: NATIVE_SOL, accounts: [payer, payTo, reference], data: solTransfer(5) }],
    signedInstructions: [],
    lamports: new Map([[payTo, { before: 0n, after: 5n }]]),
    tokenAccounts: new Map(),
    ...change,
  };
}

/** A transfer of the System Program, of so few lamports that a byte holds them. */
export function solTransfer(lamports: number): Uint8Array {
  const data = new Uint8Array(12);
  data[0] = 2;
  data[4] = lamports;
  return data;
}
