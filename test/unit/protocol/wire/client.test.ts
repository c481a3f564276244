import { decodePaymentSignatureHeader } from '@x402/core/http';
import fc from 'fast-check';
import type { Challenge } from '../../../../src/protocol/challenge.js';
import type { PaymentCodec } from '../../../../src/protocol/codecs/codec.js';
import { x402V1 } from '../../../../src/protocol/codecs/x402-v1.js';
import { x402V2 } from '../../../../src/protocol/codecs/x402-v2.js';
import { type HeaderReader, readOffers, readReceipt } from '../../../../src/protocol/wire/client.js';
import {
  aTransaction,
  FEE_PAYER,
  header,
  NONCE,
  PAYLOAD_V1,
  PAYLOAD_V2,
  SETTLEMENTS,
  SIGNATURE,
  someTerms,
  TERMS,
  TRANSACTION,
  TRANSACTION_BASE64,
  WIRE_TERMS,
} from '../samples.js';

const RESOURCE = { url: 'https://api.example/report', description: 'A report' };
const NO_OFFER = 'the answer has no PAYMENT-REQUIRED header, and its body is no x402 offer';
const NOTHING_PAYABLE = 'none of the offered terms is a Solana payment of the scheme "exact"';

/** The fields of a response, found by the exact name that the protocol gives them. */
function headersOf(fields: Readonly<Record<string, string>>): HeaderReader {
  return (name) => fields[name] ?? null;
}

/** What a client reads of a 402 that a door wrote. */
function readFrom(door: PaymentCodec, offer: Challenge) {
  const { headers, body } = door.challenge(offer);
  return readOffers(headersOf(headers?.(NONCE) ?? {}), body === undefined ? '' : JSON.stringify(body));
}

function offersOf(value: unknown) {
  return readOffers(headersOf({ 'PAYMENT-REQUIRED': header(value) }), '');
}

/** A 402 of version 2, the terms of which may be broken. */
function required(...accepts: readonly object[]) {
  return { x402Version: 2, resource: RESOURCE, accepts };
}

describe.each([
  [x402V2, 'PAYMENT-SIGNATURE'],
  [x402V1, 'X-PAYMENT'],
] as const)('the 402 of $name', (door, headerName) => {
  test('is read as the terms that were offered, and what is paid for them is what the door reads', () => {
    fc.assert(
      fc.property(fc.array(someTerms, { minLength: 1, maxLength: 3 }), aTransaction, (terms, transaction) => {
        const offers = readFrom(door, { resource: RESOURCE, terms });
        if (!offers.ok) throw new Error(offers.detail);
        expect(offers.value).toStrictEqual(
          terms.map((it) => ({ terms: it, headerName, headerValue: expect.any(Function) })),
        );
        for (const [index, { headerValue }] of offers.value.entries()) {
          const reading = door.read(headerValue(transaction));
          const { scheme, network } = terms[index]!;
          expect(reading).toMatchObject({ ok: true, payment: { scheme, network, transaction } });
        }
      }),
    );
  });
});

describe('the offer of version 2', () => {
  test.each([
    ['extensions', { bazaar: { info: 1 } }, { extensions: { bazaar: { info: 1 } } }],
    ['extensions that are null', null, {}],
    ['no extensions', undefined, {}],
  ])('with %s is answered with the resource, the terms and the extensions as they came', (_, extensions, echoed) => {
    const accepted = { ...WIRE_TERMS, extra: { feePayer: FEE_PAYER, further: [1] } };
    const offers = offersOf({ ...required(accepted), extensions });
    if (!offers.ok) throw new Error(offers.detail);
    const [payable] = offers.value;
    expect(decodePaymentSignatureHeader(payable!.headerValue(TRANSACTION))).toStrictEqual({
      ...PAYLOAD_V2,
      accepted,
      resource: RESOURCE,
      ...echoed,
    });
  });

  test('goes before a body of version 1', () => {
    const { headers } = x402V2.challenge({ resource: RESOURCE, terms: [TERMS] });
    const { body } = x402V1.challenge({ resource: RESOURCE, terms: [TERMS, TERMS] });
    const offers = readOffers(headersOf(headers?.(NONCE) ?? {}), JSON.stringify(body));
    expect(offers).toMatchObject({ ok: true, value: [{ headerName: 'PAYMENT-SIGNATURE' }] });
  });

  test('terms that cannot be paid here are left out, whatever is wrong with them', () => {
    const others = [
      { network: 'eip155:8453' },
      { scheme: 'upto' },
      { asset: '0xA0b8' },
      { amount: '1.5' },
      { extra: { feePayer: 'me' } },
    ].map((change) => ({ ...WIRE_TERMS, ...change }));
    const offers = offersOf(required(others[0]!, WIRE_TERMS, ...others.slice(1)));
    expect(offers).toStrictEqual({
      ok: true,
      value: [{ terms: TERMS, headerName: 'PAYMENT-SIGNATURE', headerValue: expect.any(Function) }],
    });
    for (const other of others) expect(offersOf(required(other))).toEqual({ ok: false, detail: NOTHING_PAYABLE });
  });

  test.each([[undefined], [null], [{}], [{ recentBlockhash: 5 }], [{ recentBlockhash: FEE_PAYER }]])(
    'terms with extra %j come as they are, without a word of a blockhash',
    (extra) => {
      const { feePayer: _, ...terms } = TERMS;
      expect(offersOf(required({ ...WIRE_TERMS, extra }))).toStrictEqual({
        ok: true,
        value: [{ terms, headerName: 'PAYMENT-SIGNATURE', headerValue: expect.any(Function) }],
      });
    },
  );

  test.each([
    ['no base64', '{}', /^PAYMENT-REQUIRED is not base64: /],
    ['no JSON', Buffer.from('{').toString('base64'), /^PAYMENT-REQUIRED is not base64 of JSON: /],
    ['a list', header([]), /^PAYMENT-REQUIRED: /],
    ['another version', header({ ...required(WIRE_TERMS), x402Version: 1 }), /^PAYMENT-REQUIRED: x402Version: /],
    ['no list of terms', header({ x402Version: 2, resource: RESOURCE }), /^PAYMENT-REQUIRED: accepts: Required/],
    ['no terms', header(required()), /^the 402 offers no terms to pay$/],
  ])('a header with %s is refused with the reason, even beside a good body', (_, text, detail) => {
    const { body } = x402V1.challenge({ resource: RESOURCE, terms: [TERMS] });
    expect(readOffers(headersOf({ 'PAYMENT-REQUIRED': text }), JSON.stringify(body))).toEqual({
      ok: false,
      detail: expect.stringMatching(detail),
    });
  });
});

