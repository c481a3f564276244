import fc from 'fast-check';

/** Any well-formed text. fast-check's own `unit: 'binary'` takes seconds to set itself up, in every test file. */
export function anyText({ minLength = 0, maxLength = 10 } = {}): fc.Arbitrary<string> {
  const bytes = fc.uint8Array({ minLength: 2 * minLength, maxLength: 2 * maxLength });
  return bytes.map((units) => Buffer.from(Buffer.from(units).toString('utf16le')).toString());
}
