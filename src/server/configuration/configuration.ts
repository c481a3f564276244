import { z } from 'zod';
import type { TiersOptions } from '../../access/tiers.js';
import { badOption } from '../../errors/errors.js';
import { isNetwork } from '../../gateway/network-guard/address-ranges.js';
import { baseUrlSchema } from '../../lib/http/base-url.js';
import { originList } from '../../middleware/gate/cross-origin.js';
import type { PageOptions } from '../../pages/layout/page-options.js';
import { isAddress } from '../../protocol/address.js';
import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import { DATABASE_FORMS, isDatabaseUrl } from '../../storage/sql/database-url.js';
import { type ChainConfiguration, chainFaults, chainOf, otherChainsOf } from './chain-configuration.js';
import { isAddressList, jsonFile, keyTexts, tiersFault, tokensFile } from './configuration-files.js';
import { GATEWAY_VARIABLES, type GatewayConfiguration, gatewayConfiguration } from './gateway-variables.js';
import { withHidden } from './hidden-fields.js';
import {
  listOfNetworks,
  listOfUrls,
  NETWORK_KEYS,
  NETWORK_VARIABLES,
  networkFaults,
  wsUrl,
} from './network-variables.js';
import { PAGE_VARIABLES, pageOf } from './page-variables.js';
import { portNumber } from './port-number.js';
import { REFUND_VARIABLES, refundFaults } from './refund-variables.js';
import { secretList } from './secret-list.js';

/** How much the server writes to its log, from least to most. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How the log is written. */
export const LOG_FORMATS = ['json', 'text'] as const;

