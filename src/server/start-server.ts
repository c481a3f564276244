import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EmbeddedFacilitator } from '../facilitator/create-facilitator.js';
import { createFacilitator } from '../facilitator/create-facilitator.js';
import { createIdentity, type WalletIdentity } from '../identity/create-identity.js';
import type { Counters } from '../storage/counters.js';
import { openStorage, type Storage } from '../storage/open-storage.js';
import { type ChainParts, connectChain } from './chain-parts.js';
import type { ServerConfiguration } from './configuration.js';
import { createApp } from './create-app.js';
import { createGracefulStop } from './graceful-stop.js';
import { createHttpServer, listen } from './http-server.js';
import { logPayments } from './log-payments.js';
import { createLogger, type LogTarget, type ServerLogger } from './logger.js';

/** A server that answers. */
export interface RunningServer {
  /** Where it listens. */
  readonly url: string;
  readonly facilitator: EmbeddedFacilitator;
  readonly chain: ChainParts;
  /** Whether the demo route is there. */
  readonly demo: boolean;
  /** Whether wallets can sign in for tokens. */
  readonly tokens: boolean;
  /** Refuses new work, finishes what is under way (15 s at most), then lets go of everything. */
  close(): Promise<void>;
}

/** So often the server looks after itself, in milliseconds: gates must learn of an outage though nobody asks for `/health`. */
const HEALTH_EVERY_MS = 10_000;
/** How long finished payments are remembered, and how they are forgotten: little by little. */
const RETENTION_MS = 86_400_000;
const PRUNE_EVERY_MS = 60_000;
const PRUNE_STEP = 500;
const SECRET_BYTES = 48;

/**
 * The composition root: configuration → chain, facilitator, identity, routers → an HTTP server that listens.
 * Without a chain in the configuration it starts the sandbox and brings a paid demo route.
 * @param log - where the log goes; default standard error
 */
export async function startServer(given: ServerConfiguration, log?: LogTarget): Promise<RunningServer> {
  const logger = await createLogger(given.logLevel, log);
  const chain = await connectChain(given);
  const configuration = withSecret(given, chain);
  const storage = await openStorageBeside(chain, given);
  const { ledger, counters } = storage;
  const facilitator = createFacilitator({ ...chain.facilitatorOptions, ledger });
  const pruning = setInterval(() => void prune(storage, logger), PRUNE_EVERY_MS).unref();
  const looking = setInterval(() => void facilitator.health(), HEALTH_EVERY_MS).unref();

  async function letGo(): Promise<void> {
    clearInterval(looking);
    clearInterval(pruning);
    await facilitator.close();
    await storage.close();
    await chain.close();
  }

  try {
    logPayments(facilitator, logger);
    const identity = identityFor(configuration, facilitator, counters);
    const { refuse, stop } = createGracefulStop(() => server);
    const { payTo } = chain;
    const app = createApp({ configuration, facilitator, identity, counters, logger, payTo, refuse });
    const server: Server = createHttpServer(app);
    await listen(server, configuration.port, configuration.host);
    const url = urlOf(server);
    logger.info({ url, network: facilitator.network, sandbox: chain.sandbox !== undefined }, 'listening');
    return {
      url,
      facilitator,
      chain,
      demo: payTo !== undefined,
      tokens: configuration.jwtSecret !== undefined,
      async close() {
        logger.info({}, 'stopping');
        await stop();
        await letGo();
        logger.info({}, 'stopped');
      },
    };
  } catch (error) {
    await letGo();
    throw error;
  }
}

/** Opens the database; when it cannot be opened, the chain goes as well. */
async function openStorageBeside(chain: ChainParts, { databaseUrl, redisUrl }: ServerConfiguration): Promise<Storage> {
  try {
    return await openStorage(databaseUrl, redisUrl === undefined ? {} : { redisUrl });
  } catch (error) {
    await chain.close();
    throw error;
  }
}

/** Forgets a few payments that were over a day ago; what is left waits for the next time. */
async function prune(storage: Storage, logger: ServerLogger): Promise<void> {
  try {
    await storage.prune(Date.now() - RETENTION_MS, PRUNE_STEP);
  } catch (error) {
    logger.warn({ reason: error instanceof Error ? error.message : String(error) }, 'pruning failed');
  }
}

/** On the sandbox nothing lasts, and so a secret may be new with every start. */
function withSecret(configuration: ServerConfiguration, { sandbox }: ChainParts): ServerConfiguration {
  if (sandbox === undefined || configuration.jwtSecret !== undefined) return configuration;
  return { ...configuration, jwtSecret: randomBytes(SECRET_BYTES).toString('base64url') };
}

function identityFor(
  { jwtSecret, baseUrl }: ServerConfiguration,
  { network }: EmbeddedFacilitator,
  counters: Counters,
): WalletIdentity {
  return createIdentity({
    network,
    counters,
    ...(jwtSecret === undefined ? {} : { jwtSecret }),
    ...(baseUrl === undefined ? {} : { domain: new URL(baseUrl).host }),
  });
}

function urlOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
