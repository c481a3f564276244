import { fromBase64 } from './bytes.js';

/** What a response says of its payment in its header; undefined where it says nothing. */
export function receiptIn({ headers }: Response): Readonly<Record<string, unknown>> | undefined {
  try {
    const told: unknown = JSON.parse(new TextDecoder().decode(fromBase64(headers.get('PAYMENT-RESPONSE') ?? '')));
    return typeof told === 'object' && told !== null ? { ...told } : undefined;
  } catch {
    return undefined;
  }
}
