import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { HTTPFacilitatorClient } from '@x402/core/http';
import fc from 'fast-check';
import {
  encodeSettlement,
  encodeSupported,
  encodeVerification,
  readFacilitatorCall,
  readFacilitatorRequest,
} from '../../../../src/protocol/codecs/facilitator-codec.js';
import type { Reason } from '../../../../src/protocol/reasons.js';
import {
  anyJson,
  FEE_PAYER,
  PAYER,
  PAYLOAD_V1,
  PAYLOAD_V2,
  PAYMENT,
  SETTLEMENTS,
  SIGNATURE,
  TERMS,
  TRANSACTION,
  USDC_DEVNET,
  WIRE_TERMS,
} from '../samples.js';

const REQUIREMENTS_V1 = {
  scheme: 'exact',
  network: 'solana-devnet',
  maxAmountRequired: '10000',
  asset: USDC_DEVNET,
  payTo: TERMS.payTo,
  resource: 'https://api.example/report',
  description: '',
  mimeType: '',
  outputSchema: null,
  maxTimeoutSeconds: 60,
  extra: { feePayer: FEE_PAYER },
};

const BODY_V1 = { x402Version: 1, paymentPayload: PAYLOAD_V1, paymentRequirements: REQUIREMENTS_V1 };
const BODY_V2 = { x402Version: 2, paymentPayload: PAYLOAD_V2, paymentRequirements: WIRE_TERMS };

const SUPPORTED = {
  kinds: [{ scheme: 'exact', network: 'solana-devnet' as const, feePayer: FEE_PAYER }],
  extensions: ['bazaar'],
  signers: [FEE_PAYER, PAYER],
};

function requiring(change: Record<string, unknown>) {
  return { ...BODY_V2, paymentRequirements: { ...WIRE_TERMS, ...change } };
}

describe('readFacilitatorRequest', () => {
  test('reads version 2', () => {
    expect(readFacilitatorRequest(BODY_V2)).toEqual({ ok: true, version: 2, payment: PAYMENT, terms: TERMS });
  });

  test('reads version 1', () => {
    const payment = { scheme: 'exact', network: 'solana-devnet', transaction: TRANSACTION };
    expect(readFacilitatorRequest(BODY_V1)).toEqual({ ok: true, version: 1, payment, terms: TERMS });
  });

  test.each([
    ['without the version of the body', { ...BODY_V2, x402Version: undefined }],
    ['with a null for it', { ...BODY_V2, x402Version: null }],
    [
      'with extra that nobody knows',
      { ...BODY_V2, paymentRequirements: { ...WIRE_TERMS, extra: { feePayer: FEE_PAYER, a: [1] } } },
    ],
    [
      'of version 1 without what is said of the resource',
      {
        ...BODY_V1,
        paymentRequirements: {
          ...REQUIREMENTS_V1,
          resource: null,
          description: null,
          mimeType: null,
          outputSchema: {},
        },
      },
    ],
  ])('reads a body %s', (_, body) => {
    expect(readFacilitatorRequest(body)).toMatchObject({ ok: true, terms: TERMS });
  });

  test('terms without a fee payer are read, the facilitator refuses them by name', () => {
    const { feePayer: _, ...terms } = TERMS;
    expect(readFacilitatorRequest(requiring({ extra: {} }))).toStrictEqual({
      ok: true,
      version: 2,
      payment: PAYMENT,
      terms,
    });
  });

  test.each([
    ['nothing', undefined, /the body must be a JSON object, not undefined/],
    ['a text', 'pay', /the body must be a JSON object/],
    ['a list', [BODY_V2], /paymentPayload must be an object with x402Version/],
    ['no payload', { x402Version: 2, paymentRequirements: WIRE_TERMS, paymentPayload: null }, /x402Version/],
    ['no requirements', { ...BODY_V2, paymentRequirements: undefined }, /paymentRequirements: Required/],
    [
      'no amount',
      { ...BODY_V2, paymentRequirements: { ...WIRE_TERMS, amount: undefined } },
      /paymentRequirements: amount: Required/,
    ],
    [
      'an asset that is no address',
      { ...BODY_V2, paymentRequirements: { ...WIRE_TERMS, asset: 'USDC' } },
      /paymentRequirements.asset/,
    ],
    [
      'a __proto__ key',
      JSON.parse(JSON.stringify(BODY_V2).replace('"payload":{', '"payload":{"__proto__":{},')),
      /a key named __proto__/,
    ],
  ])('a body with %s has a fault', (_, body, detail) => {
    expect(readFacilitatorRequest(body)).toMatchObject({ ok: false, detail: expect.stringMatching(detail) });
  });

  test.each<[string, unknown, boolean, Reason, string]>([
    ['no object', 'pay', true, 'invalid_payload', 'the body must be a JSON object, not "pay"'],
    ['null', null, true, 'invalid_payload', 'the body must be a JSON object, not null'],
    [
      'no version',
      { ...BODY_V2, x402Version: undefined, paymentPayload: {} },
      true,
      'invalid_payload',
      'paymentPayload must be an object with x402Version, 1 or 2',
    ],
    [
      'a payTo that is no address',
      requiring({ payTo: 'nobody' }),
      true,
      'invalid_payload',
      'paymentRequirements.payTo is not a Solana address',
    ],
    [
      'a payTo of version 1 that is no address',
      { ...BODY_V1, paymentRequirements: { ...REQUIREMENTS_V1, payTo: 'nobody' } },
      true,
      'invalid_payload',
      'paymentRequirements.payTo is not a Solana address',
    ],
    [
      'no amount in version 1',
      { ...BODY_V1, paymentRequirements: { ...REQUIREMENTS_V1, maxAmountRequired: undefined } },
      true,
      'invalid_payload',
      'paymentRequirements: maxAmountRequired: Required',
    ],
    [
      'no accepted terms',
      { ...BODY_V2, paymentPayload: { ...PAYLOAD_V2, accepted: undefined } },
      true,
      'invalid_payload',
      'paymentPayload: accepted: Required',
    ],
    [
      'no scheme in version 1',
      { ...BODY_V1, paymentPayload: { ...PAYLOAD_V1, scheme: undefined } },
      true,
      'invalid_payload',
      'paymentPayload: scheme: Required',
    ],
    [
      'an unknown network',
      requiring({ network: 'eip155:8453' }),
      false,
      'invalid_network',
      'the network "eip155:8453" is not known here',
    ],
    [
      'an unknown scheme',
      requiring({ scheme: 'upto' }),
      false,
      'invalid_exact_svm_unsupported_scheme',
      'the scheme "upto" is not spoken here',
    ],
    [
      'requirements on another network',
      requiring({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }),
      false,
      'invalid_exact_svm_network_mismatch',
      'the payment is on solana-devnet, the requirements are on solana',
    ],
    [
      'version 3',
      { x402Version: 3, paymentPayload: { ...PAYLOAD_V2, x402Version: 3 }, paymentRequirements: {} },
      false,
      'invalid_x402_version',
      'x402Version 3 is not spoken here; 1 and 2 are',
    ],
    [
      'two versions',
      { ...BODY_V2, x402Version: 1 },
      false,
      'invalid_x402_version',
      'x402Version 1 of the body is not that of paymentPayload, 2',
    ],
    [
      'a transaction that is no base64',
      { ...BODY_V2, paymentPayload: { ...PAYLOAD_V2, payload: { transaction: 'AAA!' } } },
      false,
      'invalid_exact_svm_payload_transaction_could_not_be_decoded',
      'paymentPayload: payload.transaction is not base64: it holds characters or bits that base64 does not have',
    ],
  ])(
    'a body with %s: malformed or a business answer, the reason and what is wrong',
    (_, body, malformed, reason, detail) => {
      const call = readFacilitatorRequest(body);
      expect(call).toEqual({ ok: false, version: expect.any(Number), malformed, reason, detail });
    },
  );

  test('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), anyJson, anyJson, (thing, one, other) => {
        const calls = [
          readFacilitatorRequest(thing),
          readFacilitatorRequest({ ...BODY_V2, paymentRequirements: one }),
          readFacilitatorRequest({ ...BODY_V1, paymentRequirements: other }),
          readFacilitatorCall({ x402Version: 2, accepted: thing, payload: one }, other),
        ];
        for (const call of calls) expect(call.ok).toBe(false);
        const paid = readFacilitatorCall({ ...PAYLOAD_V2, payload: { transaction: thing } }, WIRE_TERMS);
        if (paid.ok) expect(Buffer.from(paid.payment.transaction).toString('base64')).toBe(thing);
        else expect(paid.detail).toMatch(/payload.transaction|__proto__|nested/);
      }),
    );
  });
});

