import { PaymentPayloadV2Schema, PaymentRequirementsV2Schema } from '@x402/core/schemas';
import fc from 'fast-check';
import {
  encodeSettlement,
  encodeSupported,
  encodeVerification,
  readFacilitatorRequest,
} from '../../../../src/protocol/codecs/facilitator-codec.js';
import { REASONS, type Reason } from '../../../../src/protocol/reasons.js';
import type { Supported } from '../../../../src/protocol/supported.js';
import {
  decodeSettlement,
  decodeSupported,
  decodeVerification,
  encodeFacilitatorRequest,
} from '../../../../src/protocol/wire/remote.js';
import {
  aNetwork,
  anAddress,
  aTransaction,
  FEE_PAYER,
  PAYER,
  PAYLOAD_V2,
  PAYMENT,
  SETTLEMENTS,
  SIGNATURE,
  someTerms,
  TERMS,
  WIRE_TERMS,
} from '../samples.js';

const ASKED = { terms: TERMS, payer: PAYER };
const REASON_NAMES = Object.keys(REASONS) as Reason[];

function overTheWire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('encodeFacilitatorRequest', () => {
  test('is valid for the official schemas and read back as it was, for all terms', () => {
    fc.assert(
      fc.property(someTerms, aTransaction, fc.boolean(), (terms, transaction, echoed) => {
        const { scheme, network } = terms;
        const payment = { scheme, network, transaction, ...(echoed ? { accepted: terms } : {}) };
        const body = encodeFacilitatorRequest(payment, terms);
        expect(PaymentPayloadV2Schema.parse(body.paymentPayload)).toEqual(body.paymentPayload);
        expect(PaymentRequirementsV2Schema.parse(body.paymentRequirements)).toEqual(body.paymentRequirements);
        expect(readFacilitatorRequest(overTheWire(body))).toEqual({
          ok: true,
          version: 2,
          payment: { ...payment, accepted: terms },
          terms,
        });
      }),
    );
  });

  test('tells the terms that the payer accepted and those that are asked for, each as they are', () => {
    const accepted = { ...TERMS, memo: 'order 7' };
    expect(encodeFacilitatorRequest({ ...PAYMENT, accepted }, TERMS)).toStrictEqual({
      x402Version: 2,
      paymentPayload: { ...PAYLOAD_V2, accepted: { ...WIRE_TERMS, extra: { feePayer: FEE_PAYER, memo: 'order 7' } } },
      paymentRequirements: WIRE_TERMS,
    });
  });

  test('hands extensions on', () => {
    const extensions = { 'payment-identifier': { info: { id: 'pay_1' } } };
    const body = encodeFacilitatorRequest({ ...PAYMENT, extensions }, TERMS);
    expect(body.paymentPayload.extensions).toEqual(extensions);
  });
});

describe('decodeVerification', () => {
  test('reads what our own facilitator answers', () => {
    expect(decodeVerification(overTheWire(encodeVerification({ ok: true, payer: PAYER })), ASKED)).toEqual({
      ok: true,
      value: { ok: true, payer: PAYER },
    });
    for (const reason of REASON_NAMES) {
      const verification = { ok: false, reason, message: 'Because.', payer: PAYER } as const;
      expect(decodeVerification(overTheWire(encodeVerification(verification)), ASKED)).toEqual({
        ok: true,
        value: verification,
      });
    }
  });

  test.each([
    [
      { invalidReason: 'invalid_exact_svm_payload_amount_mismatch' },
      'invalid_exact_svm_payload_amount_mismatch',
      REASONS.invalid_exact_svm_payload_amount_mismatch,
    ],
    [
      { invalidReason: 'unsupported_scheme', invalidMessage: null },
      'invalid_exact_svm_unsupported_scheme',
      REASONS.invalid_exact_svm_unsupported_scheme,
    ],
    [
      { invalidReason: 'the_moon', invalidMessage: 'It is full.' },
      'invalid_exact_svm_verification_failed',
      'the_moon: It is full.',
    ],
    [{ invalidReason: 'the_moon' }, 'invalid_exact_svm_verification_failed', 'the_moon'],
    [{ invalidReason: '__proto__', invalidMessage: '' }, 'invalid_exact_svm_verification_failed', '__proto__'],
    [{ invalidReason: null }, 'invalid_exact_svm_verification_failed', REASONS.invalid_exact_svm_verification_failed],
  ])('%j of another facilitator becomes the reason %s', (answer, reason, message) => {
    expect(decodeVerification({ isValid: false, payer: '', ...answer }, ASKED)).toEqual({
      ok: true,
      value: { ok: false, reason, message, payer: PAYER },
    });
  });

  test('texts of others are cut', () => {
    const answer = decodeVerification({ isValid: false, invalidMessage: 'x'.repeat(10_000) }, ASKED);
    expect(answer).toMatchObject({ ok: true, value: { message: 'x'.repeat(500) } });
  });

  test.each([[null], [[]], ['yes'], [{}], [{ isValid: 'true' }], [{ error: 'internal' }]])(
    '%j is no answer',
    (body) => {
      expect(decodeVerification(body, ASKED)).toEqual({ ok: false, detail: expect.stringMatching(/./) });
    },
  );
});

