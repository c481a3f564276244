/** Sources that are mutated together. */
export interface MutationPart {
  readonly name: string;
  /** As globs. */
  readonly mutate: readonly string[];
  /** Tests that try them, each a file of `suites`; the later ones try only what none before them reaches. Default: the one named like the part. */
  readonly suites?: readonly string[];
}

/** What speaks with a node, and waits for it. */
const CHAIN = [
  'account-batch',
  'blockhash-cache',
  'confirmation',
  'confirmation-loop',
  'connection-failure',
  'delivery',
  'endpoint-health',
  'fail-over',
  'http-post',
  'json-rpc',
  'reconnecting-socket',
  'rpc',
  'rpc-answers',
  'rpc-client',
  'send-failure',
  'signature-subscriptions',
  'waiting',
  'waiting-room',
].map((name) => `src/solana/${name}.ts`);

/** The life of a payment: who may come again, for what, and what a payer can cost. */
const PAYMENT = [
  'facilitator/held-here',
  'facilitator/money-in-flight',
  'facilitator/payer-standing',
  'facilitator/payment-binding',
  'facilitator/payment-claim',
  'facilitator/payment-life',
  'facilitator/payment-service',
  'facilitator/receipt',
  'facilitator/retry-hash',
  'facilitator/send-window',
  'facilitator/sponsorship',
  'storage/memory-ledger',
  'storage/payment-use',
].map((name) => `src/${name}.ts`);

/** The paid request around it, and the responses that are kept. */
const GATE = [
  'challenge-cache',
  'idempotency-notes',
  'idempotent-request',
  'identified-payment',
  'offered-terms',
  'paid-request',
  'paid-responses',
  'payment-required',
  'payment-responses',
  'request-fingerprint',
  'response-buffer',
  'response-end',
  'response-recorder',
  'response-seal',
  'retry',
].map((name) => `src/middleware/${name}.ts`);

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
  { name: 'gate', mutate: GATE, suites: ['payment'] },
];
