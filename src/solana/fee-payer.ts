import { inspect } from 'node:util';
import { addressOf } from '../protocol/address.js';
import { type KeypairInput, readKeypair } from './keypair.js';
import type { DecodedTransaction } from './transaction/transaction.js';

/** A key that pays network fees, and can do nothing else. */
export interface FeePayer {
  /** Base58. */
  readonly address: string;
  /**
   * Signs as fee payer: fills signature slot 0 and answers the transaction's bytes. Throws when account 0 is not this
   * key. The caller has applied the checks: this key is in no instruction.
   */
  sign(transaction: DecodedTransaction): Uint8Array;
}

/** Makes a fee payer. Throws `bad_option` when the text or bytes are no key pair; the message never shows them. */
export function createFeePayer(input: KeypairInput, where: string): FeePayer {
  const signer = readKeypair(input, where);
  const address = addressOf(signer.publicKey);
  const feePayer: FeePayer = {
    address,
    sign(transaction) {
      if (transaction.accounts[0] !== address) throw new Error('this key is not the fee payer of the transaction');
      const signed = new Uint8Array(transaction.bytes);
      signed.set(signer.sign(transaction.message), transaction.signaturesOffset);
      return signed;
    },
  };
  return Object.defineProperty(feePayer, inspect.custom, { value: () => `FeePayer(${address})` });
}
