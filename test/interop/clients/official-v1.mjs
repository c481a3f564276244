// @x402/fetch with the version 1 scheme of @x402/svm, before a server whose 402 has terms in its body only.
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmSchemeV1 } from '@x402/svm/v1';

export async function payingFetch({ secretKey, rpcUrl, network }) {
  const scheme = new ExactSvmSchemeV1(await createKeyPairSignerFromBytes(secretKey), { rpcUrl });
  return wrapFetchWithPayment(fetchWithoutHeader, new x402Client().registerV1(network, scheme));
}

async function fetchWithoutHeader(input, init) {
  const { body, status, headers } = await fetch(input, init);
  const others = new Headers(headers);
  others.delete('payment-required');
  return new Response(body, { status, headers: others });
}
