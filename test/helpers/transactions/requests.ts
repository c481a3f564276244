import { VersionedTransaction } from '@solana/web3.js';
import { type GatewayClient, type MadePayment, proofHeader } from '../fixtures/gateway-client.js';
import type { Caller } from '../fixtures/gateway-fixture.js';

/** Asks for a payment with a caller's key, signs what comes and settles it. */
export async function payRequest(
  client: GatewayClient,
  { wallet, key }: Caller,
  asked: Readonly<Record<string, unknown>>,
): Promise<MadePayment> {
  const payer = wallet.publicKey.toBase58();
  const created = await client.ask('POST', '/create-payment', { ...asked, payer }, key.headers);
  const { serialized } = Object(created.body['transaction']) as { readonly serialized?: string };
  if (serialized === undefined) throw new Error(`no payment was made: ${created.text}`);
  const transaction = VersionedTransaction.deserialize(Buffer.from(serialized, 'base64'));
  transaction.sign([wallet]);
  const id = String(created.body['payment_id']);
  const signed_transaction = Buffer.from(transaction.serialize()).toString('base64');
  const settled = await client.ask('POST', '/settle', { payment_id: id, signed_transaction });
  const signature = String(settled.body['tx_signature']);
  return { id, signature, header: proofHeader(signature) };
}
