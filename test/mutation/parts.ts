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

/** Each with tests of its own: what survives costs the time of all tests that reach it. */
export const PARTS: readonly MutationPart[] = [
  { name: 'protocol', mutate: ['src/protocol/**/*.ts'] },
  { name: 'rules', mutate: ['src/solana/**/*.ts', ...CHAIN.map((file) => `!${file}`)] },
  { name: 'chain', mutate: CHAIN },
  {
    name: 'facilitator',
    mutate: ['src/facilitator/**/*.ts'],
    suites: ['facilitator', 'facilitator-slow'],
  },
];
