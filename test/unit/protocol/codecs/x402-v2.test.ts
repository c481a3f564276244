import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import { validatePaymentRequired } from '@x402/core/schemas';
import fc from 'fast-check';
import type { Challenge } from '../../../../src/protocol/challenge.js';
import { x402V2 } from '../../../../src/protocol/codecs/x402-v2.js';
import { writeTerms } from '../../../../src/protocol/wire/terms.js';
import {
  anyJson,
  aTransaction,
  FEE_PAYER,
  header,
  NONCE,
  PAYER,
  PAYLOAD_V1,
  PAYLOAD_V2,
  PAYMENT,
  SETTLEMENTS,
  SIGNATURE,
  someTerms,
  TERMS,
  WIRE_TERMS,
} from '../samples.js';

const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const HINT = { blockhash: FEE_PAYER, lastValidBlockHeight: 1234 };

/** The nonce as it stands in an offer: a few characters may stand before it. */
const OFFERED = expect.stringMatching(new RegExp(`^n{0,2}${NONCE}$`));

function offered(offer: Challenge) {
  const { 'PAYMENT-REQUIRED': text = '', ...others } = x402V2.challenge(offer).headers?.(NONCE) ?? {};
  expect(others).toEqual({});
  return validatePaymentRequired(decodePaymentRequiredHeader(text));
}

function receiptOf(settlement: keyof typeof SETTLEMENTS) {
  return decodePaymentResponseHeader(
    x402V2.receipt(SETTLEMENTS[settlement], 'solana-devnet')['PAYMENT-RESPONSE'] ?? '',
  );
}

function withAccepted(change: Record<string, unknown>): string {
  return header({ ...PAYLOAD_V2, accepted: { ...WIRE_TERMS, ...change } });
}

describe('the offer of version 2', () => {
  test('is what the official decoder reads, hints included', () => {
    const resource = {
      url: 'https://api.example/report',
      description: 'A report',
      mimeType: 'text/plain',
      tags: ['a'],
    };
    const extensions = { bazaar: { info: { output: null }, schema: {} } };
    const terms = [TERMS, { ...TERMS, memo: 'order 7' }];
    expect(
      offered({ resource, terms, hints: { [TERMS.network]: HINT }, error: 'payment_required', extensions }),
    ).toEqual({
      x402Version: 2,
      error: 'payment_required',
      resource,
      accepts: [
        {
          ...WIRE_TERMS,
          extra: { feePayer: FEE_PAYER, nonce: OFFERED, recentBlockhash: FEE_PAYER, lastValidBlockHeight: '1234' },
        },
        {
          ...WIRE_TERMS,
          extra: {
            feePayer: FEE_PAYER,
            memo: 'order 7',
            nonce: OFFERED,
            recentBlockhash: FEE_PAYER,
            lastValidBlockHeight: '1234',
          },
        },
      ],
      extensions,
    });
  });

  test('is valid for the official schema, for all terms', () => {
    fc.assert(
      fc.property(fc.array(someTerms, { minLength: 1, maxLength: 3 }), (terms) => {
        const { accepts } = offered({ resource: { url: 'https://api.example/report' }, terms });
        expect(accepts).toEqual(terms.map((it) => writeTerms(it, { nonce: OFFERED })));
      }),
    );
  });

  test('says nothing in the body, and leaves out what is not set', () => {
    const resource = { url: 'https://api.example/report' };
    expect(x402V2.challenge({ resource, terms: [TERMS] }).body).toBeUndefined();
    expect(offered({ resource, terms: [TERMS] })).toEqual({
      x402Version: 2,
      resource,
      accepts: [{ ...WIRE_TERMS, extra: { feePayer: FEE_PAYER, nonce: OFFERED } }],
    });
  });

  test('names its headers for scripts of other origins', () => {
    expect(x402V2.exposedHeaders).toEqual(['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE']);
    expect(x402V2.requestHeader).toBe('payment-signature');
  });
});

