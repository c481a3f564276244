import {
  type AddressLookupTableAccount,
  type Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  type VersionedMessage,
} from '@solana/web3.js';
import { createEd25519Signer } from '../../../src/lib/ed25519/ed25519.js';

/** Everything that somebody who builds a transaction can choose. */
export interface Draft {
  readonly version: 'legacy' | 0;
  /** Account 0, base58; it does not sign here. */
  readonly feePayer: string;
  readonly blockhash: string;
  readonly instructions: readonly TransactionInstruction[];
  /** Who signs. Required signatures of others stay empty. */
  readonly signers: readonly Keypair[];
  readonly lookupTables?: readonly AddressLookupTableAccount[];
  /** Last change to the message, before it is signed. */
  readonly changeMessage?: (message: Buffer) => Uint8Array;
  /** Last change to the transaction, after it was signed. */
  readonly changeBytes?: (transaction: Buffer) => Uint8Array;
}

const SIGNATURE_BYTES = 64;

/** Builds and signs what a draft says, however wrong it is. */
export function buildDraft(draft: Draft): Uint8Array {
  const compiled = compile(draft);
  const { changeMessage = same, changeBytes = same } = draft;
  const message = changeMessage(Buffer.from(compiled.serialize()));
  const slots = compiled.staticAccountKeys.slice(0, compiled.header.numRequiredSignatures).map((key) => {
    const signer = draft.signers.find(({ publicKey }) => publicKey.equals(key));
    return signer === undefined ? new Uint8Array(SIGNATURE_BYTES) : signatureBy(signer, message);
  });
  return Uint8Array.from(changeBytes(Buffer.concat([Uint8Array.of(slots.length), ...slots, message])));
}

/** The signature of a wallet over any bytes. */
export function signatureBy(wallet: Keypair, message: Uint8Array): Uint8Array {
  return createEd25519Signer(wallet.secretKey.subarray(0, 32)).sign(message);
}

function compile({ version, feePayer, blockhash, instructions, lookupTables = [] }: Draft): VersionedMessage {
  const message = new TransactionMessage({
    payerKey: new PublicKey(feePayer),
    recentBlockhash: blockhash,
    instructions: [...instructions],
  });
  return version === 'legacy' ? message.compileToLegacyMessage() : message.compileToV0Message([...lookupTables]);
}

function same(bytes: Buffer): Buffer {
  return bytes;
}
