import { VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { createEd25519Signer, type Ed25519Signer } from '../../src/lib/ed25519/ed25519.js';
import { decodeTransaction } from '../../src/solana/transaction/transaction.js';

/** What a payment moves. */
export interface Price {
  readonly asset: 'USDC' | 'SOL';
  /** Atomic units. */
  readonly amount: bigint;
  /** Whose wallet it goes to: that of the routes, the owner's of the gateway's project, or that of a stranger with a project. */
  readonly to: 'shop' | 'owner' | 'stranger';
}

/** What somebody got for a payment. */
export interface Delivery {
  /** By `performance.now()`. */
  readonly at: number;
  /** What was asked for and by whom: see `useOf`. */
  readonly use: string;
  /** Number of the handler's run that it comes from; missing where nothing runs. */
  readonly run?: string;
  readonly text: string;
  /** Whether it is marked as one that was given before. */
  readonly isReplay: boolean;
  /** Whether its client read it to the end. */
  readonly isWhole: boolean;
}

/** What became of a payment whose request was made to fail once its money had landed. */
export interface FailedRequest {
  /** What its payer is left with then: the whole amount for one request, or for so many. */
  readonly uses: bigint;
  /** Uses for which nobody knows whether they were had: the response was lost when the process or its database was disturbed. */
  lost: number;
}

/** A payment that a client has signed and sent at least once. */
export interface SentPayment extends Price {
  readonly door: string;
  /** Id of the payment in the books. */
  readonly id: string;
  /** What it has on the chain, base58: our fee payer's signature can be known before it signs. */
  readonly signature: string;
  readonly deliveries: Delivery[];
  /** Address that it was sent to last. */
  path?: string;
  /** Its client hung up on a response that flows: what had left by then was the response. */
  isForfeit?: boolean;
  /** Its requests were made to fail. */
  failed?: FailedRequest;
  /** How it ended for its client: `served`, or why it was refused. Missing while it is repeated. */
  end?: string;
}

/** Every payment that clients sent to a seller, also those that were refused. */
export interface PaymentBook {
  readonly payments: readonly SentPayment[];
  /** Notes a payment that is about to be sent; the same transaction is the same payment. */
  add(door: string, transaction: Uint8Array, price: Price): SentPayment;
  /** The payment with a signature of the chain. */
  find(signature: string): SentPayment | undefined;
}

export function createPaymentBook(feePayerSecret: Uint8Array): PaymentBook {
  const signer = createEd25519Signer(feePayerSecret.subarray(0, 32));
  const bySignature = new Map<string, SentPayment>();
  const payments: SentPayment[] = [];
  return {
    payments,
    find: (signature) => bySignature.get(signature),
    add(door, transaction, price) {
      const signature = signatureOf(signer, transaction);
      const known = bySignature.get(signature);
      if (known !== undefined) return known;
      const payment: SentPayment = { ...price, door, id: idOf(transaction), signature, deliveries: [] };
      bySignature.set(signature, payment);
      payments.push(payment);
      return payment;
    },
  };
}

/** The handler's runs that were seen of a payment. */
export function runsOf({ deliveries }: SentPayment): ReadonlySet<string> {
  return new Set(deliveries.flatMap(({ run }) => (run === undefined ? [] : [run])));
}

function idOf(transaction: Uint8Array): string {
  const decoded = decodeTransaction(transaction);
  if (!decoded.ok) throw new Error('a client has sent no transaction');
  return decoded.transaction.messageHash;
}

function signatureOf(signer: Ed25519Signer, transaction: Uint8Array): string {
  return bs58.encode(signer.sign(VersionedTransaction.deserialize(transaction).message.serialize()));
}
