// PayAI's client: x402-solana, on @payai/x402 and @solana/web3.js.
import { Keypair } from '@solana/web3.js';
import { createX402Client } from 'x402-solana/client';

export async function payingFetch({ secretKey, rpcUrl, network }) {
  const keypair = Keypair.fromSecretKey(secretKey);
  const wallet = {
    publicKey: keypair.publicKey,
    async signTransaction(transaction) {
      transaction.sign([keypair]);
      return transaction;
    },
  };
  const client = createX402Client({ wallet, network, rpcUrl });
  return (input, init) => client.fetch(input, init);
}
