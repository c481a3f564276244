import {
  type AddressInput,
  type Claim,
  type Commitment,
  createFacilitator,
  createHoldings,
  type EmbeddedFacilitator,
  ERRORS,
  type ErrorCode,
  type Facilitator,
  type FacilitatorHealth,
  type FacilitatorOptions,
  type HealthFault,
  type Holding,
  type HoldingQuery,
  type Holdings,
  type HoldingsOptions,
  type HoldingsReader,
  type KnownSetup,
  type MintFacts,
  type NetworkId,
  type OpenedPayment,
  type Payment,
  type PaymentEvents,
  type PaymentUse,
  type Problem,
  REASONS,
  type Reason,
  type Receipt,
  type Refund,
  type RefundOptions,
  type Refusal,
  type RemoteFacilitatorOptions,
  remoteFacilitator,
  type Settlement,
  type SetupCheck,
  type SetupCode,
  type SetupFinding,
  type SetupTarget,
  type SetupWatch,
  type Supported,
  type Terms,
  type Token,
  type TokenInput,
  TollhouseError,
  type Verification,
} from 'tollhouse';
import { holds, type Same } from './exact.mjs';

const KEY = { toBase58: () => '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4' };

export function facilitators(): readonly Facilitator[] {
  const network: NetworkId = 'solana-devnet';
  const token: TokenInput = { symbol: 'GOLD', mint: KEY, decimals: 6, program: KEY.toBase58() };
  const options: FacilitatorOptions = {
    network,
    keypair: [new Uint8Array(64), 'base58'],
    rpcUrl: ['https://rpc.example'],
    tokens: [token],
    allowMints: [KEY, 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    maxFeeLamports: 20_000n,
    maxFeeLamportsPerHour: 1_000_000,
    leaseMs: 1_000,
    maxPaymentsInFlight: Number.POSITIVE_INFINITY,
  };
  const remote: RemoteFacilitatorOptions = { url: 'https://pay.example', network, tokens: [token], timeoutMs: 1 };
  const refunds: RefundOptions = { keypair: 'key', max: '$10', maxPerDay: ['$100', '50 USDT'] };
  const own: EmbeddedFacilitator = createFacilitator({ ...options, refunds });
  const { paymentsInFlight, maxPaymentsInFlight, turnedAway } = own.load();
  holds<Same<typeof turnedAway, number>>();
  void [paymentsInFlight, maxPaymentsInFlight];
  void own.refund('payment').then(({ state, signature, amount }: Refund) => [state, signature, amount]);
  const asked = own.createPayment({
    amount: '1',
    token: KEY,
    recipient: KEY,
    split: [{ recipient: KEY, bps: 10_000 }],
  });
  holds<Same<Awaited<typeof asked>['request']['amount'], bigint>>();
  // @ts-expect-error a network is one of three
  createFacilitator({ network: 'solana-mainnet', keypair: '' });
  // @ts-expect-error an address is a text or a key
  createFacilitator({ network, keypair: '', allowMints: [1] });
  return [own, remoteFacilitator(remote)];
}

export async function pay(facilitator: Facilitator, payment: Payment, token: Token): Promise<Receipt | undefined> {
  const commitment: Commitment = 'finalized';
  const use: PaymentUse = { resource: 'GET /report', commitment, leaseMs: 1 };
  const address: AddressInput = token.mint;
  const terms: Terms = {
    scheme: 'exact',
    network: facilitator.network,
    asset: address,
    amount: 1n,
    payTo: KEY.toBase58(),
    maxTimeoutSeconds: 60,
  };
  const verified: Verification = await facilitator.verify(payment, terms);
  if (verified.ok === false) return refuse(verified);
  const opened: OpenedPayment = await facilitator.openPayment(payment, terms, use);
  if (opened.status !== 'open') return undefined;
  const claim: Claim = opened.claim;
  const settlement: Settlement = await claim.settle({ served: true });
  const supported: Supported = await facilitator.supported();
  holds<Same<(typeof supported.kinds)[number]['feePayer'], string>>();
  holds<Same<Receipt['amount'], bigint>>();
  return settlement.status === 'settled' ? settlement.receipt : undefined;
}

function refuse({ reason, message }: Refusal): never {
  const known: Reason = reason;
  holds<Same<(typeof REASONS)[Reason] extends string ? true : false, true>>();
  throw new Error(`${message} ${REASONS[known]}`);
}

export function follow(facilitator: Facilitator): () => void {
  holds<Same<PaymentEvents['payment.settled']['receipt'], Receipt>>();
  facilitator.on('wallet.fee_limit_reached', ({ lamports }) => holds<Same<typeof lamports, bigint>>());
  facilitator.on('pass.used_up', ({ pass: { left, endsAt } }) => void [left satisfies bigint | undefined, endsAt]);
  // @ts-expect-error there is no such event
  facilitator.on('payment.lost', () => undefined);
  return facilitator.on('payment.failed', ({ reason, terms }) => void [reason satisfies Reason, terms.amount + 1n]);
}

export async function look(facilitator: Facilitator): Promise<readonly HealthFault[]> {
  const options: HoldingsOptions = { facilitator, staleMs: 1_000 };
  const holdings: Holdings = createHoldings(options);
  const reader: HoldingsReader = facilitator;
  const query: HoldingQuery = { wallet: KEY.toBase58(), mints: ['USDC'], atLeast: 1n };
  const holding: Holding = await holdings.readHolding(query);
  const facts: MintFacts | undefined = await reader.readMint(KEY.toBase58());
  holds<Same<typeof holding.amount, bigint>>();
  holds<Same<MintFacts['decimals'], number>>();
  const health: FacilitatorHealth = await facilitator.health();
  return facts === undefined ? [] : health.faults;
}

export async function inspect(facilitator: Facilitator): Promise<readonly SetupCode[]> {
  const target: SetupTarget = { payTo: [KEY, KEY.toBase58()], price: '$0.01' };
  const check: SetupCheck = await facilitator.check(target);
  const worst: SetupFinding | undefined = check.findings.find(({ severity }) => severity === 'error');
  const watch: Pick<SetupWatch, 'begin' | 'known'> = facilitator.setup;
  const known: KnownSetup | undefined = watch.known();
  holds<Same<KnownSetup['checkedAt'], number>>();
  return [...(worst === undefined ? [] : [worst.code]), ...(known?.findings ?? []).map(({ code }) => code)];
}

export function explain(error: unknown): Problem | undefined {
  if (!(error instanceof TollhouseError)) return undefined;
  const code: ErrorCode = error.code;
  holds<Same<(typeof ERRORS)[ErrorCode]['status'] extends number ? true : false, true>>();
  // @ts-expect-error codes are known one by one
  const wrong: boolean = code === 'no_such_code';
  return wrong || ERRORS[code].retryable ? error.toProblem() : undefined;
}
