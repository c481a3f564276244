import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { WalletIdentity } from '../../../src/identity/create-identity.js';
import type { SignInChallenge } from '../../../src/identity/types.js';
import { signInHeader, signInInfo, type WalletKey } from '../transactions/wallet-key.js';

/** Header fields that prove a wallet. */
export type ProofHeaders = Readonly<Record<string, string>>;

/** The challenge of a refused request: in the body of a 401, in the header of a 402. */
export async function askChallenge(url: string, init: RequestInit = {}): Promise<SignInChallenge> {
  const answer = await fetch(url, init);
  const body = (await answer.json()) as { readonly extensions?: Readonly<Record<string, unknown>> };
  const required = answer.headers.get('payment-required');
  const extensions = required === null ? body.extensions : decodePaymentRequiredHeader(required).extensions;
  if (extensions === undefined) throw new Error(`${url} answered ${answer.status} without a challenge`);
  return { extensions };
}

/** Asks a route for a challenge and signs it; good for one request. */
export async function signIn(wallet: WalletKey, url: string, init: RequestInit = {}): Promise<ProofHeaders> {
  return { 'sign-in-with-x': signInHeader(wallet, signInInfo(await askChallenge(url, init))) };
}

/** An access token for a wallet, good for many requests. */
export async function accessTokenFor(
  wallet: WalletKey,
  identity: WalletIdentity,
  url: string,
  baseUrl?: string,
): Promise<ProofHeaders> {
  const { message, nonce } = await identity.issueChallenge(wallet.address, url, baseUrl);
  const { accessToken } = await identity.exchange({ wallet: wallet.address, nonce, signature: wallet.sign(message) });
  return { authorization: `Bearer ${accessToken}` };
}