describe('decodeSettlement', () => {
  test.each(['failed', 'pending'] as const)('reads a %s one as our own facilitator answers it', (name) => {
    const body = overTheWire(encodeSettlement(SETTLEMENTS[name], 'solana-devnet'));
    expect(decodeSettlement(body, ASKED)).toMatchObject({ ok: true, value: SETTLEMENTS[name] });
  });

  test.each([1, 2] as const)('reads a settled one in version %i; the slot is not told', (version) => {
    const { settled } = SETTLEMENTS;
    if (settled.status !== 'settled') throw new Error('the sample is not settled');
    const body = overTheWire(encodeSettlement(settled, 'solana-devnet', version));
    expect(decodeSettlement(body, ASKED)).toEqual({
      ok: true,
      value: { status: 'settled', receipt: { ...settled.receipt, slot: 0 } },
    });
  });

  test.each([
    ['a reason that is not known here', 'confirmation_gave_up', SIGNATURE],
    ['a refusal of a transaction that was sent', 'insufficient_funds', SIGNATURE],
    ['a pending transaction that is not named', 'settlement_pending', undefined],
    ['a reason that is not known here, and no transaction', 'the_moon', undefined],
    ['a send that broke off', 'invalid_exact_svm_transaction_failed', undefined],
    ['a send that broke off, in other words', 'transaction_failed', undefined],
    ['no reason at all', undefined, undefined],
  ])('%s does not end the payment', (_, errorReason, transaction) => {
    const body = {
      success: false,
      errorReason,
      transaction: transaction ?? '',
      network: WIRE_TERMS.network,
      payer: null,
    };
    const signature = transaction === undefined ? {} : { signature: transaction };
    expect(decodeSettlement(body, ASKED)).toStrictEqual({
      ok: true,
      value: { status: 'pending', payer: PAYER, ...signature },
    });
  });

  test('a transaction that is being settled for another call does not end the payment, and was begun before', () => {
    const body = {
      success: false,
      errorReason: 'settlement_in_progress',
      transaction: '',
      network: WIRE_TERMS.network,
    };
    const value = { status: 'pending', payer: PAYER, isBegunBefore: true };
    expect(decodeSettlement(body, ASKED)).toStrictEqual({ ok: true, value });
  });

  test('a failure that only could not be noted as pending does not end the payment', () => {
    const body = {
      success: false,
      errorReason: 'invalid_exact_svm_transaction_failed',
      errorMessage: 'settlement_pending, but failed to persist for retry: disk full',
      transaction: SIGNATURE,
    };
    expect(decodeSettlement(body, ASKED)).toEqual({ ok: true, value: SETTLEMENTS.pending });
  });

  test.each([
    ['a refusal for a known reason, with nothing sent', 'duplicate_settlement', ''],
    ['a transaction that landed with an error', 'invalid_exact_svm_transaction_failed', SIGNATURE],
    ['a transaction that expired', 'invalid_exact_svm_transaction_expired', SIGNATURE],
    ['a transaction that expired and is not named', 'invalid_exact_svm_transaction_expired', ''],
  ] as const)('%s ends it', (_, reason, transaction) => {
    const signature = transaction === '' ? {} : { signature: transaction };
    expect(decodeSettlement({ success: false, errorReason: reason, transaction }, ASKED)).toStrictEqual({
      ok: true,
      value: { status: 'failed', payer: PAYER, ...signature, reason, message: REASONS[reason] },
    });
  });

  test.each([
    ['a success without a transaction', { success: true, transaction: '', network: WIRE_TERMS.network }],
    ['a transaction that is no signature', { success: true, transaction: FEE_PAYER, network: WIRE_TERMS.network }],
    ['another network', { success: true, transaction: SIGNATURE, network: 'eip155:8453' }],
    ['no success', { transaction: SIGNATURE }],
    ['null', null],
  ])('%s is no answer', (_, body) => {
    expect(decodeSettlement(body, ASKED)).toEqual({ ok: false, detail: expect.stringMatching(/./) });
  });
});

