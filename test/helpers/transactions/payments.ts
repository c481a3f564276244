import type { Keypair } from '@solana/web3.js';
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import type { PaymentRequired, PaymentRequirements, SettleResponse } from '@x402/core/types';
import { networkFrom } from '../../../src/protocol/networks/networks.js';
import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import { PAYMENT_IDENTIFIER } from '../../../src/protocol/payment-identifier.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { buildPaymentTransaction } from '../../../src/solana/building/payment-transaction.js';

/** Header fields that carry one payment; send them as often and wherever a test likes. */
export type PaymentHeaders = Readonly<Record<string, string>>;

/** One signed payment, in both protocol versions. */
export interface SignedPayment {
  readonly transaction: Uint8Array;
  readonly accepted: PaymentRequirements;
  /** Carries it as version 2 does. */
  readonly v2: PaymentHeaders;
  /** Carries it as version 1 does. */
  readonly v1: PaymentHeaders;
}

/** What a wallet needs to pay. */
export interface Wallet {
  readonly sandbox: Sandbox;
  readonly payer: Keypair;
}

/** How to pay. */
export interface PaymentChoice {
  /** Which of the offered terms; default the first. */
  readonly choice?: number;
  /** The request that is paid for; default GET. */
  readonly init?: RequestInit;
  /** Changes the terms that are paid and echoed. */
  readonly change?: Partial<PaymentRequirements>;
}

/** The smallest bit of the fee payer's slot: one byte of count, then 64 bytes of the first signature. */
const FIRST_SIGNATURE = 1;

/** The terms of a 402, from its header. */
export async function askTerms(url: string, init: RequestInit = {}): Promise<PaymentRequired> {
  const answer = await fetch(url, init);
  await answer.arrayBuffer();
  if (answer.status !== 402) throw new Error(`${url} answered ${answer.status}, not 402`);
  return decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');
}

/** Asks a route for its price and signs a payment of it, with a fresh blockhash. */
export async function signPayment(wallet: Wallet, url: string, how: PaymentChoice = {}): Promise<SignedPayment> {
  const { accepts } = await askTerms(url, how.init);
  const offered = accepts[how.choice ?? 0];
  if (offered === undefined) throw new Error(`${url} offers ${accepts.length} terms`);
  return signTerms(wallet, { ...offered, ...how.change });
}

/** Signs a payment of given terms, with a blockhash; default a fresh one. */
export async function signTerms(
  { sandbox, payer }: Wallet,
  accepted: PaymentRequirements,
  blockhash?: string,
): Promise<SignedPayment> {
  const token = [...SANDBOX_TOKENS, ...KNOWN_TOKENS.solana].find(({ mint }) => mint === accepted.asset);
  if (token === undefined) throw new Error(`${accepted.asset} is no token of the sandbox`);
  const memo = accepted.extra?.['memo'];
  const transaction = buildPaymentTransaction({
    payer,
    feePayer: String(accepted.extra?.['feePayer']),
    asset: accepted.asset,
    tokenProgram: token.program,
    decimals: token.decimals,
    amount: BigInt(accepted.amount),
    payTo: accepted.payTo,
    blockhash: blockhash ?? (await latestBlockhash(sandbox)),
    ...(typeof memo === 'string' ? { memo } : {}),
  });
  return carry(transaction, accepted);
}

/** The headers that carry a transaction. */
export function carry(transaction: Uint8Array, accepted: PaymentRequirements): SignedPayment {
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  const network = networkFrom(accepted.network) ?? accepted.network;
  return {
    transaction,
    accepted,
    v2: { 'payment-signature': encodePaymentSignatureHeader({ x402Version: 2, accepted, payload }) },
    v1: { 'x-payment': encodeHeader({ x402Version: 1, scheme: 'exact', network, payload }) },
  };
}

/** The headers of a payment that carries an identifier. */
export function named({ transaction, accepted }: SignedPayment, id: unknown): PaymentHeaders {
  const payload = { transaction: Buffer.from(transaction).toString('base64') };
  const extensions = { [PAYMENT_IDENTIFIER]: { info: { required: false, id } } };
  return { 'payment-signature': encodePaymentSignatureHeader({ x402Version: 2, accepted, payload, extensions }) };
}

/** The same payment with other bytes in the fee payer's slot, which its signature does not cover. */
export function withOtherFeePayerBytes({ transaction, accepted }: SignedPayment, fill: number): SignedPayment {
  const other = Uint8Array.from(transaction);
  other.fill(fill, FIRST_SIGNATURE, FIRST_SIGNATURE + 64);
  return carry(other, accepted);
}

/**
 * The payment as somebody brings it who has read it on the chain: under terms that were offered to him. Version 1 shows no
 * terms; there he is known by his address.
 */
export async function stolenFrom({ transaction, accepted }: SignedPayment, url: string, init?: RequestInit) {
  const { accepts } = await askTerms(url, init);
  const own = accepts.find(({ asset, amount }) => asset === accepted.asset && amount === accepted.amount);
  if (own === undefined) throw new Error(`${url} offers no such terms`);
  return carry(transaction, own);
}

/** Base64 of JSON, as every header of the protocol is written. */
export function encodeHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** The receipt of a response, from its version 2 header. */
export function receiptOf(answer: Response): SettleResponse {
  return decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
}

export async function latestBlockhash(sandbox: Sandbox): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getLatestBlockhash', params: [] });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(sandbox.rpcUrl, { method: 'POST', headers, body });
  const { result } = (await answer.json()) as { result: { value: { blockhash: string } } };
  return result.value.blockhash;
}

/** A promise and its key: for handlers that must wait until a test lets them go on. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
