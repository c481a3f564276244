import { Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { createChainBackend } from '../../src/facilitator/chain/chain-backend.js';
import { createPaymentEventBus, type PaymentEvents } from '../../src/facilitator/events/events.js';
import { createLeases } from '../../src/facilitator/payments/leases.js';
import { createPaymentService } from '../../src/facilitator/payments/payment-service.js';
import type { RequestParts } from '../../src/facilitator/proofs/request-terms.js';
import { createHealthMonitor } from '../../src/facilitator/setup/health.js';
import { KNOWN_TOKENS } from '../../src/protocol/networks/tokens.js';
import type { Receipt, Terms } from '../../src/protocol/types.js';
import { createMintPolicy } from '../../src/solana/accounts/mint-policy.js';
import { buildPaymentTransaction } from '../../src/solana/building/payment-transaction.js';
import { transferInstructions, unsignedTransaction } from '../../src/solana/building/transfer-transaction.js';
import { createBlockhashCache } from '../../src/solana/confirmation/blockhash-cache.js';
import type {
  Delivery,
  Landing,
  SentDelivery,
  TransactionDelivery,
} from '../../src/solana/confirmation/confirmation.js';
import { createFeePayer } from '../../src/solana/fee-payer.js';
import type { LandedTransaction } from '../../src/solana/rpc/landed-transaction.js';
import { RpcError } from '../../src/solana/rpc/rpc.js';
import { createSolanaRpc } from '../../src/solana/rpc/rpc-client.js';
import { NATIVE_SOL } from '../../src/solana/transaction/programs.js';
import { type DecodedTransaction, decodeTransaction } from '../../src/solana/transaction/transaction.js';
import type { Ledger } from '../../src/storage/ledger/ledger.js';
import { createMemoryLedger } from '../../src/storage/ledger/memory-ledger.js';
import type { PaymentRequestRecord } from '../../src/storage/ledger/payment-request.js';
import { ledgerWith } from './ledgers.js';
import { newSponsorship } from './sponsorship.js';
import { testClock } from './test-clock.js';

export const NETWORK = 'solana-devnet';
const FEE_PAYER = Keypair.generate();
export const FEE_PAYER_ADDRESS = FEE_PAYER.publicKey.toBase58();
export const OUTAGE = new RpcError('unreachable', 'the node is away');
export const LANDED: Landing = { status: 'landed', slot: 7, err: null };

/** What the chain says; a test changes it. */
export interface ChainScript {
  /** Of a simulation: Solana's TransactionError, or null. */
  simulated: unknown;
  /** Of what is sent. */
  sent: Landing | Error;
  /** Of what was sent before. */
  found: Landing | Error;
  /** Of a signature, when it is asked what its transaction did. */
  landed: LandedTransaction | undefined;
}

export type ToldEvent = { [Name in keyof PaymentEvents]: readonly [Name, PaymentEvents[Name]] }[keyof PaymentEvents];

/** The payment service over a ledger in memory, and a chain that says what it is told to say. */
export function openPaymentService(own: Partial<Ledger> = {}, maxFeeLamportsPerHour = 1_000_000_000n) {
  const { now, advance } = testClock();
  const memory = createMemoryLedger({ now });
  const ledger = ledgerWith(memory, own);
  const chain: ChainScript = { simulated: null, sent: LANDED, found: LANDED, landed: undefined };
  const delivered: Delivery[] = [];
  const watched: SentDelivery[] = [];
  const delivery: TransactionDelivery = {
    deliver: async (it) => said(chain.sent, delivered.push(it)),
    watch: async (it) => said(chain.found, watched.push(it)),
    close: async () => undefined,
  };
  const rpc = {
    ...createSolanaRpc({ urls: 'http://127.0.0.1:1' }),
    simulateTransaction: async () => ({ err: chain.simulated, logs: [], slot: 1 }),
    getHistory: async () => [],
    getAccounts: async (addresses: readonly string[]) => addresses.map(() => null),
  };
  const feePayer = createFeePayer(FEE_PAYER.secretKey, 'test');
  const policy = { managedKeys: new Set([FEE_PAYER_ADDRESS]), maxFeeLamports: 100_000n };
  const landed = async () => chain.landed;
  const backend = createChainBackend({
    network: NETWORK,
    rpc,
    delivery,
    policy,
    landed,
    ...newSponsorship(rpc, maxFeeLamportsPerHour, now),
    blockhashes: createBlockhashCache({ rpc }),
    mintPolicy: createMintPolicy({ rpc, allowedMints: new Set(), trustedMints: new Set() }),
    feePayers: new Map([[FEE_PAYER_ADDRESS, feePayer]]),
    monitor: createHealthMonitor({ rpc, network: NETWORK, ledger, wallet: FEE_PAYER_ADDRESS }),
    settleTimeoutMs: 1_000,
  });
  const events = createPaymentEventBus();
  const told: ToldEvent[] = [];
  const names = ['payment.settled', 'payment.failed', 'payment.expired', 'payment.pending'] as const;
  for (const name of names) events.on(name, (data) => told.push([name, data] as ToldEvent));
  const leases = createLeases(ledger);
  const parts: RequestParts = { ledger, backend, leases, events, now, network: NETWORK, rpc, delivery, landed, policy };
  return {
    service: createPaymentService(parts),
    parts,
    backend,
    ledger,
    leases,
    chain,
    delivered,
    watched,
    told,
    now,
    advance,
  };
}

function said(landing: Landing | Error, _count: number): Landing {
  if (landing instanceof Error) throw landing;
  return landing;
}

/** Another process at the same ledger. */
export function secondProcess({ parts }: ReturnType<typeof openPaymentService>) {
  const leases = createLeases(parts.ledger);
  const other: RequestParts = { ...parts, leases };
  return { service: createPaymentService(other), parts: other };
}

/** A new payment of 10,000 units of a token by a new payer, its terms, and what it is on the chain. */
export function newPayment(token = KNOWN_TOKENS[NETWORK][0]!) {
  const { mint: asset, program: tokenProgram, decimals } = token;
  const payer = Keypair.generate();
  const payTo = Keypair.generate().publicKey.toBase58();
  const [amount, blockhash] = [10_000n, Keypair.generate().publicKey.toBase58()];
  const transaction = buildPaymentTransaction({
    payer,
    feePayer: FEE_PAYER_ADDRESS,
    asset,
    tokenProgram,
    decimals,
    amount,
    payTo,
    blockhash,
  });
  const terms: Terms = {
    scheme: 'exact',
    network: NETWORK,
    asset,
    amount,
    payTo,
    maxTimeoutSeconds: 60,
    feePayer: FEE_PAYER_ADDRESS,
  };
  const payment = { scheme: 'exact', network: NETWORK, transaction } as const;
  return { payment, terms, payer: payer.publicKey.toBase58(), decoded: decoded(transaction) };
}

/** What a payment of {@link newPayment} is answered with once it has landed. */
export function receiptFor(paid: Pick<ReturnType<typeof newPayment>, 'payment' | 'terms' | 'payer'>): Receipt {
  const { payment, terms, payer } = paid;
  const { network, payTo, asset, amount } = terms;
  return { signature: signatureOf(payment.transaction), network, payer, payTo, asset, amount, slot: 7 };
}

/** A request for a thousand lamports that can be paid for a minute more; nobody has kept it yet. */
export function newRequest(now: number, changed: Partial<PaymentRequestRecord> = {}): PaymentRequestRecord {
  const payTo = Keypair.generate().publicKey.toBase58();
  const amount = 1_000n;
  return {
    id: `pay_${Keypair.generate().publicKey.toBase58()}`,
    network: NETWORK,
    token: { symbol: 'SOL', mint: NATIVE_SOL, decimals: 9, program: NATIVE_SOL },
    amount,
    payTo,
    legs: [{ recipient: payTo, amount }],
    reference: Keypair.generate().publicKey.toBase58(),
    createdAt: now,
    expiresAt: now + 60_000,
    ...changed,
  };
}

/** What is paid: a request, or the same without one. */
type Paid = Pick<PaymentRequestRecord, 'legs' | 'memo' | 'token'> & { readonly reference: string | undefined };

/** A transaction that pays a request, from a new payer, at our cost or its own. */
export function paying({ legs, reference, memo, token }: Paid, sponsored = true) {
  const payer = Keypair.generate();
  const address = payer.publicKey.toBase58();
  const { mint: asset, program: tokenProgram, decimals } = token;
  const plan = { asset, tokenProgram, decimals, legs, reference, memo, accountsToCreate: new Set<string>() };
  const blockhash = Keypair.generate().publicKey.toBase58();
  const feePayer = sponsored ? FEE_PAYER_ADDRESS : address;
  const signed = VersionedTransaction.deserialize(
    unsignedTransaction(transferInstructions(plan, address), feePayer, blockhash)!,
  );
  signed.sign([payer]);
  const bytes = signed.serialize();
  return { bytes, payer: address, decoded: decoded(bytes) };
}

/** A transaction as the chain remembers it, having moved what it says. */
export function landedAs(transaction: DecodedTransaction, changed: Partial<LandedTransaction> = {}): LandedTransaction {
  const { messageHash, blockhash, accounts, instructions } = transaction;
  return {
    messageHash,
    blockhash,
    accounts,
    instructions,
    slot: 9,
    blockTime: undefined,
    err: null,
    requiredSignatures: 1,
    feeLamports: 10_000n,
    computeUnits: 450,
    lamports: new Map(),
    tokenAccounts: new Map(),
    ...changed,
  };
}

/** The signature under which a transaction of ours goes out: the fee payer's. */
export function signatureOf(transaction: Uint8Array): string {
  const signed = VersionedTransaction.deserialize(transaction);
  signed.sign([FEE_PAYER]);
  return bs58.encode(signed.signatures[0]!);
}

function decoded(bytes: Uint8Array): DecodedTransaction {
  const result = decodeTransaction(bytes);
  if (!result.ok) throw new Error(result.detail);
  return result.transaction;
}