describe('decodeSupported', () => {
  test('reads what our own facilitator answers', () => {
    const kind = fc.record(
      {
        scheme: fc.constant('exact'),
        network: aNetwork,
        feePayer: anAddress,
        hint: fc.record({ blockhash: anAddress, lastValidBlockHeight: fc.maxSafeNat() }, { noNullPrototype: true }),
      },
      { requiredKeys: ['scheme', 'network', 'feePayer'], noNullPrototype: true },
    );
    const some: fc.Arbitrary<Supported> = fc.record(
      {
        kinds: fc.array(kind, { maxLength: 3 }),
        extensions: fc.array(fc.string(), { maxLength: 3 }),
        signers: fc.uniqueArray(anAddress, { maxLength: 3 }),
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(some, (supported) => {
        expect(decodeSupported(overTheWire(encodeSupported(supported)))).toEqual({ ok: true, value: supported });
      }),
    );
  });

  test('passes over what cannot be used: other chains, version 1, no fee payer, broken hints', () => {
    const network = WIRE_TERMS.network;
    const body = {
      kinds: [
        { x402Version: 2, scheme: 'exact', network: 'eip155:8453' },
        { x402Version: 1, scheme: 'exact', network: 'solana-devnet', extra: { feePayer: FEE_PAYER } },
        { x402Version: 2, scheme: 'exact', network, extra: null },
        { x402Version: 2, scheme: 'exact', network, extra: { feePayer: 'nobody' } },
        {
          x402Version: 2,
          scheme: 'exact',
          network,
          extra: { feePayer: FEE_PAYER, recentBlockhash: 'x', lastValidBlockHeight: '1' },
        },
        {
          x402Version: 2,
          scheme: 'exact',
          network,
          extra: { feePayer: FEE_PAYER, recentBlockhash: PAYER, lastValidBlockHeight: 'soon' },
        },
      ],
      signers: { 'solana:*': [FEE_PAYER, 'nobody'], 'solana:x': [FEE_PAYER, PAYER], 'eip155:*': ['0x1'] },
    };
    const kind = { scheme: 'exact', network: 'solana-devnet', feePayer: FEE_PAYER };
    expect(decodeSupported(body)).toEqual({
      ok: true,
      value: { kinds: [kind, kind], extensions: [], signers: [FEE_PAYER, PAYER] },
    });
  });

  test.each([[null], [{}], [{ kinds: {} }], [{ kinds: [{ scheme: 'exact' }] }]])('%j is no answer', (body) => {
    expect(decodeSupported(body)).toEqual({ ok: false, detail: expect.stringMatching(/./) });
  });
});

test('an answer with a key that would become a prototype is none, however good it is otherwise', () => {
  const poisoned = (good: object) => JSON.parse(JSON.stringify(good).replace(/}$/, ',"__proto__":{}}'));
  const refused = { ok: false, detail: 'its JSON has a key named __proto__' };
  expect(decodeVerification(poisoned({ isValid: true }), ASKED)).toEqual(refused);
  expect(decodeSettlement(poisoned({ success: true, transaction: SIGNATURE }), ASKED)).toEqual(refused);
  expect(decodeSupported(poisoned({ kinds: [] }))).toEqual(refused);
});

test('no answer of another facilitator makes a decoder throw', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true }), (body) => {
      for (const decoded of [decodeVerification(body, ASKED), decodeSettlement(body, ASKED), decodeSupported(body)]) {
        expect(decoded.ok).toBe(false);
      }
    }),
  );
});
