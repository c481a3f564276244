import { z } from 'zod';
import { NETWORK_IDS } from '../../protocol/types.js';

const holding = z.coerce.bigint().optional();

/** Schema of {@link UrlPayment} in a file. */
export const urlPayment = z.strictObject({
  request: z.strictObject({
    url: z.url(),
    method: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string().optional(),
  }),
  price: z.string(),
  payer: z.string(),
  payTo: z.string(),
  paidIn: z.strictObject({
    asset: z.string(),
    program: z.string(),
    decimals: z.int().min(0).max(255),
    symbol: z.string(),
  }),
  network: z.enum(NETWORK_IDS),
  rpcUrl: z.string().optional(),
  /** Its id in the book of budgets, where it was paid under one. */
  spend: z.string().optional(),
  before: z.strictObject({ payer: holding, recipient: holding }),
});

/** A payment as it is sent, and sent again: its request with the payment in a header, and what is needed to tell of it. */
export type UrlPayment = z.output<typeof urlPayment>;

/** A payment as JSON can hold it. */
export function writable(payment: UrlPayment): object {
  const text = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  return JSON.parse(JSON.stringify(payment, text));
}
