import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Express } from 'express';
import { badOption, TollhouseError } from '../errors/errors.js';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import { createFacilitator } from '../facilitator/create-facilitator.js';
import type { FacilitatorOptions } from '../facilitator/facilitator-options.js';
import { createNetworks, type Networks } from '../facilitator/networks/networks.js';
import type { Facilitator } from '../facilitator/types.js';
import { createGateway } from '../gateway/create-gateway.js';
import { createMetrics } from '../http/service/metrics.js';
import { createIdentity, type WalletIdentity } from '../identity/create-identity.js';
import { defined } from '../lib/defined.js';
import { wholeError } from '../lib/error-text.js';
import { endInTurn, endTogether } from '../lib/work/ends.js';
import { openStorage } from '../storage/open-storage.js';
import type { Storage } from '../storage/storage.js';
import { type ChainParts, connectChain } from './chain-parts.js';
import type { ServerConfiguration } from './configuration/configuration.js';
import { keptSecretsKey } from './configuration/kept-secrets-key.js';
import { missingSiteName } from './configuration/site-name.js';
import { createApp } from './create-app.js';
import { createFloodGuard, type FloodGuard } from './flood-guard/flood-guard.js';
import { createGracefulStop, type StopTimes } from './graceful-stop.js';
import { createHttpServer, listen, urlOf } from './http-server.js';
import type { LogTarget } from './log-output.js';
import { createLogger, type ServerLogger } from './logger.js';
import { requirePackages } from './needed-packages.js';
import { type OperatorPort, openOperatorPort } from './operator-port.js';
import { tellsOfFaults } from './upkeep/background-faults.js';
import { startHousekeeping } from './upkeep/housekeeping.js';
import { logPayments } from './upkeep/log-payments.js';
import { watchFees } from './upkeep/watch-fees.js';

/** The chain of a server; the keys that were needed to connect it are not kept. */
export type RunningChain = Omit<ChainParts, 'facilitatorOptions' | 'otherOptions'>;

/** A server that answers. */
export interface RunningServer {
  /** Where it listens. */
  readonly url: string;
  /** Where the figures are, where they have a port of their own. */
  readonly metricsUrl?: string;
  /** Of the first network. */
  readonly facilitator: EmbeddedFacilitator;
  /** Of all networks. */
  readonly facilitators: readonly EmbeddedFacilitator[];
  readonly chain: RunningChain;
  /** Whether the demo route is there. */
  readonly demo: boolean;
  /** Whether wallets can sign in for tokens. */
  readonly tokens: boolean;
  /**
   * Refuses new work, finishes what is under way (15 s at most, and what waits for an upstream by then is told so), then lets go of everything. Rejects, once all is let go of, where the
   * last could not be written down.
   */
  close(): Promise<void>;
}

const SECRET_BYTES = 48;
const NOT_ALL_WRITTEN =
  'stopped, but the last of what was to be written down could not be; nothing that was paid and answered is lost, and what was under way is settled by the next start';
const MOVED =
  'another program has port 8899, or 8900 beside it, so the sandbox has others: what asks 8899, as tollhouse pay --demo, asks another chain unless --rpc names this one';

/**
 * The composition root: configuration → chain, facilitator, identity, routers → an HTTP server that listens.
 * Without a chain in the configuration it starts the sandbox and brings a paid demo route.
 * @param log - where the log goes; default standard output
 * @param times - how long its end waits, see {@link StopTimes}
 * @throws TollhouseError `bad_option` where wallets sign in outside the sandbox and `BASE_URL` is not set
 */
export async function startServer(
  given: ServerConfiguration,
  log?: LogTarget,
  times?: Partial<StopTimes>,
): Promise<RunningServer> {
  const unnamed = missingSiteName(given);
  if (unnamed !== undefined) throw badOption('environment', unnamed, 'baseUrl');
  requirePackages(given);
  const logger = await createLogger(given.logLevel, log, given.logFormat);
  const { facilitatorOptions, otherOptions, ...chain } = await connectChain(given, (rpcUrl) =>
    logger.warn({ rpcUrl }, MOVED),
  );
  const { configuration, storage } = await openBeside(chain, given);
  const onFault = tellsOfFaults(logger);
  const networks = openNetworks([facilitatorOptions, ...otherOptions], { storage, onFault });
  const { first: facilitator, all: facilitators, joined } = networks;
  const gateway = createGateway({ ...gatewayBounds(configuration), facilitators, onFault });
  let operatorPort: OperatorPort | undefined;
  const stopHousekeeping = startHousekeeping({ networks, storage, logger });

  async function letGo(): Promise<void> {
    await endInTurn(
      () => endTogether(stopHousekeeping(), gateway.close(), joined.close()),
      () => storage.close(),
      () => chain.close(),
      () => operatorPort?.close(),
    );
  }

  try {
    await gateway.upstreams.check();
    gateway.start();
    tellLog(joined, storage, logger);
    const identity = identityFor(configuration, facilitator);
    const { refuse, stop } = createGracefulStop(() => server, { giveUp: gateway.proxy.stop, times });
    const { payTo } = chain;
    const shared = { networks, counters: storage.counters, metrics: createMetrics(joined, gateway) };
    operatorPort = await openOperatorPort(configuration, shared);
    const app = createApp({ ...shared, configuration, gateway, identity, logger, payTo, refuse });
    const server = await openServer(app, configuration, logger);
    const urls = { url: urlOf(server), ...defined({ metricsUrl: operatorPort.url }) };
    const network = facilitators.map((it) => it.network).join(',');
    // Of a node that was configured the address may be a secret.
    const { rpcUrl } = chain.sandbox ?? {};
    logger.info({ ...urls, network, sandbox: rpcUrl !== undefined, ...defined({ rpcUrl }) }, 'listening');
    return {
      ...urls,
      facilitator,
      facilitators,
      chain,
      demo: payTo !== undefined,
      tokens: configuration.jwtSecret !== undefined,
      // Event streams have no end of their own.
      close: () => end(logger, () => gateway.tail.close(), stop, letGo),
    };
  } catch (error) {
    // What cannot be ended either must not hide why it does not start.
    await letGo().catch(() => undefined);
    throw error;
  }
}

