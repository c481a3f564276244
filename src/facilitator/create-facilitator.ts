import { badOption, type TollhouseError } from '../errors/errors.js';
import { defined } from '../lib/defined.js';
import { resolveOptions } from '../lib/options.js';
import { endInTurn } from '../lib/work/ends.js';
import { withAmountJson } from '../protocol/money/amount-json.js';
import { KNOWN_TOKENS } from '../protocol/networks/tokens.js';
import type { NetworkId, Token } from '../protocol/types.js';
import { createKeyedWallets } from '../solana/accounts/keyed-wallets.js';
import { createMintPolicy } from '../solana/accounts/mint-policy.js';
import { createReceivingAccounts } from '../solana/accounts/receiving-accounts.js';
import { createSplitWallet } from '../solana/building/payout-transaction.js';
import { createBlockhashCache } from '../solana/confirmation/blockhash-cache.js';
import { createTransactionDelivery } from '../solana/confirmation/delivery.js';
import type { DeliveryTiming } from '../solana/confirmation/pending-confirmation.js';
import { createFeePayer, type FeePayer } from '../solana/fee-payer.js';
import type { KeypairInput } from '../solana/keypair.js';
import type { SolanaRpc } from '../solana/rpc/rpc.js';
import { createSolanaRpc, type SolanaRpcOptions } from '../solana/rpc/rpc-client.js';
import type { Counters } from '../storage/counters/counters.js';
import type { IdempotencyStore } from '../storage/idempotency/idempotency-store.js';
import { createMemoryIdempotencyStore } from '../storage/idempotency/memory-idempotency-store.js';
import { createRequestLooks } from '../storage/ledger/request-looks.js';
import type { Storage } from '../storage/storage.js';
import { createObserved, type Observed } from '../telemetry/observed.js';
import { assembleFacilitator, booksOrMemory, type PaymentBooks } from './assemble-facilitator.js';
import { createLandedReader } from './backend/landed-reader.js';
import { refuseSuspended } from './backend/refuse-suspended.js';
import { createRefusedSends } from './backend/refused-sends.js';
import { createChainBackend } from './chain/chain-backend.js';
import { createPaymentEventBus, type PaymentEventBus, type Recovered } from './events/events.js';
import { type FacilitatorOptions, facilitatorOptions, PUBLIC_RPC } from './facilitator-options.js';
import { createHoldingsReader } from './holdings/holdings.js';
import { createLeases } from './payments/leases.js';
import { memoryOf } from './payments/lost-period.js';
import { createPaymentsInFlight } from './payments/payments-in-flight.js';
import { tooLateSince } from './payments/retry-hash.js';
import { createEarlierSends } from './payouts/earlier-sends.js';
import { createPayoutSender, type PayoutSender, type PayoutSenderParts } from './payouts/payout-sender.js';
import { createRecovery, resolve } from './recovery/recovery.js';
import { startUpkeep, type UpkeepParts } from './recovery/upkeep.js';
import { assembleRefunds } from './refunds/assemble-refunds.js';
import { createLookAfterRequests, type RequestLookParts } from './requests/look-after-requests.js';
import type { PaymentRequests } from './requests/payment-request-types.js';
import { createPaymentRequests } from './requests/payment-requests.js';
import { createHealthMonitor, type HealthMonitor, storeFault } from './setup/health.js';
import { setupChecker } from './setup-check/setup-checker.js';
import { createFeeLimit, withFeeLimit } from './sponsorship/fee-limit.js';
import { createMoneyInFlight } from './sponsorship/money-in-flight.js';
import { followOutcomes } from './sponsorship/outcomes.js';
import { createPayerStanding } from './sponsorship/payer-standing.js';
import { createSendWindow } from './sponsorship/send-window.js';
import { createSponsorship } from './sponsorship/sponsorship.js';
import type { Facilitator } from './types.js';