/** One of {@link LOG_FORMATS}. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** What the server is told, by environment variable; nothing set means the sandbox chain. */
export interface ServerConfiguration extends GatewayConfiguration {
  /** `HOST`. Address to listen on. Default `127.0.0.1`. */
  readonly host: string;
  /** `PORT`. Default 4020; 0 takes a free one. */
  readonly port: number;
  /**
   * `METRICS_PORT`. Port on which `/metrics`, `/readyz`, `/livez` and `/healthz` are had as well; `/metrics` is not on the public one then. 0 takes
   * a free one. Default: there is none, and `/metrics` is public.
   */
  readonly metricsPort?: number | undefined;
  /** `METRICS_HOST`. Address to listen on with `METRICS_PORT`. Default `127.0.0.1`. */
  readonly metricsHost?: string | undefined;
  /** `BASE_URL`. Address under which clients reach the server; sign-ins name its host. Default: from the request. */
  readonly baseUrl?: string | undefined;
  /**
   * `CROSS_ORIGINS`. Origins, separated by commas, whose pages may use the server from a browser, or `*` for every one. Default: every
   * one; undefined means that.
   */
  readonly crossOrigins?: readonly string[] | undefined;
  /** `TRUST_PROXY`. How many proxies stand before the server, or their addresses. Default: none. */
  readonly trustProxy?: number | string | undefined;
  /** The chain; undefined means: start the sandbox. */
  readonly chain?: ChainConfiguration | undefined;
  /** Further ones of `SOLANA_NETWORK`, each with variables of its own: `SOLANA_DEVNET_RPC_URL`. Default: none. */
  readonly otherChains?: readonly ChainConfiguration[] | undefined;
  /** `PAY_TO`. Wallet that the demo route's price goes to. Default: a new one on the sandbox, none elsewhere. */
  readonly payTo?: string | undefined;
  /**
   * `JWT_SECRET`, at least 32 bytes. Of several, separated by commas, the first signs, and all are accepted. Default: a new one on the
   * sandbox, none elsewhere, and then wallets cannot sign in for tokens.
   */
  readonly jwtSecret?: readonly string[] | undefined;
  /** `TIERS_FILE`: JSON of what `createRouter` takes as `tiers`. Default: bronze, silver and gold by USDC. */
  readonly tiers?: TiersOptions | undefined;
  /**
   * `PAGE_NAME`, `PAGE_LOGO`, `PAGE_COLOURS`, `PAGE_COLOURS_DARK`: how the pages for people look, those of the gateway's paywall
   * among them. Default: ours.
   */
  readonly page?: PageOptions | undefined;
  /** `TOKENS_FILE`: JSON list of `{symbol, mint, decimals, program}`; they come before the known ones. Default: none. */
  readonly tokens: readonly Token[];
  /** `RATE_LIMIT_SCALE`. Multiplies every limit. Default 1. */
  readonly rateLimitScale: number;
  /** `MAX_FEE_LAMPORTS_PER_HOUR`. Most that is spent on network fees in an hour, in lamports. Default: the facilitator's, 1 SOL. */
  readonly maxFeeLamportsPerHour?: bigint | undefined;
  /** `MAX_PAYMENTS_IN_FLIGHT`. How many payments may be under way at once. Default: the facilitator's, 500. */
  readonly maxPaymentsInFlight?: number | undefined;
  /** `MAX_ADDRESS_SHARE`. What share of them one client address may have; 1: all. Default: the facilitator's, 0.5. */
  readonly maxAddressShare?: number | undefined;
  /**
   * `FLOOD_LIMIT_PER_SECOND`. Requests a second that one address may send for long, for a moment four times as many; what is beyond is
   * turned away before it costs anything. 0: no bound. There is none behind a proxy (`TRUST_PROXY`), whose business it is then.
   * Default 250.
   */
  readonly floodLimitPerSecond: number;
  /** `LOG_LEVEL`. Default `info`. */
  readonly logLevel: LogLevel;
  /** `LOG_FORMAT`. `json`, a line each, or `text` for people. Default: `text` on a terminal, else `json`. */
  readonly logFormat?: LogFormat | undefined;
  /**
   * `DATABASE_URL`: `sqlite:<file>`, `postgres://…` or `memory:`, where payments are remembered. Default
   * `sqlite:./data/tollhouse.db`.
   */
  readonly databaseUrl: string;
  /** `REDIS_URL`: where rate limits are counted when several instances share a database. Default: in the database. */
  readonly redisUrl?: string | undefined;
  /**
   * `ALLOW_PRIVATE_NETWORKS`: networks in CIDR notation, separated by commas, that upstreams and webhooks may be in although
   * they are not public, over http too. Default: loopback on the sandbox, none elsewhere.
   */
  readonly allowPrivateNetworks: readonly string[];
}

const MIN_SECRET_BYTES = 32;
const PROXIES = 'the number of proxies, or their addresses separated by commas';
const SCALE = 'a number above 0';
const FEES = 'a whole number of lamports, 10,000 or more';
const PLACES = 'a whole number of payments, from 1 to 1,000,000';
const SHARE = 'a share of the payments under way: more than 0, at most 1';
const FLOOD = 'a whole number of requests a second, or 0 for no bound';
const ORIGINS = '"*", or a list of at most 1,000 origins such as https://shop.example, separated by commas';
const NETWORKS = 'a list of networks such as 10.0.0.0/8, separated by commas';
const LOOPBACK = ['127.0.0.0/8', '::1/128'];

const listOfRanges = z
  .string()
  .transform((text) => text.split(',').map((it) => it.trim()))
  .refine((networks) => networks.every(isNetwork), NETWORKS);

const listOfOrigins = z.string().transform((text, context) => {
  if (text.trim() === '*') return undefined;
  const origins = originList.safeParse(text.split(',').map((it) => it.trim()));
  if (origins.success) return origins.data;
  context.addIssue({ code: 'custom', message: ORIGINS });
  return z.NEVER;
});

