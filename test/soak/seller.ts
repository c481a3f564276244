// The seller of the soak: the whole server, made of the parts that `tollhouse serve` is made of, with routes of its own
// before them. A process of its own; see bench/contestant-process.mjs.
import { randomUUID } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import express, { type Express, type RequestHandler } from 'express';
import { TollhouseError } from '../../src/errors/errors.js';
import { createFacilitator, type EmbeddedFacilitator } from '../../src/facilitator/create-facilitator.js';
import { createNetworks } from '../../src/facilitator/networks/networks.js';
import { createGateway } from '../../src/gateway/create-gateway.js';
import { createMetrics } from '../../src/http/service/metrics.js';
import { createIdentity, type WalletIdentity } from '../../src/identity/create-identity.js';
import { requirePayment } from '../../src/middleware/payment/require-payment.js';
import { requireTier } from '../../src/middleware/wallet/require-tier.js';
import { requireTokenBalance } from '../../src/middleware/wallet/require-token-balance.js';
import { connectChain } from '../../src/server/chain-parts.js';
import { readConfiguration } from '../../src/server/configuration/configuration.js';
import { createApp } from '../../src/server/create-app.js';
import { createGracefulStop } from '../../src/server/graceful-stop.js';
import { createHttpServer, listen } from '../../src/server/http-server.js';
import { createLogger } from '../../src/server/logger.js';
import { startHousekeeping } from '../../src/server/upkeep/housekeeping.js';
import { logPayments } from '../../src/server/upkeep/log-payments.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { ContestantParts } from '../bench/contestant.js';
import { CLUB_MINIMUM, FAILED_STATUS, FAILS_HEADER, LONG_BYTES, PACK_USES, PASS_USES, USDC } from './goods.js';
import { createSampler } from './sampler.js';

/** How a seller is set up. */
export interface SoakSellerSettings {
  /** The server's configuration, as in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Wallet that its own routes pay to, base58. */
  readonly payTo: string;
  /** Atomic units of USDC. */
  readonly price: string;
}

/** Short, so that a few seconds of trouble are enough to meet every wait. */
const QUICK = { leaseMs: 3_000, settleTimeoutMs: 5_000, rpcTimeoutMs: 2_000 };
/** After a crash a payment with an identifier waits as long as all of these together. */
const QUICK_ROUTE = { handlerTimeoutMs: 5_000, maxTimeoutSeconds: 10 };
const MOST_WORK_MS = 20;
const PIECES = 6;
const PIECE_BYTES = 60_000;

export async function start({ env, payTo, price }: SoakSellerSettings): Promise<ContestantParts> {
  const configuration = readConfiguration(env);
  const logger = await createLogger(configuration.logLevel);
  const chain = await connectChain(configuration);
  const storage = await openStorage(configuration.databaseUrl);
  const { counters } = storage;
  const facilitator = createFacilitator({ ...chain.facilitatorOptions, ...QUICK, storage });
  const { allowPrivateNetworks, rateLimitScale: limitScale, jwtSecret = '' } = configuration;
  const gateway = createGateway({ facilitator, allowPrivateNetworks, limitScale });
  const stopHousekeeping = startHousekeeping({ networks: createNetworks('soak', [facilitator]), storage, logger });
  gateway.start();
  logPayments(facilitator, logger);
  const identity = createIdentity({ facilitator, jwtSecret });
  const { refuse, stop } = createGracefulStop(() => server);
  const app = express();
  addGoods(app.use(refuse), { facilitator, identity, payTo, price: BigInt(price) });
  app.use(
    createApp({
      configuration,
      networks: createNetworks('soak', [facilitator]),
      gateway,
      identity,
      counters,
      logger,
      metrics: createMetrics(facilitator, gateway),
      payTo: undefined,
      refuse: pass,
    }),
  );
  const server = createHttpServer(app);
  await listen(server, configuration.port, configuration.host);

  /** As `startServer` ends. */
  async function close(): Promise<void> {
    await gateway.tail.close();
    await stop();
    const idle = stopHousekeeping();
    await Promise.all([gateway.close(), facilitator.close()]);
    await idle;
    await storage.close();
    await chain.close();
  }

  process.once('SIGTERM', () => void close().finally(() => process.exit()));
  return { url: `http://${configuration.host}:${configuration.port}`, asks: { sample: createSampler() } };
}

const pass: RequestHandler = (_req, _res, next) => next();

interface Goods {
  readonly facilitator: EmbeddedFacilitator;
  readonly identity: WalletIdentity;
  readonly payTo: string;
  readonly price: bigint;
}

function addGoods(app: Express, { facilitator, identity, payTo, price }: Goods): void {
  const gated = { facilitator, payTo, price: { amount: price, asset: USDC }, ...QUICK_ROUTE };
  app.all('/after/:what', requirePayment(gated), answer);
  app.all('/before/:what', requirePayment({ ...gated, settle: 'before' }), answerInParts);
  app.get('/stream/:what', requirePayment({ ...gated, settle: 'before' }), answerAsStream);
  app.get('/long/:what', requirePayment({ ...gated, settle: 'before' }), answerAtLength);
  app.get('/pass/:what', requirePayment({ ...gated, pass: { uses: PASS_USES } }), answer);
  app.get('/failing/:what', requirePayment({ ...gated, settle: 'before' }), failWhenAsked, answer);
  const pack = { uses: PACK_USES };
  app.get('/failing-pack/:what', requirePayment({ ...gated, settle: 'before', pass: pack }), failWhenAsked, answer);
  app.post('/refund/:payment', refundBy(facilitator));
  const wallets = { facilitator, identity };
  app.get('/club', requireTokenBalance({ ...wallets, mint: USDC, minBalance: CLUB_MINIMUM }), answer);
  app.get('/gold', requireTier({ ...wallets, tier: 'gold' }), answer);
}

/** Every run of a handler is told by a number of its own. */
const answer: RequestHandler = async (_req, res) => {
  await pause(Math.random() * MOST_WORK_MS);
  res.json({ run: randomUUID() });
};

const failWhenAsked: RequestHandler = (req, res, next) => {
  if (req.get(FAILS_HEADER) === undefined) next();
  else res.status(FAILED_STATUS).json({ sorry: true });
};

/** What an operator does by hand. */
function refundBy(facilitator: EmbeddedFacilitator): RequestHandler {
  return async (req, res) => {
    try {
      res.json(await facilitator.refund(String(req.params['payment'])));
    } catch (error) {
      if (!(error instanceof TollhouseError)) throw error;
      res.status(error.status).json({ code: error.code, detail: error.message });
    }
  };
}

const answerInParts: RequestHandler = async (_req, res) => {
  res.type('json').write('{"run":');
  await pause(Math.random() * MOST_WORK_MS);
  res.end(`"${randomUUID()}"}`);
};

const answerAsStream: RequestHandler = async (_req, res) => {
  const run = randomUUID();
  res.type('text/event-stream');
  for (let piece = 1; piece <= PIECES; piece += 1) {
    res.write(`data: {"run":"${run}","piece":${piece}}\n\n`);
    await pause(Math.random() * MOST_WORK_MS);
  }
  res.end();
};

/** More than the buffers of a connection take. */
const answerAtLength: RequestHandler = (_req, res) => {
  const piece = `{"run":"${randomUUID()}","more":"${'-'.repeat(PIECE_BYTES)}"}\n`;
  const pieces = Array.from({ length: Math.ceil(LONG_BYTES / piece.length) }, () => piece);
  // Whoever hangs up breaks it off.
  pipeline(Readable.from(pieces), res.type('application/x-ndjson'), () => {});
};
