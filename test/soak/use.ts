import { PAYMENT_IDENTIFIER } from '../../src/protocol/payment-identifier.js';
import type { Sending } from './shop.js';

/** Where honest clients call from. */
export const HOME = '127.0.0.1';

const CALLS = '/v1/';
const LEAST_KEY = 16;

/**
 * What a request asks for and who asks, as the README has it: method, address with its query, body, and the secret that
 * came with the payment. One payment is good for one of them.
 */
export function useOf(path: string, { method = 'GET', headers = {}, body = '', from = HOME }: Sending): string {
  const secret = path.startsWith(CALLS) ? `service key ${headers['x-service-key']}` : secretOf(headers);
  return `${method} ${path} ${body} by ${secret ?? `address ${from}`}`;
}

/** The address in a use. */
export function pathIn(use: string): string {
  return use.split(' ')[1] ?? '';
}

/** The handler's run that a response tells of, whole or not. */
export function runIn(text: string): string | undefined {
  return /"run":"([0-9a-f-]{36})"/.exec(text)?.[1];
}

function secretOf(headers: Readonly<Record<string, string>>): string | undefined {
  const { accepted, extensions } = paymentIn(headers['payment-signature']);
  const nonce = accepted?.extra?.['nonce'];
  if (nonce !== undefined) return `nonce ${nonce}`;
  const id = extensions?.[PAYMENT_IDENTIFIER]?.info?.id;
  if (id !== undefined) return `identifier ${id}`;
  const key = headers['idempotency-key'];
  return key !== undefined && key.length >= LEAST_KEY ? `key ${key}` : undefined;
}

interface Presented {
  readonly accepted?: { readonly extra?: Readonly<Record<string, unknown>> };
  readonly extensions?: Readonly<Record<string, { readonly info?: { readonly id?: string } }>>;
}

function paymentIn(header: string | undefined): Presented {
  return header === undefined ? {} : JSON.parse(Buffer.from(header, 'base64').toString());
}