const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: portNumber.default(4020),
  METRICS_PORT: portNumber.optional(),
  METRICS_HOST: z.string().optional(),
  BASE_URL: baseUrlSchema.optional(),
  CROSS_ORIGINS: listOfOrigins.optional(),
  TRUST_PROXY: z
    .string()
    .refine((text) => /^\d{1,3}$/.test(text) || isAddressList(text), PROXIES)
    .transform((text) => (/^\d+$/.test(text) ? Number(text) : text))
    .optional(),
  SOLANA_NETWORK: listOfNetworks.optional(),
  SOLANA_RPC_URL: listOfUrls.optional(),
  SOLANA_WS_URL: wsUrl.optional(),
  ...NETWORK_VARIABLES,
  FACILITATOR_KEYPAIR: keyTexts.optional(),
  SPLIT_KEYPAIR: keyTexts.optional(),
  PAY_TO: z.string().refine(isAddress, 'a Solana wallet address').optional(),
  JWT_SECRET: secretList(MIN_SECRET_BYTES, 'openssl rand -base64 48').optional(),
  TIERS_FILE: jsonFile.optional(),
  TOKENS_FILE: tokensFile.optional(),
  RATE_LIMIT_SCALE: z.coerce.number(SCALE).positive(SCALE).default(1),
  FLOOD_LIMIT_PER_SECOND: z.coerce.number(FLOOD).int(FLOOD).min(0, FLOOD).max(1_000_000, FLOOD).default(250),
  MAX_FEE_LAMPORTS_PER_HOUR: z
    .string()
    .regex(/^[1-9]\d{4,14}$/, FEES)
    .transform(BigInt)
    .optional(),
  MAX_PAYMENTS_IN_FLIGHT: z.coerce.number(PLACES).int(PLACES).min(1, PLACES).max(1_000_000, PLACES).optional(),
  MAX_ADDRESS_SHARE: z.coerce.number(SHARE).gt(0, SHARE).max(1, SHARE).optional(),
  DATABASE_URL: z.string().refine(isDatabaseUrl, DATABASE_FORMS).default('sqlite:./data/tollhouse.db'),
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'a redis(s) address' }).optional(),
  ALLOW_PRIVATE_NETWORKS: listOfRanges.optional(),
  ...GATEWAY_VARIABLES,
  ...REFUND_VARIABLES,
  ...PAGE_VARIABLES,
  LOG_FORMAT: z.enum(LOG_FORMATS, `one of ${LOG_FORMATS.join(', ')}`).optional(),
  LOG_LEVEL: z.enum(LOG_LEVELS, `one of ${LOG_LEVELS.join(', ')}`).default('info'),
});

/** Every variable that is read. */
export const VARIABLES: readonly string[] = Object.keys(environment.shape);

type Variables = Readonly<Record<string, string | undefined>>;
type Environment = z.output<typeof environment>;

/**
 * Reads and checks the environment; throws `bad_option` with every fault at once. Values of secrets are never shown, neither
 * then nor when the configuration is printed.
 */
export function readConfiguration(env: Variables): ServerConfiguration {
  const { configuration, faults } = inspectEnvironment(env);
  if (configuration === undefined) throw badOption('environment', faults.join('; '));
  return configuration;
}

/** The same, with the faults one by one. */
export function inspectEnvironment(env: Variables): {
  readonly configuration?: ServerConfiguration;
  readonly faults: readonly string[];
} {
  const known = Object.fromEntries(VARIABLES.map((name) => [name, env[name] || undefined]));
  const result = environment.safeParse(known);
  const issues = result.error?.issues ?? [];
  const faults = [
    ...issues.map(({ path, message }) => `${String(path[0])} must be ${message}`),
    ...chainFaults(known),
    ...(result.success ? laterFaults(known, result.data) : []),
  ];
  if (!result.success || faults.length > 0) return { faults };
  return { configuration: configurationOf(result.data), faults };
}

