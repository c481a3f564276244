import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import { firstFault, isRecord, type Parsed, parsed, unparsed } from '../../lib/parsed.js';
import type { Terms } from '../types.js';
import { readHeader, writeHeader } from './json.js';
import { readTerms, type WireTerms } from './terms.js';

/** One way to pay that a 402 offers, as its client sees it. */
export interface PayableTerms {
  readonly terms: Terms;
  /** Name of the request header that carries the payment. */
  readonly headerName: string;
  /** Value of that header for a signed transaction. */
  headerValue(transaction: Uint8Array): string;
}

/** Looks up a response header by its name, in any case. */
export type HeaderReader = (name: string) => string | null;

/**
 * Reads what a 402 offers: the header of version 2, else the body of version 1. Terms in schemes or on networks that are
 * not known here are left out.
 */
export function readOffers(header: HeaderReader, body: string): Parsed<readonly PayableTerms[]> {
  const text = header('PAYMENT-REQUIRED');
  if (text === null) return readOffersV1(body);
  const json = readHeader('PAYMENT-REQUIRED', text);
  return json.ok ? readOffersV2(json.value) : json;
}

/** What a server tells of the settlement, in the header of either version; undefined when it tells nothing readable. */
export function readReceipt(header: HeaderReader): Readonly<Record<string, unknown>> | undefined {
  const text = header('PAYMENT-RESPONSE') ?? header('X-PAYMENT-RESPONSE');
  if (text === null) return undefined;
  const json = readHeader('PAYMENT-RESPONSE', text);
  return json.ok && typeof json.value === 'object' && json.value !== null ? { ...json.value } : undefined;
}

/** What a 402 of x402 says beside its offers, whatever it offers: why it asks, where it tells; undefined where it is none. */
export function readRefusal(header: HeaderReader, body: string): { readonly error?: string | undefined } | undefined {
  const text = header('PAYMENT-REQUIRED');
  if (text === null) return PaymentRequiredV1Schema.safeParse(jsonOf(body)).data;
  return readRequired(text);
}

/** The extensions that a 402 of version 2 declares, as they go over the wire; undefined where there are none. */
export function readExtensions(header: HeaderReader): Readonly<Record<string, unknown>> | undefined {
  const text = header('PAYMENT-REQUIRED');
  return text === null ? undefined : (readRequired(text)?.extensions ?? undefined);
}

function readRequired(text: string) {
  const json = readHeader('PAYMENT-REQUIRED', text);
  return json.ok ? PaymentRequiredV2Schema.safeParse(json.value).data : undefined;
}

const NOTHING = 'the 402 offers no terms to pay';

/** A server that takes no payment of x402 at the moment has none. */
function offersNothing(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value['accepts']) && value['accepts'].length === 0;
}

function readOffersV2(value: unknown): Parsed<readonly PayableTerms[]> {
  const offer = PaymentRequiredV2Schema.safeParse(value);
  if (offersNothing(value)) return unparsed(NOTHING);
  if (!offer.success) return unparsed(`PAYMENT-REQUIRED: ${firstFault(offer.error.issues)}`);
  const { accepts, resource, extensions } = offer.data;
  return payable(accepts, (accepted) => ({
    headerName: 'PAYMENT-SIGNATURE',
    headerValue: (transaction) =>
      writeHeader({
        x402Version: 2,
        resource,
        accepted,
        extensions: extensions ?? undefined,
        ...payloadOf(transaction),
      }),
  }));
}

function readOffersV1(body: string): Parsed<readonly PayableTerms[]> {
  const value = jsonOf(body);
  const offer = PaymentRequiredV1Schema.safeParse(value);
  if (offersNothing(value)) return unparsed(NOTHING);
  if (!offer.success) return unparsed('the answer has no PAYMENT-REQUIRED header, and its body is no x402 offer');
  const accepts = offer.data.accepts.map((it) => ({ ...it, amount: it.maxAmountRequired }));
  return payable(accepts, ({ scheme, network }) => ({
    headerName: 'X-PAYMENT',
    headerValue: (transaction) => writeHeader({ x402Version: 1, scheme, network, ...payloadOf(transaction) }),
  }));
}

type Codec = Pick<PayableTerms, 'headerName' | 'headerValue'>;

function payable<T extends WireTerms>(
  accepts: readonly T[],
  codec: (wire: T) => Codec,
): Parsed<readonly PayableTerms[]> {
  const found = accepts.flatMap((wire, index): PayableTerms[] => {
    const terms = readTerms(wire, `accepts[${index}]`);
    if (!terms.ok) return [];
    return [{ terms: terms.value, ...codec(wire) }];
  });
  return found.length > 0
    ? parsed(found)
    : unparsed('none of the offered terms is a Solana payment of the scheme "exact"');
}

function payloadOf(transaction: Uint8Array): { readonly payload: { readonly transaction: string } } {
  return { payload: { transaction: Buffer.from(transaction).toString('base64') } };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
