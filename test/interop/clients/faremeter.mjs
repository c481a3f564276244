// Faremeter's client: @faremeter/fetch with @faremeter/payment-solana.
import { wrap } from '@faremeter/fetch';
import { createPaymentHandler } from '@faremeter/payment-solana/exact';
import { createLocalWallet } from '@faremeter/wallet-solana';

export async function payingFetch({ secretKey, rpcUrl, mint }) {
  const wallet = await createLocalWallet('devnet', secretKey);
  return wrap(fetch, { handlers: [createPaymentHandler(wallet, mint, rpcUrl)] });
}
