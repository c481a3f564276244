import { createKeyPairSignerFromBytes } from '@solana/kit';
import type { Keypair } from '@solana/web3.js';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { ExactSvmSchemeV1 } from '@x402/svm/v1';

/** Where a client asks the chain, and with which wallet it pays. */
export interface ClientSetup {
  readonly wallet: Keypair;
  readonly rpcUrl: string;
}

/** `fetch` that pays with the official version 2 client. */
export async function payingFetch({ wallet, rpcUrl }: ClientSetup): Promise<typeof fetch> {
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
  const client = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
  return wrapFetchWithPayment(fetch, client) as typeof fetch;
}

/** The official version 1 scheme, for payloads that are sent by hand. */
export async function schemeV1({ wallet, rpcUrl }: ClientSetup): Promise<ExactSvmSchemeV1> {
  return new ExactSvmSchemeV1(await createKeyPairSignerFromBytes(wallet.secretKey), { rpcUrl });
}
