/** Sources that are mutated together. */
export interface MutationPart {
  readonly name: string;
  /** As globs. */
  readonly mutate: readonly string[];
  /** Tests that try them, each a file of `suites`; the first ones the quickest. Default: the one named like the part. */
  readonly suites?: readonly string[];
  /** What later suites try: default what none before them reaches, or all that those before have left. */
  readonly later?: 'left';
}

/** What speaks with a node, and waits for it. */
const CHAIN = [
  'solana/accounts/account-batch',
  'solana/confirmation/blockhash-cache',
  'solana/confirmation/confirmation',
  'solana/confirmation/confirmation-loop',
  'solana/confirmation/delivery',
  'solana/confirmation/pending-confirmation',
  'solana/confirmation/reconnecting-socket',
  'solana/confirmation/signature-subscriptions',
  'solana/rpc/connection-failure',
  'solana/rpc/endpoint-health',
  'solana/rpc/fail-over',
  'solana/rpc/http-post',
  'solana/rpc/json-rpc',
  'solana/rpc/rpc',
  'solana/rpc/rpc-client',
  'solana/rpc/rpc-responses',
  'solana/rpc/send-failure',
].map((name) => `src/${name}.ts`);

/** The life of a payment: who may come again, for what, and what a payer can cost. */
const PAYMENT = [
  'facilitator/payments/held-by-this-process',
  'facilitator/payments/payment-binding',
  'facilitator/payments/payment-claim',
  'facilitator/payments/payment-life',
  'facilitator/payments/payment-service',
  'facilitator/payments/receipt',
  'facilitator/payments/retry-hash',
  'facilitator/sponsorship/money-in-flight',
  'facilitator/sponsorship/payer-standing',
  'facilitator/sponsorship/send-window',
  'facilitator/sponsorship/sponsorship',
  'storage/ledger/memory-ledger',
  'storage/ledger/payment-use',
].map((name) => `src/${name}.ts`);

/** The paid request around it, and the responses that are kept. */
const GATE = [
  'middleware/idempotency/idempotent-request',
  'middleware/idempotency/request-fingerprint',
  'middleware/idempotency/retry',
  'middleware/payment/identified-payment',
  'middleware/payment/offered-terms',
  'middleware/payment/paid-request',
  'middleware/payment/paid-responses',
  'middleware/payment/payment-required',
  'middleware/payment/payment-responses',
  'middleware/payment/run-handler',
  'middleware/payment/unpaid-request',
  'middleware/response/before-head',
  'middleware/response/flow-on',
  'middleware/response/idempotency-notes',
  'middleware/response/response-buffer',
  'middleware/response/response-end',
  'middleware/response/response-recorder',
  'middleware/response/response-seal',
  'middleware/terms/challenge-cache',
].map((name) => `src/${name}.ts`);

/** Each with tests of its own: what survives costs the time of all tests that reach it. */
export const PARTS: readonly MutationPart[] = [
  { name: 'protocol', mutate: ['src/protocol/**/*.ts'] },
  { name: 'rules', mutate: ['src/solana/**/*.ts', ...CHAIN.map((file) => `!${file}`)] },
  { name: 'chain', mutate: CHAIN },
  {
    name: 'facilitator',
    mutate: ['src/facilitator/**/*.ts', ...PAYMENT.map((file) => `!${file}`)],
    suites: ['facilitator', 'facilitator-slow'],
  },
  { name: 'payment', mutate: PAYMENT },
  { name: 'gate', mutate: GATE, suites: ['gate-units', 'gate', 'gate-slow', 'gate-money'], later: 'left' },
];
