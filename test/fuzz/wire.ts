import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TollhouseError } from '../../src/errors/errors.js';
import { addressBytes, addressOf, isAddress, isSignature, signatureText } from '../../src/protocol/address.js';
import { CODECS } from '../../src/protocol/codecs/codecs.js';
import {
  encodeSettlement,
  encodeSupported,
  encodeVerification,
  readFacilitatorRequest,
} from '../../src/protocol/codecs/facilitator-codec.js';
import { formatAmount, parseDecimal, parsePrice, readPrice } from '../../src/protocol/money/money.js';
import { KNOWN_TOKENS } from '../../src/protocol/networks/tokens.js';
import { readIdentifier } from '../../src/protocol/payment-identifier.js';
import type { Terms } from '../../src/protocol/types.js';
import { readOffers, readReceipt } from '../../src/protocol/wire/client.js';
import { decodeBase64, jsonFault, readHeader, writeHeader } from '../../src/protocol/wire/json.js';
import {
  decodeSettlement,
  decodeSupported,
  decodeVerification,
  encodeFacilitatorRequest,
} from '../../src/protocol/wire/remote.js';
import { readServicePayment } from '../../src/protocol/wire/service-payment.js';
import {
  anAddress,
  anAmount,
  aTransaction,
  header,
  PAYER,
  PAYLOAD_V1,
  PAYLOAD_V2,
  PAYMENT,
  SETTLEMENTS,
  SIGNATURE,
  someTerms,
  TERMS,
  WIRE_TERMS,
} from '../unit/protocol/samples.js';
import { type Fuzz, fuzz, nearly, nearlyText, orRefuses } from './fuzz.js';

const TOKENS = KNOWN_TOKENS['solana-devnet'];
const WIRE_TERMS_V1 = {
  scheme: 'exact',
  network: 'solana-devnet',
  maxAmountRequired: '10000',
  asset: TERMS.asset,
  payTo: TERMS.payTo,
  maxTimeoutSeconds: 60,
  extra: { feePayer: TERMS.feePayer },
};
const CALLS = [
  { x402Version: 2, paymentPayload: PAYLOAD_V2, paymentRequirements: WIRE_TERMS },
  { x402Version: 1, paymentPayload: PAYLOAD_V1, paymentRequirements: WIRE_TERMS_V1 },
];
const OFFERS = [
  { x402Version: 2, resource: { url: 'https://shop.example/' }, accepts: [WIRE_TERMS], extensions: {} },
  { x402Version: 1, error: 'payment_required', accepts: [WIRE_TERMS_V1] },
];
const ANSWERS = [
  ...Object.values(SETTLEMENTS).map((it) => encodeSettlement(it, 'solana-devnet')),
  encodeVerification({ ok: true, payer: PAYER }),
  encodeVerification({ ok: false, reason: 'insufficient_funds', message: 'Too little.' }),
  encodeSupported({
    kinds: [{ scheme: 'exact', network: 'solana-devnet', feePayer: PAYER }],
    extensions: [],
    signers: [PAYER],
  }),
];
const ASKED = { payer: PAYER, terms: TERMS };
const aPaymentHeader = fc.oneof(
  nearly(PAYLOAD_V1, PAYLOAD_V2).map(header),
  nearlyText(header(PAYLOAD_V1), header(PAYLOAD_V2)),
);

