import { addressOf } from '../../protocol/address.js';
import { type KeypairInput, readKeypair } from '../keypair.js';
import { decodeTransaction } from '../transaction/transaction.js';

const SIGNATURE_BYTES = 64;

/**
 * Puts a wallet's signature into its slot of a transaction; the other slots stay as they are.
 * @throws Error when the bytes are no transaction, or none that this wallet is asked to sign
 */
export function signTransaction(bytes: Uint8Array, wallet: KeypairInput): Uint8Array {
  const decoded = decodeTransaction(bytes);
  if (!decoded.ok) throw new Error(decoded.detail);
  const { accounts, requiredSignatures, signaturesOffset, message } = decoded.transaction;
  const signer = readKeypair(wallet, 'signTransaction');
  const slot = accounts.indexOf(addressOf(signer.publicKey));
  if (slot === -1 || slot >= requiredSignatures)
    throw new Error('the transaction does not ask for this wallet to sign');
  const signed = Uint8Array.from(bytes);
  signed.set(signer.sign(message), signaturesOffset + slot * SIGNATURE_BYTES);
  return signed;
}
