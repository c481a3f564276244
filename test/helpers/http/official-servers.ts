import { createKeyPairSignerFromBytes } from '@solana/kit';
import type { Keypair } from '@solana/web3.js';
import { x402Facilitator } from '@x402/core/facilitator';
import type { FacilitatorClient } from '@x402/core/server';
import type { Network } from '@x402/core/types';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme as ExactSvmFacilitator } from '@x402/svm/exact/facilitator';
import { ExactSvmScheme as ExactSvmServer } from '@x402/svm/exact/server';
import express, { type Express, type RequestHandler } from 'express';

/** What the official server sells. */
export interface OfficialRoute {
  readonly network: Network;
  readonly price: string;
  readonly payTo: string;
}

/** The official server's middleware for `GET /report`, settling through a facilitator. */
export function officialGate(facilitator: FacilitatorClient, { network, price, payTo }: OfficialRoute): RequestHandler {
  const server = new x402ResourceServer(facilitator).register(network, new ExactSvmServer());
  const accepts = { scheme: 'exact', network, price, payTo };
  return paymentMiddleware({ 'GET /report': { accepts, description: 'A report' } }, server);
}

/** The reference facilitator in this process. */
export async function referenceInProcess(keypair: Keypair, rpcUrl: string, network: Network): Promise<x402Facilitator> {
  const signer = toFacilitatorSvmSigner(await createKeyPairSignerFromBytes(keypair.secretKey), {
    defaultRpcUrl: rpcUrl,
  });
  return new x402Facilitator().register(network, new ExactSvmFacilitator(signer));
}

/** The reference facilitator over HTTP, as its examples mount it. */
export async function referenceFacilitator(keypair: Keypair, rpcUrl: string, network: Network): Promise<Express> {
  const facilitator = await referenceInProcess(keypair, rpcUrl, network);
  const app = express();
  app.use(express.json());
  app.get('/supported', (_req, res) => void res.json(facilitator.getSupported()));
  app.post('/verify', async (req, res) => {
    res.json(await facilitator.verify(req.body.paymentPayload, req.body.paymentRequirements));
  });
  app.post('/settle', async (req, res) => {
    res.json(await facilitator.settle(req.body.paymentPayload, req.body.paymentRequirements));
  });
  return app;
}
