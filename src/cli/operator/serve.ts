import { defined } from '../../lib/defined.js';
import { wholeError } from '../../lib/error-text.js';
import { VERSION } from '../../lib/version.js';
import {
  forgetSecrets,
  readConfiguration,
  type ServerConfiguration,
  VARIABLES,
} from '../../server/configuration/configuration.js';
import { misspeltVariables, warnOfMisspelt } from '../../server/configuration/misspelt.js';
import { createLogger, SILENT, usualLogFormat } from '../../server/logger.js';
import { requirePackages } from '../../server/needed-packages.js';
import { type ProcessWarnings, takeProcessWarnings } from '../../server/process-warnings.js';
import { type RunningServer, startServer } from '../../server/start-server.js';
import { none, readArguments } from '../arguments/arguments.js';
import { portArgument } from '../arguments/port-argument.js';
import { SANDBOX_RPC } from '../arguments/rpc-argument.js';
import { type Command, UsageError } from '../command.js';
import { ownCommand } from '../output/own-command.js';
import { printJson, printStep } from '../output/terminal.js';
import { untilStopped } from '../output/until-stopped.js';
import { listenFault } from './listen-fault.js';

const HELP = `tollhouse serve [--port <n>] [--host <address>]

Starts the facilitator and the gateway: payments, verification, token gate, wallet sign-in, projects, health, metrics.
With nothing configured it runs on a local sandbox chain and adds a paid route, GET /demo. "tollhouse doctor" looks at a
configuration before it goes live.

  --port <n>         port to listen on (default 4020, or PORT)
  --host <address>   address to listen on (default 127.0.0.1, or HOST)
  --json             tells where it listens as JSON, for programs

Environment:
  SOLANA_NETWORK, FACILITATOR_KEYPAIR   leave the sandbox: cluster, and the key that pays network fees
  SPLIT_KEYPAIR                         key of the wallet that is paid for splits, and pays them out; of several, separated
                                        by commas, the first is paid, and all pay out what they hold
  REFUND_KEYPAIR                        key of the wallet that pays back what payers are left with
  REFUND_MAX, REFUND_MAX_PER_DAY        most that one refund pays, and all within 24 hours (default $10, $100)
  SOLANA_DEVNET_RPC_URL, …              the same of a further network: SOLANA_NETWORK=solana,solana-devnet
  SOLANA_RPC_URL, SOLANA_WS_URL         your RPC provider (several HTTP addresses separated by commas)
  DATABASE_URL                          sqlite:./data/tollhouse.db (default), postgres://… or memory:
  REDIS_URL                             where rate limits are counted when several servers share a Postgres
  JWT_SECRET                            at least 32 bytes; lets wallets sign in for access tokens;
                                        of several, separated by commas, the first signs, and all are accepted
  SECRETS_KEY                           at least 32 bytes; encrypts the keys that owners add to the calls of their APIs; of
                                        several, separated by commas, the first encrypts, and all decrypt
  GATEWAY_OWNERS                        who may sell APIs here: open, or wallets (default: OPERATORS; on the sandbox open)
  OPERATORS                             wallets, separated by commas, that look after strangers: tollhouse operator
  QUOTA_PROJECTS, QUOTA_KEYS, …         what one wallet may own (default 20 projects, 50 keys); the guide to the server has all
  TIERS_FILE, TOKENS_FILE               JSON: membership tiers; tokens to be asked for by symbol
  PAY_TO                                wallet that the demo route's cent goes to
  PAGE_NAME, PAGE_LOGO                  of the pages for people: a name; a path of the site, or a data: address
  PAGE_COLOURS, PAGE_COLOURS_DARK       their colours by day and by night: accent=#0a6b4f, paper=#ffffff
  ALLOW_PRIVATE_NETWORKS                networks that upstreams and webhooks may be in although they are not public
  BASE_URL, TRUST_PROXY                 address behind a proxy; how many proxies, or their addresses
  CROSS_ORIGINS                         whose pages may use it from a browser: origins, separated by commas (default *)
  RATE_LIMIT_SCALE                      multiplies every rate limit (default 1)
  MAX_FEE_LAMPORTS_PER_HOUR             most that is spent on network fees, in lamports (default 1,000,000,000)
  MAX_PAYMENTS_IN_FLIGHT                payments under way at once before more are told to come again (default 500)
  MAX_ADDRESS_SHARE                     what share of those one client address may have (default 0.5; 1: no bound)
  FLOOD_LIMIT_PER_SECOND                requests a second of one address before it is held off (default 250; 0: no bound)
  METRICS_PORT, METRICS_HOST            a port of its own for /metrics, /readyz and /livez (default 127.0.0.1; /metrics is public)
  LOG_FORMAT                            json or text (default: text on a terminal, else a JSON line for each thing)
  LOG_LEVEL                             silent, fatal, error, warn, info (default), debug, trace
  PORT, HOST                            as above`;

