import { decodePaymentResponseHeader } from '@x402/core/http';
import { validatePaymentRequired } from '@x402/core/schemas';
import fc from 'fast-check';
import { x402V1 } from '../../../../src/protocol/codecs/x402-v1.js';
import {
  anyJson,
  FEE_PAYER,
  header,
  PAY_TO,
  PAYER,
  PAYLOAD_V1,
  PAYLOAD_V2,
  SETTLEMENTS,
  SIGNATURE,
  someTerms,
  TERMS,
  TRANSACTION,
  USDC_DEVNET,
} from '../samples.js';

const RESOURCE = { url: 'https://api.example/report' };

function receiptOf(settlement: keyof typeof SETTLEMENTS) {
  const { 'X-PAYMENT-RESPONSE': text = '' } = x402V1.receipt(SETTLEMENTS[settlement], 'solana-devnet');
  return decodePaymentResponseHeader(text);
}

describe('the offer of version 1', () => {
  test('is the body of the specification, and what is not there is left out', () => {
    expect(x402V1.challenge({ resource: RESOURCE, terms: [TERMS] })).toEqual({
      body: {
        x402Version: 1,
        error: 'payment_required',
        accepts: [
          {
            scheme: 'exact',
            network: 'solana-devnet',
            maxAmountRequired: '10000',
            asset: USDC_DEVNET,
            payTo: PAY_TO,
            resource: 'https://api.example/report',
            description: '',
            mimeType: '',
            maxTimeoutSeconds: 60,
            extra: { feePayer: FEE_PAYER },
          },
        ],
      },
    });
  });

  test('carries description, media type, memo, hints and the reason', () => {
    const resource = { ...RESOURCE, description: 'A report', mimeType: 'text/plain' };
    const hint = { blockhash: FEE_PAYER, lastValidBlockHeight: 9 };
    const { body } = x402V1.challenge({
      resource,
      terms: [{ ...TERMS, memo: 'm' }],
      hints: { [TERMS.network]: hint },
      error: 'insufficient_funds',
    });
    expect(body).toMatchObject({
      error: 'insufficient_funds',
      accepts: [
        {
          description: 'A report',
          mimeType: 'text/plain',
          extra: { feePayer: FEE_PAYER, memo: 'm', recentBlockhash: FEE_PAYER, lastValidBlockHeight: '9' },
        },
      ],
    });
  });

  test('is valid for the official schema, for all terms', () => {
    fc.assert(
      fc.property(fc.array(someTerms, { minLength: 1, maxLength: 3 }), (terms) => {
        const { body } = x402V1.challenge({ resource: RESOURCE, terms });
        expect(validatePaymentRequired(JSON.parse(JSON.stringify(body)))).toEqual(body);
      }),
    );
  });
});

describe('reading X-PAYMENT', () => {
  test('reads a payment, which names no terms', () => {
    expect(x402V1.read(header(PAYLOAD_V1))).toEqual({
      ok: true,
      payment: { scheme: 'exact', network: 'solana-devnet', transaction: TRANSACTION },
    });
  });

  test.each([
    ['version 2', header(PAYLOAD_V2), /X-PAYMENT: x402Version must be 1 here, not 2/],
    ['no network', header({ ...PAYLOAD_V1, network: undefined }), /network: Required/],
    ['no payload', header({ ...PAYLOAD_V1, payload: null }), /payload: /],
    ['no transaction', header({ ...PAYLOAD_V1, payload: { signature: 'x' } }), /payload.transaction must be/],
    ['a transaction without padding', header({ ...PAYLOAD_V1, payload: { transaction: 'AAA' } }), /padding missing/],
    ['no base64', '{}', /X-PAYMENT is not base64/],
  ])('refuses a header with %s', (_, text, message) => {
    expect(x402V1.read(text)).toEqual({
      ok: false,
      code: 'invalid_payment_header',
      detail: expect.stringMatching(message),
    });
  });

  test.each([
    ['another chain', { network: 'base-sepolia', payload: { signature: '0x', authorization: {} } }],
    ['another scheme', { scheme: 'upto' }],
  ])('a payment for %s is well-formed and matches nothing', (_, change) => {
    expect(x402V1.read(header({ ...PAYLOAD_V1, ...change }))).toMatchObject({
      ok: false,
      code: 'no_matching_requirements',
    });
  });

  test('never throws, whatever the JSON says', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (network, payload) => {
        const reading = x402V1.read(header({ x402Version: 1, scheme: 'exact', network, payload }));
        expect(reading.ok).toBe(false);
      }),
    );
  });
});

describe('the receipt of version 1', () => {
  test('of a settled payment has four fields and the version 1 name of the network', () => {
    expect(receiptOf('settled')).toEqual({
      success: true,
      transaction: SIGNATURE,
      network: 'solana-devnet',
      payer: PAYER,
    });
  });

  test.each([
    ['refused' as const, 'insufficient_funds', ''],
    ['failed' as const, 'invalid_exact_svm_transaction_failed', SIGNATURE],
    ['pending' as const, 'settlement_pending', SIGNATURE],
  ])('of a %s payment says %s', (settlement, errorReason, transaction) => {
    expect(receiptOf(settlement)).toMatchObject({ success: false, errorReason, transaction, network: 'solana-devnet' });
  });
});
