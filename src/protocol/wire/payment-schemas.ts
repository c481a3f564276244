import { z } from 'zod';

// The protocol's own schemas are those of `@x402/core`, of zod 3, which takes ten times as long: these are read for each
// request that is paid. A test holds them equal. What is not read of a payment is in none of them: clients echo the
// resource, and a fault in the copy is no reason to refuse the payment.

/** Where something is missing, that is what is told of it. */
const Told = { error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'Required' : undefined) };

const Text = z.string(Told).min(1);
const Fields = z.looseObject({}, Told);

const CAIP2 = "must be a network by its CAIP-2 name, such as 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'";
const Caip2Name = z.string(Told).min(3, CAIP2).includes(':', CAIP2);

const Paid = { asset: Text, payTo: Text, maxTimeoutSeconds: z.number(Told).positive(), extra: Fields.nullish() };

/** What version 2 asks to be paid. */
export const RequirementsV2 = z.object({ scheme: Text, network: Caip2Name, amount: Text, ...Paid }, Told);

/** What version 1 asks to be paid, without what it says of the resource: that may be missing or null. */
export const RequirementsV1 = z.object({ scheme: Text, network: Text, maxAmountRequired: Text, ...Paid }, Told);

/** A payment of version 2. */
export const PayloadV2 = z.object(
  { x402Version: z.literal(2), accepted: RequirementsV2, payload: Fields, extensions: Fields.nullish() },
  Told,
);

/** A payment of version 1. */
export const PayloadV1 = z.object({ x402Version: z.literal(1), scheme: Text, network: Text, payload: Fields }, Told);
