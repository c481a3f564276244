import fc from 'fast-check';
import { addressOf, signatureText } from '../../../src/protocol/address.js';
import type { NetworkId, Payment, Settlement, Terms } from '../../../src/protocol/types.js';
import { anyText } from '../../helpers/any-text.js';

export const USDC_DEVNET = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
export const PAY_TO = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4';
export const FEE_PAYER = 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd';
export const PAYER = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
export const SIGNATURE = signatureText(new Uint8Array(64).fill(7));

export const TERMS: Terms = {
  scheme: 'exact',
  network: 'solana-devnet',
  asset: USDC_DEVNET,
  amount: 10_000n,
  payTo: PAY_TO,
  maxTimeoutSeconds: 60,
  feePayer: FEE_PAYER,
};

/** Terms as version 2 writes them. */
export const WIRE_TERMS = {
  scheme: 'exact',
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as const,
  asset: USDC_DEVNET,
  amount: '10000',
  payTo: PAY_TO,
  maxTimeoutSeconds: 60,
  extra: { feePayer: FEE_PAYER },
};

/** The secret of a 402. */
export const NONCE = 'AbCdEfGhIjKlMnOpQrStUv_-';

export const TRANSACTION = new Uint8Array(300).map((_, index) => index % 251);
export const TRANSACTION_BASE64 = Buffer.from(TRANSACTION).toString('base64');

export const PAYLOAD_V2 = {
  x402Version: 2,
  accepted: WIRE_TERMS,
  payload: { transaction: TRANSACTION_BASE64 },
};

export const PAYLOAD_V1 = {
  x402Version: 1,
  scheme: 'exact',
  network: 'solana-devnet',
  payload: { transaction: TRANSACTION_BASE64 },
};

export const PAYMENT: Payment = {
  scheme: 'exact',
  network: 'solana-devnet',
  transaction: TRANSACTION,
  accepted: TERMS,
};

export const SETTLEMENTS: Readonly<Record<'settled' | 'refused' | 'failed' | 'pending', Settlement>> = {
  settled: {
    status: 'settled',
    receipt: {
      signature: SIGNATURE,
      network: 'solana-devnet',
      payer: PAYER,
      payTo: PAY_TO,
      asset: USDC_DEVNET,
      amount: 10_000n,
      slot: 5,
    },
  },
  refused: { status: 'failed', reason: 'insufficient_funds', message: 'Too little.' },
  failed: {
    status: 'failed',
    reason: 'invalid_exact_svm_transaction_failed',
    message: 'It failed.',
    payer: PAYER,
    signature: SIGNATURE,
  },
  pending: { status: 'pending', signature: SIGNATURE, payer: PAYER },
};

/** A header as a client writes it. */
export function header(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

export const anAddress = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressOf);
export const anAmount = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
export const aNetwork = fc.constantFrom<NetworkId>('solana', 'solana-devnet', 'solana-testnet');
export const aMemo = anyText({ minLength: 1, maxLength: 60 });

export const someTerms: fc.Arbitrary<Terms> = fc.record(
  {
    scheme: fc.constant('exact'),
    network: aNetwork,
    asset: anAddress,
    amount: anAmount,
    payTo: anAddress,
    maxTimeoutSeconds: fc.integer({ min: 1, max: 3600 }),
    feePayer: anAddress,
    memo: aMemo,
  },
  { requiredKeys: ['scheme', 'network', 'asset', 'amount', 'payTo', 'maxTimeoutSeconds'], noNullPrototype: true },
);

export const aTransaction = fc.uint8Array({ minLength: 1, maxLength: 1232 });

/** Anything a JSON text can hold, strange keys included. */
export const anyJson = fc.jsonValue({ maxDepth: 4 });
