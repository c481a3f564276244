import { badOption } from '../../errors/errors.js';
import type { HeaderReader } from '../../protocol/wire/client.js';

/** A response of supertest, axios or `fetch`: its status, and its headers as an object in lower case or as `Headers`. */
export interface RefusedResponse {
  readonly status: number;
  readonly headers: object;
}

/** Reads the headers of a response, of whichever library it is. */
export function headerReader(where: string, response: RefusedResponse): HeaderReader {
  const { headers }: { readonly headers?: unknown } = response;
  if (headers instanceof Headers) return (name) => headers.get(name);
  if (typeof headers !== 'object' || headers === null) {
    throw badOption(
      where,
      'expects a response of supertest or fetch, and this has no "headers"; is it awaited?',
      'response',
    );
  }
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value: unknown = byName.get(name.toLowerCase());
    return typeof value === 'string' ? value : null;
  };
}