/** `tollhouse serve`: the server, until it is stopped. */
export const serve: Command = {
  help: HELP,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      port: { type: 'string' },
      host: { type: 'string' },
      json: { type: 'boolean' },
    });
    none(positionals, 'tollhouse serve [--port <n>] [--host <address>]');
    const overrides = readFlags(values);
    const warnings = takeProcessWarnings();
    try {
      const { server, isForPeople, isLogged } = await startLogged(overrides, warnings);
      // Whoever reads that it has started may stop it at once.
      const stopped = untilStopped();
      if (values.json) await printStarted(server, isForPeople);
      // Without pino nothing else tells where it listens.
      else if (isForPeople || !isLogged) await printWelcome(server);
      await stopped;
      if (process.stdout.isTTY && !values.json)
        console.log('\nstopping: no new requests; those under way are finished');
      await server.close();
      return 0;
    } finally {
      warnings.stop();
    }
  },
};

type Overrides = Readonly<Partial<Record<'PORT' | 'HOST', string>>>;

/** What flags set, by the variables in whose place it comes. */
function readFlags({
  port,
  host,
}: {
  readonly port?: string | undefined;
  readonly host?: string | undefined;
}): Overrides {
  if (host?.trim() === '') throw new UsageError('--host must be an address to listen on, such as 127.0.0.1');
  return defined({ PORT: portArgument('--port', port)?.toString(), HOST: host });
}

/**
 * Starts the server, with the warnings of the process in its log. What is told as JSON lines, on standard output, is told by the log
 * alone. A function of its own: what waits for the end of the server would keep the configuration in memory, with its secrets.
 */
async function startLogged(overrides: Overrides, warnings: ProcessWarnings) {
  const configuration = takeConfiguration(overrides);
  // The log is one of them: they are told all at once.
  requirePackages(configuration);
  const { logLevel, logFormat = usualLogFormat() } = configuration;
  const logger = await createLogger(logLevel, undefined, logFormat);
  if (logger !== SILENT) warnings.tell(logger);
  else warnings.stop();
  const server = await startServer(configuration).catch((error: unknown) => {
    logger.error(faultOf(error), 'the server does not start');
    const { PORT, HOST } = overrides;
    throw listenFault(error, {
      port: PORT === undefined ? 'PORT' : '--port',
      host: HOST === undefined ? 'HOST' : '--host',
    });
  });
  return { server, isForPeople: logFormat === 'text', isLogged: logger !== SILENT || logLevel === 'silent' };
}

function faultOf(error: unknown): object {
  const code: unknown = Reflect.get(Object(error), 'code');
  return defined({ code, reason: wholeError(error) });
}

function takeConfiguration(overrides: Overrides): ServerConfiguration {
  warnOfMisspelt(misspeltVariables(process.env, VARIABLES));
  const configuration = readConfiguration({ ...process.env, ...overrides });
  forgetSecrets(process.env);
  return configuration;
}

async function printStarted(
  { url, metricsUrl: metrics_url, chain, facilitator, demo }: RunningServer,
  isForPeople: boolean,
): Promise<void> {
  const { wallet, status } = await facilitator.health();
  const { rpcUrl: rpc_url, wsUrl: ws_url } = chain.sandbox ?? {};
  const sandbox = chain.sandbox === undefined ? null : { rpc_url, ws_url };
  const demo_url = demo ? `${url}/demo` : null;
  const started = {
    url,
    ...defined({ metrics_url }),
    version: VERSION,
    network: facilitator.network,
    sandbox,
    fee_payer: { wallet, status },
    demo_url,
  };
  if (isForPeople) printJson(started);
  else console.log(JSON.stringify(started));
}

async function printWelcome({ url, metricsUrl, chain, facilitator, demo, tokens }: RunningServer): Promise<void> {
  const { wallet, status } = await facilitator.health();
  const { sandbox } = chain;
  printStep(
    'tollhouse',
    `${VERSION} on ${sandbox === undefined ? facilitator.network : 'a sandbox chain of its own (answers as devnet)'}`,
  );
  printStep('server', url);
  if (metricsUrl !== undefined) printStep('metrics', `${metricsUrl}/metrics`);
  if (sandbox !== undefined) printStep('RPC', sandbox.rpcUrl);
  printStep('fee payer', `${wallet} (${status})`);
  if (!tokens) printStep('sign-in', 'by SIGN-IN-WITH-X only; set JWT_SECRET for access tokens');
  if (!demo) return;
  const rpc = sandbox === undefined || sandbox.rpcUrl === SANDBOX_RPC ? '' : ` --rpc ${sandbox.rpcUrl}`;
  const wallets = sandbox === undefined ? '--keypair <file>' : '--demo';
  const tollhouse = ownCommand();
  console.log(
    `\nThe route /demo costs one cent. Pay for it from another terminal:\n\n  ${tollhouse} pay ${url}/demo ${wallets}${rpc}\n`,
  );
  console.log(
    `Or sell an API that runs already:\n\n  ${tollhouse} login ${wallets} --server ${url}\n  ${tollhouse} projects --help\n`,
  );
}