describe('the answers, read by the official client over HTTP', () => {
  const bodies: unknown[] = [];
  const answers: Record<string, unknown> = {};
  const server = createServer(async (req, res) => {
    if (req.method === 'POST') bodies.push(JSON.parse(await text(req)));
    res.setHeader('Content-Type', 'application/json').end(JSON.stringify(answers[req.url ?? '']));
  });
  let client: HTTPFacilitatorClient;

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    client = new HTTPFacilitatorClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });

  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
  });

  test('its request is read', async () => {
    answers['/verify'] = encodeVerification({ ok: true, payer: PAYER });
    await expect(client.verify(PAYLOAD_V2, WIRE_TERMS)).resolves.toMatchObject({ isValid: true, payer: PAYER });
    expect(readFacilitatorRequest(bodies.at(-1))).toEqual({ ok: true, version: 2, payment: PAYMENT, terms: TERMS });
  });

  test('a refusal keeps its reason', async () => {
    const refusal = { reason: 'insufficient_funds', message: 'Too little.', payer: PAYER } as const;
    answers['/verify'] = encodeVerification({ ok: false, ...refusal });
    await expect(client.verify(PAYLOAD_V2, WIRE_TERMS)).resolves.toMatchObject({
      isValid: false,
      invalidReason: 'insufficient_funds',
      invalidMessage: 'Too little.',
      payer: PAYER,
    });
  });

  test.each([
    ['settled' as const, { success: true, transaction: SIGNATURE, amount: '10000', payer: PAYER }],
    ['refused' as const, { success: false, transaction: '', errorReason: 'insufficient_funds' }],
    ['pending' as const, { success: false, transaction: SIGNATURE, errorReason: 'settlement_pending' }],
  ])('a %s settlement is understood', async (name, response) => {
    answers['/settle'] = encodeSettlement(SETTLEMENTS[name], 'solana-devnet');
    await expect(client.settle(PAYLOAD_V2, WIRE_TERMS)).resolves.toMatchObject({
      ...response,
      network: WIRE_TERMS.network,
    });
  });

  test('what is supported is listed in both versions, each under its network name', async () => {
    answers['/supported'] = encodeSupported(SUPPORTED);
    await expect(client.getSupported()).resolves.toEqual({
      kinds: [
        { x402Version: 2, scheme: 'exact', network: WIRE_TERMS.network, extra: { feePayer: FEE_PAYER } },
        { x402Version: 1, scheme: 'exact', network: 'solana-devnet', extra: { feePayer: FEE_PAYER } },
      ],
      extensions: ['bazaar'],
      signers: { 'solana:*': [FEE_PAYER, PAYER] },
    });
  });
});