/** A facilitator with a chain of its own: it also makes payments of its own and looks up those of others. */
export interface EmbeddedFacilitator extends Facilitator, PaymentRequests {
  /** Pays the recipients of splits on the chain; missing without a `splitKeypair`. */
  readonly payouts?: PayoutSender;
  /**
   * Looks after payments that were sent and then left alone, by an instance that died or a payer who went away: asks the
   * chain what became of them and writes it down, once for all instances that share the ledger. With a `storage` that happens by
   * itself; with a `ledger` alone, call it at start and every few seconds. Rejects with `store_unavailable` when the ledger cannot be reached.
   */
  recover(): Promise<Recovered>;
}

const WHERE = 'createFacilitator';
const NO_LEDGER = `${WHERE}: option "ledger" is undefined, so that payments are remembered in this process only. Was openStorage awaited?`;
/** A blockhash lives 150 slots, some 30 s: one that is 10 s old still leaves the payer time enough. */
const HINT_MAX_AGE_MS = 10_000;
const HINT_RENEWAL_MS = 8_000;

/**
 * Makes the embedded facilitator: it verifies and settles payments on Solana in this process, and pays the network fee of
 * each with `keypair`. Nothing is awaited; it connects when it must. Close it when you are done.
 * @throws TollhouseError `bad_option` when an option is wrong, with what was probably meant
 */
export function createFacilitator(options: FacilitatorOptions): EmbeddedFacilitator {
  const facilitator = createTimedFacilitator(options, {});
  warnOfNoLedger(options);
  return facilitator;
}

/** Other intervals than the defaults, in milliseconds: for a chain of shorter slots. */
export interface FacilitatorTiming
  extends Partial<DeliveryTiming>,
    Pick<SolanaRpcOptions, 'firstRestMs' | 'longestRestMs'> {
  /** Longest wait for a payout to land before its outcome is unknown for now. Default 30,000. */
  readonly payoutMs?: number;
  /** How long a blockhash is used for further payments. Default 10,000. */
  readonly blockhashMs?: number;
  /** How often what was left half done is looked for. Default 3,000. */
  readonly lookMs?: number;
  /** How often what is over is forgotten. Default 60,000. */
  readonly pruneMs?: number;
}

/** {@link createFacilitator} with other intervals. */
export function createTimedFacilitator(options: FacilitatorOptions, timing: FacilitatorTiming): EmbeddedFacilitator {
  const resolved = resolveOptions(WHERE, facilitatorOptions, options);
  const { network, storage, now, onFault, tokens = KNOWN_TOKENS[network] } = resolved;
  const { wsUrl, counters = storage?.counters, idempotency = keptResponses(storage) } = resolved;
  const feePayers = readFeePayers(resolved.keypair);
  const splitWallets = readSplitWallets(resolved.splitKeypair, feePayers);
  const [feePayer = ''] = feePayers.keys();
  const observed = createObserved();
  const rpc = rpcOf(resolved, timing, observed);
  const books = booksOrMemory(WHERE, resolved);
  const monitor = monitorOf(resolved, rpc, books, feePayer);
  const events = createPaymentEventBus();
  const fees = boundFees({ ...resolved, counters, rpc, events, feePayer });
  const holdings = createHoldingsReader(rpc, tokens);
  const chain = {
    ...chainReaders(resolved, rpc, tokens, timing, books),
    ...fees,
    network,
    rpc,
    monitor,
    feePayers,
    policy: { managedKeys: new Set(feePayers.keys()), maxFeeLamports: resolved.maxFeeLamports },
    settleTimeoutMs: resolved.settleTimeoutMs,
    ...memoryOf(books.ledger),
  };
  const held = booksInUse(books, { ...resolved, idempotency }, () => storeFault(monitor.known()));
  const service = { ...held, backend: refuseSuspended(createChainBackend(chain), storage), events, now, onFault };
  const refunds = assembleRefunds(WHERE, { ...resolved, tokens, splitWallets }, { ...service, ...chain }, timing);
  const facilitator = assembleFacilitator({
    ...service,
    follow: (record, commitment) => resolve({ ...service, ...chain }, record, commitment),
    observed,
    refunds,
    network,
    tokens,
    storage,
    idempotency,
    holdings,
    watched: resolved.check,
    checkSetup: setupChecker({ ...service, ...chain, wsUrl, tokens, idempotency, counters, probe: storage?.probe }),
    health: async () => withFeeLimit(await monitor.check(), fees.feeLimit),
  });
  const recover = createRecovery({ ...service, ...chain });
  const requests = createPaymentRequests({ ...service, ...chain, tokens, feePayer, confirmMint: holdings.readMint });
  const stopUpkeep = startUpkeepOf(storage, requests, { ...chain, ...service, ...refunds, ...timing, recover });
  return Object.freeze({
    ...facilitator,
    ...requests,
    recover,
    load: () => ({ ...facilitator.load(), fees: fees.feeLimit.load() }),
    async close() {
      await endInTurn(() => stopUpkeep?.(), facilitator.close);
    },
    ...payoutsOf({ ...chain, tokens, timeoutMs: timing.payoutMs }, splitWallets),
  });
}

