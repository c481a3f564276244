import {
  PaymentPayloadV1Schema,
  PaymentPayloadV2Schema,
  PaymentRequirementsV1Schema,
  PaymentRequirementsV2Schema,
} from '@x402/core/schemas';
import fc from 'fast-check';
import type { z } from 'zod';
import { readPayloadV2 } from '../../../../src/protocol/codecs/x402-v2.js';
import { PayloadV1, PayloadV2, RequirementsV1, RequirementsV2 } from '../../../../src/protocol/wire/payment-schemas.js';
import { anyJson, PAYLOAD_V1, PAYLOAD_V2, WIRE_TERMS } from '../samples.js';

const { amount, ...others } = WIRE_TERMS;
const REQUIREMENTS_V1 = { ...others, network: 'solana-devnet', maxAmountRequired: amount };
const UNREAD_V1 = { resource: true, description: true, mimeType: true, outputSchema: true } as const;

type Official = (value: unknown) => { readonly success: boolean; readonly data?: unknown };

const ALIKE: [string, z.ZodType, Official, object][] = [
  ['a payment of version 1', PayloadV1, (it) => PaymentPayloadV1Schema.safeParse(it), PAYLOAD_V1],
  [
    'a payment of version 2',
    PayloadV2,
    (it) => PaymentPayloadV2Schema.omit({ resource: true }).safeParse(it),
    PAYLOAD_V2,
  ],
  [
    'requirements of version 1',
    RequirementsV1,
    (it) => PaymentRequirementsV1Schema.omit(UNREAD_V1).safeParse(it),
    REQUIREMENTS_V1,
  ],
  ['requirements of version 2', RequirementsV2, (it) => PaymentRequirementsV2Schema.safeParse(it), WIRE_TERMS],
];

/** Where a value can be exchanged: names of fields that the schemas read, and of one that they do not. */
const A_PATH = fc.oneof(
  fc
    .constantFrom(...Object.keys({ ...PAYLOAD_V2, ...WIRE_TERMS, ...REQUIREMENTS_V1, extensions: 0, more: 0 }))
    .map((it) => [it]),
  fc.constantFrom(...Object.keys(WIRE_TERMS), 'more').map((it) => ['accepted', it]),
);
/** What is nearly right, and anything else. Only JSON is compared: numbers are those that a text of it can hold. */
const A_VALUE = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    '',
    'x',
    ':',
    '::',
    ':::',
    'a:b',
    0,
    -0,
    1,
    2,
    -1,
    0.5,
    1e300,
    [],
    {},
    { a: { b: [null] } },
  ),
  anyJson,
);

/** A copy in which one field is another; undefined takes it away. */
function changed(value: object, [name = '', ...rest]: readonly string[], to: unknown): object {
  const inner: unknown = Reflect.get(value, name);
  const next = rest.length > 0 && typeof inner === 'object' && inner !== null ? changed(inner, rest, to) : to;
  const { [name]: _, ...kept } = { ...value } as Record<string, unknown>;
  return next === undefined ? kept : { ...kept, [name]: next };
}

describe.each(ALIKE)('%s', (_, ours, official, sample) => {
  const alike = (value: unknown): void => {
    const { success, data } = official(value);
    for (const jitless of [false, true]) {
      const read = ours.safeParse(value, { jitless });
      expect([read.success, read.data]).toEqual([success, data]);
    }
  };

  test('is read as the official schema reads it', () => {
    expect(official(sample).success).toBe(true);
    alike(sample);
  });

  test('is accepted and refused as by the official schema, whatever is wrong with it', () => {
    const changes = fc.array(fc.tuple(A_PATH, A_VALUE), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(changes, (all) => alike(all.reduce((value, [path, to]) => changed(value, path, to), sample))),
      { numRuns: 500 },
    );
  });

  test('anything else is refused as by the official schema', () => {
    fc.assert(fc.property(anyJson, alike));
    for (const value of [undefined, null, [], 'text', 1]) alike(value);
  });
});

test.each([
  [{ amount: undefined }, 'accepted.amount: Required'],
  [{ asset: 5 }, 'accepted.asset: Invalid input: expected string, received number'],
  [
    { network: 'devnet' },
    "accepted.network: must be a network by its CAIP-2 name, such as 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'",
  ],
  [{ extra: [] }, 'accepted.extra: Invalid input: expected object, received array'],
  // JSON can write a number that is too large for one; the official schema lets it through.
  [
    { maxTimeoutSeconds: Number.POSITIVE_INFINITY },
    'accepted.maxTimeoutSeconds: Invalid input: expected number, received Infinity',
  ],
])('of terms with %p it is told where and what is wrong', (wrong, detail) => {
  const accepted = { ...WIRE_TERMS, ...wrong };
  expect(readPayloadV2({ ...PAYLOAD_V2, accepted })).toEqual({ ok: false, reason: 'invalid_payload', detail });
});