/** Ends a server, and tells the log of it; rejects where something could not be ended well, though nothing is open any more. */
async function end(logger: ServerLogger, ...ends: readonly (() => unknown)[]): Promise<void> {
  logger.info({}, 'stopping');
  try {
    await endInTurn(...ends);
  } catch (cause) {
    logger.error({ reason: wholeError(cause) }, NOT_ALL_WRITTEN);
    const isAway = cause instanceof TollhouseError && cause.code === 'store_unavailable';
    throw isAway ? new TollhouseError('store_unavailable', NOT_ALL_WRITTEN, { cause }) : cause;
  }
  logger.info({}, 'stopped');
}

async function openServer(app: Express, configuration: ServerConfiguration, logger: ServerLogger): Promise<Server> {
  const guard = floodGuardFor(configuration, logger);
  const server = createHttpServer(guard?.requests(app) ?? app);
  guard?.connections(server);
  await listen(server, configuration.port, configuration.host);
  return server;
}

function tellLog(facilitator: Facilitator, { counters, gateway }: Storage, logger: ServerLogger): void {
  logPayments(facilitator, logger);
  watchFees(facilitator, { counters, events: gateway.events, now: Date.now, logger });
}

/** A facilitator on each chain, which keep what they do in one place. */
function openNetworks(
  chains: readonly FacilitatorOptions[],
  shared: Pick<FacilitatorOptions, 'storage' | 'onFault'>,
): Networks<EmbeddedFacilitator> {
  const facilitators = chains.map((it) => createFacilitator({ ...it, ...shared }));
  return createNetworks('startServer', facilitators);
}

function gatewayBounds(configuration: ServerConfiguration) {
  const { allowPrivateNetworks, rateLimitScale: limitScale, quotas, operators, owners, secretsKey } = configuration;
  return { allowPrivateNetworks, limitScale, quotas, operators, owners, secretsKey };
}

/** Opens the database and finds the secrets; when that cannot be done, the chain goes as well. */
async function openBeside(
  chain: RunningChain,
  given: ServerConfiguration,
): Promise<{ readonly configuration: ServerConfiguration; readonly storage: Storage }> {
  const { databaseUrl, redisUrl } = given;
  let storage: Storage | undefined;
  try {
    storage = await openStorage(databaseUrl, defined({ redisUrl }));
    return { configuration: withSecrets(given, chain), storage };
  } catch (error) {
    await storage?.close();
    await chain.close();
    throw error;
  }
}

/** On the sandbox no sign-in lasts, and so its secret may be new with every start; projects last, and what is encrypted in them. */
function withSecrets(configuration: ServerConfiguration, { sandbox }: RunningChain): ServerConfiguration {
  if (sandbox === undefined) return configuration;
  const { jwtSecret = [randomBytes(SECRET_BYTES).toString('base64url')], secretsKey, databaseUrl } = configuration;
  return { ...configuration, jwtSecret, secretsKey: secretsKey.length > 0 ? secretsKey : keptSecretsKey(databaseUrl) };
}

/** None behind a proxy, whose address is that of all. */
function floodGuardFor(
  { floodLimitPerSecond, rateLimitScale, trustProxy }: ServerConfiguration,
  logger: ServerLogger,
): FloodGuard | undefined {
  if (floodLimitPerSecond === 0 || (trustProxy !== undefined && trustProxy !== 0)) return undefined;
  const onFlood = (address: string): void => logger.warn({ address }, 'a flood of requests is held off');
  return createFloodGuard({ perSecond: Math.max(1, Math.round(floodLimitPerSecond * rateLimitScale)), onFlood });
}

function identityFor({ jwtSecret, baseUrl }: ServerConfiguration, facilitator: EmbeddedFacilitator): WalletIdentity {
  return createIdentity({
    facilitator,
    ...defined({ jwtSecret }),
    ...(baseUrl === undefined ? {} : { domain: new URL(baseUrl).host }),
  });
}