function rpcOf({ network, rpcUrl, rpcTimeoutMs }: Resolved, timing: FacilitatorTiming, observed: Observed): SolanaRpc {
  return createSolanaRpc({
    ...timing,
    urls: rpcUrl ?? PUBLIC_RPC[network],
    timeoutMs: rpcTimeoutMs,
    onCall: (seen) => observed.tell('rpc.call', seen),
  });
}

function monitorOf(
  { network, storage, now }: Resolved,
  rpc: SolanaRpc,
  { ledger }: PaymentBooks,
  wallet: string,
): HealthMonitor {
  const { probe, misplaced } = storage ?? {};
  return createHealthMonitor({ rpc, network, ledger, wallet, probe, misplaced, wallClock: now });
}

/** Begins the work that a storage needs, payment requests that nobody asks for included. */
function startUpkeepOf(
  storage: Storage | undefined,
  { paymentRequest }: PaymentRequests,
  parts: Omit<UpkeepParts, 'storage' | 'lookAfterRequests'> & Pick<RequestLookParts, 'network' | 'rpc'>,
): (() => Promise<void>) | undefined {
  if (storage === undefined) return undefined;
  const looks = createRequestLooks(storage.database, parts.now);
  const lookAfterRequests = createLookAfterRequests({ ...parts, paymentRequest, looks });
  return startUpkeep({ ...parts, storage, lookAfterRequests });
}

/** The books, and what is held of them in this process. */
function booksInUse(
  books: PaymentBooks,
  { leaseMs, storage, idempotency, now, ...bounds }: Resolved & { readonly idempotency: IdempotencyStore },
  fault: () => TollhouseError | undefined,
) {
  return {
    ...books,
    leases: createLeases(books.ledger, leaseMs),
    suspensions: storage?.gateway.suspensions,
    eventLog: storage?.gateway.events,
    inFlight: createPaymentsInFlight(bounds, fault),
    refusedSends: createRefusedSends(idempotency, tooLateSince(now)),
  };
}

function payoutsOf(
  chain: Omit<PayoutSenderParts, 'splitWallets'>,
  splitWallets: PayoutSenderParts['splitWallets'] | undefined,
): Pick<EmbeddedFacilitator, 'payouts'> {
  return splitWallets === undefined ? {} : { payouts: createPayoutSender({ ...chain, splitWallets }) };
}

function keptResponses(storage: Storage | undefined): IdempotencyStore {
  return storage?.idempotency ?? createMemoryIdempotencyStore();
}

type Resolved = ReturnType<typeof resolveOptions<typeof facilitatorOptions>>;

