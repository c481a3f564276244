import { createKeyPairSignerFromBytes } from '@solana/kit';
import type { Keypair } from '@solana/web3.js';
import { createSIWxClientExtension, type SIWxSigner, wrapFetchWithSIWx } from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { ExactSvmSchemeV1 } from '@x402/svm/v1';
import { createEd25519Signer } from '../../../src/lib/ed25519/ed25519.js';

/** Where a client asks the chain, and with which wallet it pays. */
export interface ClientSetup {
  readonly wallet: Keypair;
  readonly rpcUrl: string;
}

/** Fetches like `fetch`. */
export type Fetch = typeof fetch;

/** The official version 2 client. */
export async function clientV2({ wallet, rpcUrl }: ClientSetup): Promise<x402Client> {
  const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
  return new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
}

/**
 * `fetch` that pays with the official version 2 client.
 * @param through - what really fetches, for tests that listen in. Default `fetch`
 */
export async function payingFetch(setup: ClientSetup, through: Fetch = fetch): Promise<Fetch> {
  return wrapFetchWithPayment(through, await clientV2(setup));
}

/**
 * `fetch` that pays with the official version 2 client, which signs in first where the 402 says that this may do.
 * @param through - as in {@link payingFetch}
 */
export async function signingFetch(setup: ClientSetup, through: Fetch = fetch): Promise<Fetch> {
  const client = await clientV2(setup);
  client.registerExtension(createSIWxClientExtension({ signers: [walletAdapter(setup.wallet)] }));
  return wrapFetchWithPayment(through, client);
}

/** What browsers' wallets offer. */
export function walletAdapter({ publicKey, secretKey }: Keypair): SIWxSigner {
  const { sign } = createEd25519Signer(secretKey.subarray(0, 32));
  return { publicKey, signMessage: async (message: Uint8Array) => sign(message) };
}

/**
 * `fetch` that pays with the official version 1 scheme: of a 402 it is shown the body only.
 * @param through - as in {@link payingFetch}
 */
export async function payingFetchV1(setup: ClientSetup, network: string, through: Fetch = fetch): Promise<Fetch> {
  const client = new x402Client().registerV1(network, await schemeV1(setup));
  return wrapFetchWithPayment(withoutTerms(through), client);
}

/** The official version 1 scheme, for payloads that are sent by hand. */
export async function schemeV1({ wallet, rpcUrl }: ClientSetup): Promise<ExactSvmSchemeV1> {
  return new ExactSvmSchemeV1(await createKeyPairSignerFromBytes(wallet.secretKey), { rpcUrl });
}

/** What the official client makes of a response: `settled`, `settle_failed`, `payment_required` or `none`. */
export async function understood(client: x402Client, answer: Response) {
  const body = await answer.clone().text();
  return new x402HTTPClient(client).parsePaymentResult({
    status: answer.status,
    getHeader: (name) => answer.headers.get(name),
    body,
  });
}

function withoutTerms(through: Fetch): Fetch {
  return async (input, init) => {
    const answer = await through(input, init);
    const headers = new Headers(answer.headers);
    headers.delete('payment-required');
    return new Response(answer.body, { status: answer.status, headers });
  };
}

/** `fetch` that pays what it is asked once it has signed in, as holders do: the payment is wrapped around the sign-in. */
export async function holderFetch(setup: ClientSetup): Promise<Fetch> {
  const { publicKey, secretKey } = setup.wallet;
  const { sign } = createEd25519Signer(secretKey.subarray(0, 32));
  const signMessage = async (message: Uint8Array) => sign(message);
  return payingFetch(setup, wrapFetchWithSIWx(fetch, { publicKey: publicKey.toBase58(), signMessage }));
}
