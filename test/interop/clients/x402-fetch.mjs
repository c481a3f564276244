// x402-fetch 1.2 with x402 1.2: the official client of version 1, as it was published under its first names.
import { base58 } from '@scure/base';
import { createSigner, wrapFetchWithPayment } from 'x402-fetch';

export async function payingFetch({ secretKey, rpcUrl, network }) {
  const signer = await createSigner(network, base58.encode(secretKey));
  return wrapFetchWithPayment(fetch, signer, undefined, undefined, { svmConfig: { rpcUrl } });
}
