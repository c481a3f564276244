import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import bs58 from 'bs58';
import type { Express, RequestHandler } from 'express';
import { createFacilitator } from '../../../src/facilitator/create-facilitator.js';
import { createRouter } from '../../../src/http/create-router.js';
import { requirePayment } from '../../../src/middleware/payment/require-payment.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { serveApp } from '../../helpers/http/app-server.js';
import { officialGate } from '../../helpers/http/official-servers.js';
import type { ContestantParts } from '../contestant.js';

/** How a seller of `GET /report` is set up. */
export interface SellerSettings {
  readonly kind: 'bare' | 'ours' | 'reference';
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Base58; the first is offered. */
  readonly keypairs: readonly string[];
  readonly payTo: string;
  readonly settle?: 'before' | 'after';
  /** Database of the ledger. Default: memory. */
  readonly databaseUrl?: string;
  /** Gated routes behind the one that is measured: what Express takes to look through routes is its own. Default 0. */
  readonly otherRoutes?: number;
  /** Whether the whole service is mounted before it. */
  readonly mounted?: boolean;
  /** How many payments may be under way at once; null: no bound. Default null, as one wallet pays for most benches. */
  readonly maxPaymentsInFlight?: number | null;
  /** Body of the bare 402. */
  readonly unpaidBody?: object;
}

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const REPORT = { report: 'the figures of the day', rows: [1, 2, 3, 4, 5] };
const handler: RequestHandler = (_req, res) => void res.json(REPORT);

/** An Express server with `GET /report`, which has a price, and `GET /free`, which has none. */
export async function start(settings: SellerSettings): Promise<ContestantParts> {
  const { kind, unpaidBody } = settings;
  const configure = kind === 'ours' ? await ours(settings) : kind === 'reference' ? await reference(settings) : bare;
  return serveApp((app) => {
    configure(app);
    app.get('/free', handler);
  });

  function bare(app: Express): void {
    app.get('/report', (_req, res) => void res.status(402).json(unpaidBody));
  }
}

async function ours(settings: SellerSettings): Promise<(app: Express) => void> {
  const { rpcUrl, wsUrl, keypairs, payTo, settle = 'after', databaseUrl, otherRoutes = 0, mounted = false } = settings;
  const maxPaymentsInFlight = settings.maxPaymentsInFlight ?? Number.POSITIVE_INFINITY;
  const ledger = databaseUrl === undefined ? {} : { ledger: (await openStorage(databaseUrl)).ledger };
  const network = 'solana-devnet';
  const facilitator = createFacilitator({
    network,
    rpcUrl,
    wsUrl,
    keypair: keypairs,
    tokens: SANDBOX_TOKENS,
    maxPaymentsInFlight,
    // All load comes from this machine.
    maxAddressShare: 1,
    ...ledger,
  });
  const sold = { facilitator, price: '$0.01', payTo, description: 'A report', settle };
  return (app) => {
    if (mounted) app.use(createRouter({ facilitator }));
    app.get('/report', requirePayment(sold), handler);
    for (let count = 0; count < otherRoutes; count += 1) app.get(`/other/${count}`, requirePayment(sold), handler);
  };
}

/** The official middleware, with the official facilitator in the same process. */
async function reference({ keypairs, rpcUrl, payTo }: SellerSettings): Promise<(app: Express) => void> {
  const signer = await createKeyPairSignerFromBytes(bs58.decode(keypairs[0] ?? ''));
  const scheme = new ExactSvmScheme(toFacilitatorSvmSigner(signer, { defaultRpcUrl: rpcUrl }));
  const facilitator = new x402Facilitator().register(DEVNET, scheme);
  const client = {
    verify: facilitator.verify.bind(facilitator),
    settle: facilitator.settle.bind(facilitator),
    getSupported: async () => facilitator.getSupported() as Awaited<ReturnType<ReferenceClient['getSupported']>>,
  };
  return (app) => {
    app.use(officialGate(client, { network: DEVNET, price: '$0.01', payTo }));
    app.get('/report', handler);
  };
}

type ReferenceClient = Parameters<typeof officialGate>[0];
