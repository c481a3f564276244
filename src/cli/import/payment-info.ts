import { isRecord } from '../../lib/parsed.js';
/** What an operation says that it costs: a price, nothing, or what the others cost. */
export type OperationPrice =
  | { readonly kind: 'price'; readonly amount: string; readonly token: string }
  | { readonly kind: 'free' }
  | { readonly kind: 'default' };

/** A price that cannot be read. */
export interface PriceFault {
  readonly kind: 'fault';
  readonly detail: string;
}

const AMOUNT = /^\d{1,20}(?:\.\d{1,18})?$/;
const DOLLARS = 'USDC';

/**
 * What the field `x-payment-info` of an operation says, as discovery documents have it: `{"price": {"mode": "fixed", "currency": "USD",
 * "amount": "0.01"}}`, or in short `{"pricingMode": "fixed", "price": "0.01"}`, `{"amount": "0.01", "token": "PYUSD"}`. Dollars are paid in USDC.
 * @param info - undefined where there is none
 * @param security - of the operation; an empty list says that it is for everybody
 */
export function operationPrice(info: unknown, security: unknown): OperationPrice | PriceFault {
  if (info === undefined) return Array.isArray(security) && security.length === 0 ? FREE : DEFAULT;
  if (!isRecord(info)) return fault('must be an object');
  const said = isRecord(info['price']) ? info['price'] : info;
  const mode = said['mode'] ?? info['pricingMode'] ?? 'fixed';
  if (mode === 'free') return FREE;
  if (mode !== 'fixed') return fault(`says "${String(mode)}": only a fixed price can be taken`);
  const amount = textOf(said === info ? (info['amount'] ?? info['price']) : said['amount']);
  if (amount === undefined) return fault('names no amount');
  if (!AMOUNT.test(amount)) return fault(`names "${amount}", which is no decimal amount such as "0.01"`);
  if (Number(amount) === 0) return FREE;
  const named = textOf(said['token'] ?? info['token'] ?? said['currency'] ?? info['currency']) ?? 'USD';
  return { kind: 'price', amount, token: named.toUpperCase() === 'USD' ? DOLLARS : named };
}

const FREE = { kind: 'free' } as const;
const DEFAULT = { kind: 'default' } as const;

function fault(detail: string): PriceFault {
  return { kind: 'fault', detail: `x-payment-info ${detail}` };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.replace(/^\$/, '').trim() : undefined;
}