/** Codecs of the wire: none throws, and what was written is read as it was. */
export const WIRE: readonly Fuzz[] = [
  ...CODECS.map(({ name, read }) =>
    fuzz(`payment header of ${name}`, aPaymentHeader, (text) => {
      const reading = read(text);
      assert.equal(typeof (reading.ok ? reading.payment.scheme : reading.detail), 'string');
    }),
  ),
  fuzz('header of base64 of JSON', fc.oneof(nearlyText(header(WIRE_TERMS)), aPaymentHeader), (text) => {
    const reading = readHeader('X', text);
    if (!reading.ok || typeof reading.value !== 'object' || reading.value === null) return;
    assert.equal(jsonFault(reading.value), undefined);
    assert.deepEqual(readHeader('X', writeHeader(reading.value)), reading);
  }),
  fuzz('base64', nearlyText('AAAA', 'QQ==', 'QUI='), (text) => {
    const reading = decodeBase64(text);
    if (reading.ok) assert.equal(Buffer.from(reading.value).toString('base64'), text);
  }),
  fuzz('X-Service-Payment', nearlyText(...serviceHeaders()), (text) => {
    const reading = readServicePayment(text);
    if (reading.ok) assert.ok(isSignature(reading.value));
  }),
  fuzz('X-Service-Payment in both spellings', fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
    const text = signatureText(bytes);
    for (const spelling of [Buffer.from(bytes), Buffer.from(text)]) {
      assert.deepEqual(readServicePayment(spelling.toString('base64')), { ok: true, value: text });
    }
  }),
  fuzz('call of a facilitator', nearly(...CALLS), (body) => {
    const call = readFacilitatorRequest(body);
    if (!call.ok) assert.equal(typeof call.detail, 'string');
  }),
  fuzz('call of a facilitator, written and read', fc.tuple(someTerms, aTransaction), ([terms, transaction]) => {
    const payment = { ...PAYMENT, network: terms.network, transaction, accepted: terms };
    const call = readFacilitatorRequest(JSON.parse(JSON.stringify(encodeFacilitatorRequest(payment, terms))));
    assert.ok(call.ok);
    assert.deepEqual(plain(call.terms), plain(terms));
  }),
  fuzz('answer of a facilitator', nearly(...ANSWERS), (body) => {
    for (const decode of [decodeVerification, decodeSettlement]) decode(body, ASKED);
    decodeSupported(body);
  }),
  fuzz('offer of a 402', nearly(...OFFERS), (offer) => {
    readOffers(() => null, JSON.stringify(offer));
    readOffers(() => header(offer), '');
    readReceipt(() => header(offer));
  }),
  fuzz('offer of a 402 that is a text', nearlyText(JSON.stringify(OFFERS[1]), header(OFFERS[0])), (text) => {
    readOffers(() => null, text);
    readOffers(() => text, '');
    readReceipt(() => text);
  }),
  fuzz(
    'payment identifier',
    nearly({ 'payment-identifier': { info: { required: true, id: 'a'.repeat(16) } } }),
    (it) => {
      readIdentifier(typeof it === 'object' && it !== null ? { ...it } : undefined);
    },
  ),
  fuzz('price', fc.oneof(nearlyText('$0.01', '0.5 USDT', '1 SOL'), nearly({ amount: '1', asset: 'USDC' })), (price) => {
    const reading = readPrice(price, TOKENS);
    if (reading.ok) assert.ok(reading.value.amount >= 1n && reading.value.amount < 2n ** 64n);
    orRefuses(TollhouseError, () => parsePrice(price as string, TOKENS));
  }),
  fuzz(
    'decimal text',
    fc.tuple(nearlyText('0.000001', '18446744073709.551615', '1e-7'), fc.nat({ max: 18 })),
    checkDecimal,
  ),
  fuzz('amount, written and read', fc.tuple(anAmount, fc.nat({ max: 18 })), ([amount, decimals]) => {
    assert.deepEqual(parseDecimal(formatAmount(amount, decimals), decimals), { ok: true, value: amount });
  }),
  fuzz('address', fc.oneof(nearlyText(PAYER, SIGNATURE), anAddress), (text) => {
    if (isAddress(text)) assert.equal(addressOf(addressBytes(text)), text);
    else assert.throws(() => addressBytes(text), TypeError);
  }),
];

function serviceHeaders(): string[] {
  return [Buffer.alloc(64, 7), Buffer.from(SIGNATURE)].map((it) => it.toString('base64'));
}

function checkDecimal([text, decimals]: [string, number]): void {
  const reading = parseDecimal(text, decimals);
  if (reading.ok) assert.equal(Number(formatAmount(reading.value, decimals)), Number(text));
}

function plain(terms: Terms): Record<string, unknown> {
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}