/** What looks at the chain and waits for it. */
function chainReaders(
  { wsUrl, blockhashHints, allowMints, network, storage, now }: Resolved,
  rpc: SolanaRpc,
  tokens: readonly Pick<Token, 'mint'>[],
  timing: FacilitatorTiming,
  { ledger: memory }: PaymentBooks,
) {
  return {
    earlier: createEarlierSends({ network, rpc, memory, database: storage?.database, now }),
    landed: createLandedReader(rpc),
    delivery: createTransactionDelivery({ rpc, timing, isLifeCertain: network === 'solana', ...defined({ wsUrl }) }),
    blockhashes: createBlockhashCache({
      rpc,
      maxAgeMs: timing.blockhashMs ?? HINT_MAX_AGE_MS,
      warmEveryMs: blockhashHints ? HINT_RENEWAL_MS : 0,
    }),
    receiving: createReceivingAccounts(rpc),
    wallets: createKeyedWallets(rpc),
    mintPolicy: createMintPolicy({
      rpc,
      allowedMints: new Set(allowMints),
      trustedMints: new Set(tokens.map(({ mint }) => mint)),
    }),
  };
}

/** What is undefined came from a promise that nobody waited for, as a rule. */
function warnOfNoLedger({ storage, ...options }: FacilitatorOptions): void {
  const isNone = storage === undefined && 'ledger' in options && options.ledger === undefined;
  if (isNone) process.emitWarning(NO_LEDGER, { code: 'TOLLHOUSE_NO_LEDGER' });
}

interface FeeBounds {
  readonly network: NetworkId;
  readonly rpc: SolanaRpc;
  readonly events: PaymentEventBus;
  readonly feePayer: string;
  readonly maxFeeLamportsPerHour: bigint;
  readonly counters?: Counters | undefined;
  readonly storage?: Storage | undefined;
  readonly now: () => number;
}

/** Everything that bounds what payers can cost. */
function boundFees(bounds: FeeBounds) {
  const { network, rpc, events, feePayer, maxFeeLamportsPerHour, counters, storage, now } = bounds;
  const owners = storage?.gateway.owners;
  const onLimitReached = (endsAt: number): void =>
    events.emit(
      'wallet.fee_limit_reached',
      withAmountJson({ wallet: feePayer, lamports: maxFeeLamportsPerHour, endsAt }),
    );
  const feeLimit = createFeeLimit({ network, maxFeeLamportsPerHour, counters, owners, now, onLimitReached });
  const standing = createPayerStanding({ network, counters, now });
  const flight = createMoneyInFlight();
  const sponsorship = createSponsorship({ rpc, feeLimit, standing, flight, window: createSendWindow() });
  followOutcomes(sponsorship, events);
  return { feeLimit, flight, sponsorship };
}

function readSplitWallets(
  keypair: KeypairInput | readonly KeypairInput[] | undefined,
  feePayers: ReadonlyMap<string, FeePayer>,
): PayoutSenderParts['splitWallets'] | undefined {
  if (keypair === undefined) return undefined;
  const [first, ...others] = [keypair].flat().map((input) => createSplitWallet(input, WHERE, 'splitKeypair'));
  if (first === undefined) throw badOption(WHERE, 'option "splitKeypair" must hold at least one key', 'splitKeypair');
  const wallets = [first, ...others] as const;
  if (!wallets.some(({ address }) => feePayers.has(address))) return [...wallets];
  throw badOption(WHERE, 'option "splitKeypair" must be another key than the one that pays fees', 'splitKeypair');
}

function readFeePayers(keypair: KeypairInput | readonly KeypairInput[]): ReadonlyMap<string, FeePayer> {
  const inputs = [keypair].flat();
  if (inputs.length === 0) throw badOption(WHERE, 'option "keypair" must hold at least one key', 'keypair');
  return new Map(inputs.map((input) => createFeePayer(input, WHERE)).map((feePayer) => [feePayer.address, feePayer]));
}