describe('the offer of version 1', () => {
  test('is answered with scheme and network', () => {
    const offers = readFrom(x402V1, { resource: RESOURCE, terms: [TERMS] });
    if (!offers.ok) throw new Error(offers.detail);
    const text = offers.value[0]!.headerValue(TRANSACTION);
    expect(JSON.parse(Buffer.from(text, 'base64').toString())).toStrictEqual(PAYLOAD_V1);
    expect(PAYLOAD_V1.payload.transaction).toBe(TRANSACTION_BASE64);
  });

  test('of no terms offers nothing', () => {
    const { body } = x402V1.challenge({ resource: RESOURCE, terms: [] });
    expect(readOffers(headersOf({}), JSON.stringify(body))).toEqual({
      ok: false,
      detail: 'the 402 offers no terms to pay',
    });
  });

  test('of other chains alone offers nothing', () => {
    const { body } = x402V1.challenge({ resource: RESOURCE, terms: [TERMS] });
    const text = JSON.stringify(body).replace('solana-devnet', 'base-sepolia');
    expect(readOffers(headersOf({}), text)).toEqual({ ok: false, detail: NOTHING_PAYABLE });
  });

  test.each(['', 'Payment required', '{}', 'null', '[]', JSON.stringify(required(WIRE_TERMS))])(
    'the body %j without a header is no offer',
    (body) => {
      expect(readOffers(headersOf({}), body)).toEqual({ ok: false, detail: NO_OFFER });
    },
  );
});

describe('readReceipt', () => {
  test.each([x402V2, x402V1])('reads what $name tells of a settlement', (door) => {
    const receipt = readReceipt(headersOf(door.receipt(SETTLEMENTS.settled, 'solana-devnet')));
    expect(receipt).toMatchObject({ success: true, transaction: SIGNATURE });
  });

  test('goes by version 2 where both are told', () => {
    const fields = { 'PAYMENT-RESPONSE': header({ success: true }), 'X-PAYMENT-RESPONSE': header({ success: false }) };
    expect(readReceipt(headersOf(fields))).toEqual({ success: true });
  });

  test('knows of nothing without a header', () => {
    expect(readReceipt(headersOf({}))).toBeUndefined();
  });

  test.each([
    ['no base64', '{}'],
    ['null', header(null)],
    ['a text', header('settled')],
    ['a number', header(1)],
  ])('knows of nothing where the header is %s', (_, text) => {
    expect(readReceipt(headersOf({ 'PAYMENT-RESPONSE': text }))).toBeUndefined();
  });
});

test('whatever a server sends, reading it does not throw', () => {
  fc.assert(
    fc.property(
      fc.option(
        fc.oneof(
          fc.string(),
          fc.json().map((it) => Buffer.from(it).toString('base64')),
        ),
        { nil: null },
      ),
      fc.oneof(fc.string(), fc.json()),
      (text, body) => {
        const read: HeaderReader = () => text;
        expect(readOffers(read, body).ok).toBe(false);
        expect(['object', 'undefined']).toContain(typeof readReceipt(read));
      },
    ),
  );
});