describe('reading PAYMENT-SIGNATURE', () => {
  test('reads what the official client writes for what was offered, for all terms', () => {
    fc.assert(
      fc.property(someTerms, aTransaction, (terms, transaction) => {
        const payload = { transaction: Buffer.from(transaction).toString('base64') };
        const accepted = writeTerms(terms, { nonce: NONCE });
        const text = encodePaymentSignatureHeader({ x402Version: 2, accepted, payload });
        const { scheme, network } = terms;
        expect(x402V2.read(text)).toEqual({
          ok: true,
          payment: { scheme, network, transaction, accepted: terms, nonce: NONCE },
        });
      }),
    );
  });

  test.each([
    ['a resource that is null', { ...PAYLOAD_V2, resource: null }],
    [
      'a resource with null texts',
      { ...PAYLOAD_V2, resource: { url: 'https://a.example', description: null, tags: null } },
    ],
    ['a resource that breaks the rules', { ...PAYLOAD_V2, resource: { url: '', serviceName: 'é'.repeat(99) } }],
    ['extensions that are null', { ...PAYLOAD_V2, extensions: null }],
    ['fields nobody knows', { ...PAYLOAD_V2, further: { a: 1 } }],
    [
      'more extra than was offered',
      { ...PAYLOAD_V2, accepted: { ...WIRE_TERMS, extra: { feePayer: FEE_PAYER, tokenProgram: 'x', memo: null } } },
    ],
    ['an empty memo', { ...PAYLOAD_V2, accepted: { ...WIRE_TERMS, extra: { feePayer: FEE_PAYER, memo: '' } } }],
  ])('reads a payment with %s', (_, payload) => {
    expect(x402V2.read(header(payload))).toEqual({ ok: true, payment: PAYMENT });
  });

  test.each([[null], [undefined], [{}], [{ feePayer: null }]])('reads accepted terms with extra %p', (extra) => {
    const { feePayer: _, ...accepted } = TERMS;
    expect(x402V2.read(withAccepted({ extra }))).toEqual({ ok: true, payment: { ...PAYMENT, accepted } });
  });

  test.each([
    ['is too short', 'x'.repeat(15)],
    ['is too long', 'x'.repeat(129)],
    ['has a space in it', 'sixteen letters '],
    ['has letters of other alphabets in it', 'ü'.repeat(20)],
    ['is a number', 1234567890123456],
    ['is a list', [NONCE]],
    ['is null', null],
  ])('a nonce that %s is none, and the payment is read without it', (_, nonce) => {
    expect(x402V2.read(withAccepted({ extra: { feePayer: FEE_PAYER, nonce } }))).toStrictEqual({
      ok: true,
      payment: PAYMENT,
    });
  });

  test.each(['x'.repeat(16), '!~'.repeat(64)])('the nonce %s is read beside the terms, not as one of them', (nonce) => {
    expect(x402V2.read(withAccepted({ extra: { feePayer: FEE_PAYER, nonce } }))).toStrictEqual({
      ok: true,
      payment: { ...PAYMENT, nonce },
    });
  });

  test('hands extensions on', () => {
    const extensions = { 'payment-identifier': { info: { id: 'pay_1' } } };
    expect(x402V2.read(header({ ...PAYLOAD_V2, extensions }))).toEqual({
      ok: true,
      payment: { ...PAYMENT, extensions },
    });
  });

  test('reads transactions up to 4,096 bytes and refuses longer ones', () => {
    const read = (size: number) =>
      x402V2.read(header({ ...PAYLOAD_V2, payload: { transaction: Buffer.alloc(size).toString('base64') } }));
    expect(read(4096).ok).toBe(true);
    expect(read(4097)).toMatchObject({ ok: false, detail: expect.stringMatching(/longer than 4096 bytes/) });
  });

  test.each([
    ['something that is no object', header('pay'), /expected an object/],
    ['version 1', header(PAYLOAD_V1), /x402Version must be 2 here, not 1/],
    ['no version', header({}), /x402Version must be 2 here, not undefined/],
    ['no accepted terms', header({ x402Version: 2, payload: {} }), /accepted: Required/],
    ['an amount that is a number', withAccepted({ amount: 10000 }), /accepted.amount: /],
    ['a negative amount', withAccepted({ amount: '-1' }), /amount must be a whole number/],
    ['an amount with a point', withAccepted({ amount: '1.0' }), /amount must be/],
    ['an amount in hexadecimal', withAccepted({ amount: '0x10' }), /amount must be/],
    ['an amount over 64 bits', withAccepted({ amount: '18446744073709551616' }), /amount must be/],
    ['an amount of a thousand digits', withAccepted({ amount: '9'.repeat(1000) }), /amount must be/],
    ['an asset that is no address', withAccepted({ asset: 'USDC' }), /accepted.asset is not a Solana address/],
    [
      'a payTo that is no address',
      withAccepted({ payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' }),
      /accepted.payTo/,
    ],
    ['a fee payer that is no address', withAccepted({ extra: { feePayer: 'me' } }), /extra.feePayer/],
    ['a memo that is no text', withAccepted({ extra: { memo: 5 } }), /extra.memo/],
    ['a memo of 257 bytes', withAccepted({ extra: { memo: 'é'.repeat(129) } }), /at most 256 bytes/],
    [
      'a time-out without end',
      Buffer.from(
        JSON.stringify({ ...PAYLOAD_V2, accepted: { ...WIRE_TERMS, maxTimeoutSeconds: 7 } }).replace(':7', ':1e999'),
      ).toString('base64'),
      /maxTimeoutSeconds/,
    ],
    ['a network that is no CAIP-2 name', withAccepted({ network: 'solana-devnet' }), /CAIP-2/],
    ['no transaction', header({ ...PAYLOAD_V2, payload: {} }), /payload.transaction must be/],
    [
      'a transaction that is no text',
      header({ ...PAYLOAD_V2, payload: { transaction: [1] } }),
      /payload.transaction must be/,
    ],
    ['a transaction in URL-safe base64', header({ ...PAYLOAD_V2, payload: { transaction: '-_-_' } }), /URL-safe/],
    ['an empty transaction', header({ ...PAYLOAD_V2, payload: { transaction: '' } }), /it is empty/],
  ])('refuses a header with %s', (_, text, message) => {
    expect(x402V2.read(text)).toEqual({
      ok: false,
      code: 'invalid_payment_header',
      detail: expect.stringMatching(message),
    });
  });

  test.each([
    ['another chain', { network: 'eip155:8453', asset: '0xA0b8', amount: '1' }],
    ['a cluster that is not known', { network: 'solana:localnet' }],
    ['another scheme', { scheme: 'upto' }],
  ])('a payment for %s is well-formed and matches nothing', (_, change) => {
    expect(x402V2.read(withAccepted(change))).toMatchObject({ ok: false, code: 'no_matching_requirements' });
  });

  test('never throws, whatever the JSON says', () => {
    fc.assert(
      fc.property(anyJson, anyJson, anyJson, (accepted, payload, extra) => {
        const texts = [
          header({ x402Version: 2, accepted, payload }),
          header({ ...PAYLOAD_V2, payload }),
          withAccepted({ extra }),
        ];
        for (const text of texts) {
          const reading = x402V2.read(text);
          if (!reading.ok) expect(reading.detail).not.toBe('');
        }
      }),
    );
  });
});

describe('the receipt of version 2', () => {
  test.each([
    ['settled' as const, { success: true, transaction: SIGNATURE, network: NETWORK, payer: PAYER, amount: '10000' }],
    [
      'refused' as const,
      {
        success: false,
        errorReason: 'insufficient_funds',
        errorMessage: 'Too little.',
        transaction: '',
        network: NETWORK,
      },
    ],
    [
      'failed' as const,
      {
        success: false,
        errorReason: 'invalid_exact_svm_transaction_failed',
        errorMessage: 'It failed.',
        transaction: SIGNATURE,
        network: NETWORK,
        payer: PAYER,
      },
    ],
    [
      'pending' as const,
      {
        success: false,
        errorReason: 'settlement_pending',
        errorMessage: expect.stringMatching(/send the same payment again/),
        transaction: SIGNATURE,
        network: NETWORK,
        payer: PAYER,
      },
    ],
  ])('of a %s payment is what the official decoder reads', (settlement, response) => {
    expect(receiptOf(settlement)).toEqual(response);
  });
});
