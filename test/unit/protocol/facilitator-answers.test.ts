import { encodeSettlement, encodeVerification } from '../../../src/protocol/codecs/facilitator-codec.js';
import { REASONS } from '../../../src/protocol/reasons.js';
import { PAYER, SETTLEMENTS, SIGNATURE, WIRE_TERMS } from './samples.js';

describe('encodeSettlement', () => {
  test('answers a version 1 request with the version 1 name and without an amount', () => {
    expect(encodeSettlement(SETTLEMENTS.settled, 'solana-devnet', 1)).toEqual({
      success: true,
      transaction: SIGNATURE,
      network: 'solana-devnet',
      payer: PAYER,
    });
    expect(encodeSettlement(SETTLEMENTS.refused, 'solana-testnet', 1).network).toBe('solana-testnet');
  });

  test('of a payment that is pending and has no signature says so, with an empty one', () => {
    expect(encodeSettlement({ status: 'pending', payer: PAYER }, 'solana-devnet')).toStrictEqual({
      success: false,
      errorReason: 'settlement_pending',
      errorMessage: REASONS.settlement_pending,
      transaction: '',
      payer: PAYER,
      network: WIRE_TERMS.network,
    });
  });

  test('a refusal of somebody unknown names no payer', () => {
    const refusal = { reason: 'insufficient_funds', message: 'Too little.' } as const;
    expect(encodeVerification({ ok: false, ...refusal })).toStrictEqual({
      isValid: false,
      invalidReason: 'insufficient_funds',
      invalidMessage: 'Too little.',
    });
    expect(encodeSettlement({ status: 'failed', ...refusal }, 'solana-devnet')).toStrictEqual({
      success: false,
      errorReason: 'insufficient_funds',
      errorMessage: 'Too little.',
      transaction: '',
      network: WIRE_TERMS.network,
    });
  });
});
