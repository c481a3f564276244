import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { badOption } from '../errors.js';
import type { NetworkId } from '../protocol/types.js';

/** What the server is told, by environment variable; nothing set means the sandbox chain (service.md §8). */
export interface ServerConfiguration {
  /** `HOST`. Address to listen on. Default `127.0.0.1`. */
  readonly host: string;
  /** `PORT`. Default 4020; 0 takes a free one. */
  readonly port: number;
  /** `BASE_URL`. Address under which clients reach the server. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /** `TRUST_PROXY`. How many proxies stand before the server, or their addresses. Default: none. */
  readonly trustProxy?: number | string | undefined;
  /** The chain; undefined means: start the sandbox. */
  readonly chain?: ChainConfiguration | undefined;
  /** `PAY_TO`. Wallet that the demo route's price goes to. Default: a new one on the sandbox, none elsewhere. */
  readonly payTo?: string | undefined;
}

/** Which Solana to talk to, and with which key. */
export interface ChainConfiguration {
  /** `SOLANA_NETWORK`. */
  readonly network: NetworkId;
  /** `SOLANA_RPC_URL`, several separated by commas. Default: the cluster's public one. */
  readonly rpcUrl?: readonly string[] | undefined;
  /** `SOLANA_WS_URL`. */
  readonly wsUrl?: string | undefined;
  /** `FACILITATOR_KEYPAIR`: path of a key file, base58 text, or JSON array. Pays the network fees. */
  readonly keypair: string;
}

const listOfUrls = z
  .string()
  .transform((text) => text.split(',').map((it) => it.trim()))
  .pipe(z.array(z.url({ protocol: /^https?$/, error: 'a list of http(s) addresses' })));

const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce
    .number('a port number')
    .int('a port number')
    .min(0, 'a port number')
    .max(65_535, 'a port number')
    .default(4020),
  BASE_URL: z.url({ protocol: /^https?$/, error: 'an http(s) address' }).optional(),
  TRUST_PROXY: z.union([z.coerce.number().int().min(0), z.string().min(1)]).optional(),
  SOLANA_NETWORK: z
    .enum(['solana', 'solana-devnet', 'solana-testnet'], '"solana", "solana-devnet" or "solana-testnet"')
    .optional(),
  SOLANA_RPC_URL: listOfUrls.optional(),
  SOLANA_WS_URL: z.url({ protocol: /^wss?$/, error: 'a ws(s) address' }).optional(),
  FACILITATOR_KEYPAIR: z.string().min(1).optional(),
  PAY_TO: z.string().min(32, 'a Solana wallet address').max(44, 'a Solana wallet address').optional(),
});

/** Reads and checks the environment; throws `bad_option` with every fault at once. Values of secrets are never shown. */
export function readConfiguration(env: Readonly<Record<string, string | undefined>>): ServerConfiguration {
  const known = Object.fromEntries(Object.keys(environment.shape).map((name) => [name, env[name] || undefined]));
  const result = environment.safeParse(known);
  if (!result.success) {
    const faults = result.error.issues.map((issue) => `${issue.path.join('.')} must be ${issue.message}`);
    throw badOption('environment', faults.join('; '));
  }
  const { HOST, PORT, BASE_URL, TRUST_PROXY, PAY_TO } = result.data;
  return {
    host: HOST,
    port: PORT,
    baseUrl: BASE_URL,
    trustProxy: TRUST_PROXY,
    payTo: PAY_TO,
    chain: readChain(result.data),
  };
}

function readChain(env: z.output<typeof environment>): ChainConfiguration | undefined {
  const { SOLANA_NETWORK, SOLANA_RPC_URL, SOLANA_WS_URL, FACILITATOR_KEYPAIR } = env;
  const given = [SOLANA_NETWORK, SOLANA_RPC_URL, SOLANA_WS_URL, FACILITATOR_KEYPAIR].some((it) => it !== undefined);
  if (!given) return undefined;
  const missing = [
    ...(SOLANA_NETWORK === undefined ? ['SOLANA_NETWORK'] : []),
    ...(FACILITATOR_KEYPAIR === undefined ? ['FACILITATOR_KEYPAIR'] : []),
  ];
  if (SOLANA_NETWORK === undefined || FACILITATOR_KEYPAIR === undefined) {
    throw badOption('environment', `to leave the sandbox chain, ${missing.join(' and ')} must be set as well`);
  }
  return {
    network: SOLANA_NETWORK,
    rpcUrl: SOLANA_RPC_URL,
    wsUrl: SOLANA_WS_URL,
    keypair: readKey(FACILITATOR_KEYPAIR),
  };
}

/** A path is read; anything else is the key itself and is checked where it is used. */
function readKey(value: string): string {
  const looksLikeKey = value.startsWith('[') || /^[1-9A-HJ-NP-Za-km-z]{80,90}$/.test(value);
  if (looksLikeKey) return value;
  try {
    return readFileSync(value, 'utf8');
  } catch {
    throw badOption(
      'environment',
      'FACILITATOR_KEYPAIR must be the path of a readable key file, base58 text or a JSON array',
      'FACILITATOR_KEYPAIR',
    );
  }
}