function configurationOf(data: Environment): ServerConfiguration {
  const { HOST, BASE_URL, TRUST_PROXY, PAY_TO, JWT_SECRET, TOKENS_FILE = [] } = data;
  const chain = chainOf(data);
  const configuration: ServerConfiguration = {
    host: HOST,
    port: data.PORT,
    metricsPort: data.METRICS_PORT,
    metricsHost: data.METRICS_HOST,
    baseUrl: BASE_URL,
    crossOrigins: data.CROSS_ORIGINS,
    trustProxy: TRUST_PROXY,
    payTo: PAY_TO,
    chain,
    otherChains: chain && otherChainsOf(data, chain),
    jwtSecret: JWT_SECRET,
    tiers: tiersOf(data),
    page: pageOf(data),
    tokens: TOKENS_FILE,
    rateLimitScale: data.RATE_LIMIT_SCALE,
    floodLimitPerSecond: data.FLOOD_LIMIT_PER_SECOND,
    maxFeeLamportsPerHour: data.MAX_FEE_LAMPORTS_PER_HOUR,
    maxPaymentsInFlight: data.MAX_PAYMENTS_IN_FLIGHT,
    maxAddressShare: data.MAX_ADDRESS_SHARE,
    databaseUrl: data.DATABASE_URL,
    redisUrl: data.REDIS_URL,
    allowPrivateNetworks: data.ALLOW_PRIVATE_NETWORKS ?? (chain === undefined ? LOOPBACK : []),
    logLevel: data.LOG_LEVEL,
    logFormat: data.LOG_FORMAT,
    ...gatewayConfiguration(data, chain === undefined),
  };
  return withHidden(configuration, ['jwtSecret', 'secretsKey', 'databaseUrl', 'redisUrl']);
}

/** Variables whose values, where they are no paths, let their holder spend, sign in as anybody, or read what others entrusted. */
const SECRETS = [
  ...['FACILITATOR_KEYPAIR', 'SPLIT_KEYPAIR', 'REFUND_KEYPAIR', 'JWT_SECRET', 'SECRETS_KEY'],
  ...NETWORK_KEYS,
];

/**
 * Takes the secrets out of an environment once they were read: crash reports, processes that are started, and whoever prints
 * the environment have no need of them.
 */
export function forgetSecrets(env: Record<string, string | undefined>): void {
  for (const name of SECRETS) delete env[name];
}

/** Tokens by symbol: those of the operator first, then the known ones whose symbols are still free. */
export function tokensBySymbol(own: readonly Token[], known: readonly Token[]): readonly Token[] {
  const taken = new Set(own.flatMap(({ symbol, mint }) => [symbol, mint]));
  return [...own, ...known.filter(({ symbol, mint }) => !taken.has(symbol) && !taken.has(mint))];
}

function laterFaults(known: Variables, env: Environment): readonly string[] {
  const { SOLANA_NETWORK: networks = [] } = env;
  const refunds = networks.slice(1).flatMap((it) => refundFaults(env, KNOWN_TOKENS[it]));
  const faults = [
    ...metricsFaults(env),
    ...tiersFaults(env),
    ...refundFaults(env, tokensOf(env)),
    ...refunds,
    ...networkFaults(known, networks),
  ];
  return [...new Set(faults)];
}

function metricsFaults({ PORT: port, METRICS_PORT: own, METRICS_HOST: host }: Environment): string[] {
  if (own === undefined) return host === undefined ? [] : ['METRICS_HOST says nothing without METRICS_PORT'];
  return own !== 0 && own === port ? ['METRICS_PORT must be another port than PORT, or --port'] : [];
}

function tiersFaults(env: Environment): string[] {
  return env.TIERS_FILE === undefined ? [] : [tiersFault(env.TIERS_FILE, tokensOf(env)) ?? []].flat();
}

function tokensOf({ TOKENS_FILE = [], SOLANA_NETWORK }: Environment): readonly Token[] {
  return tokensBySymbol(
    TOKENS_FILE,
    SOLANA_NETWORK?.[0] === undefined ? SANDBOX_TOKENS : KNOWN_TOKENS[SOLANA_NETWORK[0]],
  );
}

/** Checked by {@link tiersFaults}. */
function tiersOf({ TIERS_FILE }: Environment): TiersOptions | undefined {
  return TIERS_FILE as TiersOptions | undefined;
}
