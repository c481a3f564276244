// @x402/fetch with @x402/svm: the official client, version 2.
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';

export async function payingFetch({ secretKey, rpcUrl }) {
  const scheme = new ExactSvmScheme(await createKeyPairSignerFromBytes(secretKey), { rpcUrl });
  return wrapFetchWithPayment(fetch, new x402Client().register('solana:*', scheme));
}
