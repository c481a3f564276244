/** Name of the extension on the wire (protocol/README.md, "Extensions"). */
export const PAYMENT_IDENTIFIER = 'payment-identifier';

const MIN_LENGTH = 16;
const MAX_LENGTH = 128;
const PATTERN = '^[a-zA-Z0-9_-]+$';
const FORM = new RegExp(PATTERN);

/** What a payment says about its identifier. */
export type IdentifierReading =
  | { readonly ok: true /** Missing where the payer chose none. */; readonly id?: string }
  | { readonly ok: false /** A sentence for the payer. */; readonly detail: string };

/** What a 402 says about payment identifiers; the payer's client adds its `id` and sends it back. */
export function declareIdentifier(required: boolean): Readonly<Record<string, unknown>> {
  return {
    info: { required },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: MIN_LENGTH, maxLength: MAX_LENGTH, pattern: PATTERN },
      },
      required: ['required'],
    },
  };
}

/**
 * The identifier among the extensions of a payment. It never goes on the chain, so that whoever brings it with the same
 * payment is the one who paid, and not a reader of the chain.
 */
export function readIdentifier(extensions: Readonly<Record<string, unknown>> | undefined): IdentifierReading {
  const info: unknown = Reflect.get(Object(extensions?.[PAYMENT_IDENTIFIER]), 'info');
  const id: unknown = Reflect.get(Object(info), 'id');
  if (id === undefined || id === null) return { ok: true };
  if (typeof id === 'string' && id.length >= MIN_LENGTH && id.length <= MAX_LENGTH && FORM.test(id))
    return { ok: true, id };
  const detail = `The id of the extension "${PAYMENT_IDENTIFIER}" must have ${MIN_LENGTH} to ${MAX_LENGTH} letters, digits, "-" or "_".`;
  return { ok: false, detail };
}
