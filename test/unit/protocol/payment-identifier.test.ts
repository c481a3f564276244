import { declarePaymentIdentifierExtension, validatePaymentIdentifier } from '@x402/extensions/payment-identifier';
import fc from 'fast-check';
import { declareIdentifier, PAYMENT_IDENTIFIER, readIdentifier } from '../../../src/protocol/payment-identifier.js';

const REFUSED = {
  ok: false,
  detail: 'The id of the extension "payment-identifier" must have 16 to 128 letters, digits, "-" or "_".',
};

function read(id: unknown) {
  return readIdentifier({ [PAYMENT_IDENTIFIER]: { info: { required: false, id }, schema: {} } });
}

test.each([true, false])('what is declared with required: %p is what the official server declares', (required) => {
  const declared = declareIdentifier(required);
  expect(declared).toEqual(declarePaymentIdentifierExtension(required));
  expect(validatePaymentIdentifier(declared)).toEqual({ valid: true });
  expect(declared).toStrictEqual({
    info: { required },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
      },
      required: ['required'],
    },
  });
});

test('every identifier of 16 to 128 letters, digits, dashes and underscores is read', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-zA-Z0-9_-]{16,128}$/), (id) => {
      expect(read(id)).toStrictEqual({ ok: true, id });
    }),
  );
});

test.each(['a'.repeat(16), 'a'.repeat(128), '-'.repeat(16), '_'.repeat(16), 'pay_0123456789AZ'])('%s is read', (id) => {
  expect(read(id)).toStrictEqual({ ok: true, id });
});

test.each<[unknown]>([
  [''],
  ['a'.repeat(15)],
  ['a'.repeat(129)],
  [`${'a'.repeat(16)}.`],
  [` ${'a'.repeat(16)}`],
  [`${'a'.repeat(16)}\n`],
  [`${'a'.repeat(16)}é`],
  [5],
  [true],
  [{ length: 16 }],
  [{ length: 16, toString: 'a'.repeat(16) }],
  [['a'.repeat(16)]],
])('%j is refused with a sentence for the payer', (id) => {
  expect(read(id)).toStrictEqual(REFUSED);
});

test.each<[string, Readonly<Record<string, unknown>> | undefined]>([
  ['no extensions', undefined],
  ['other extensions', { bazaar: { info: { id: 'a'.repeat(16) } } }],
  ['an extension that is null', { [PAYMENT_IDENTIFIER]: null }],
  ['an extension that is a text', { [PAYMENT_IDENTIFIER]: 'a'.repeat(16) }],
  ['an extension without info', { [PAYMENT_IDENTIFIER]: { id: 'a'.repeat(16) } }],
  ['info that is null', { [PAYMENT_IDENTIFIER]: { info: null } }],
  ['no id', { [PAYMENT_IDENTIFIER]: { info: { required: true } } }],
  ['an id that is null', { [PAYMENT_IDENTIFIER]: { info: { required: true, id: null } } }],
])('a payment with %s has chosen none', (_, extensions) => {
  expect(readIdentifier(extensions)).toStrictEqual({ ok: true });
});
