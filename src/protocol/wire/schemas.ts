import { z } from 'zod';

const extra = z.record(z.string(), z.unknown());
const optionalText = z.string().nullish();
const version = z.union([z.literal(1), z.literal(2)]);

const requirementsV2 = z.object({
  scheme: z.string(),
  network: z.string().describe('CAIP-2.'),
  asset: z.string(),
  amount: z.string().describe('Atomic units, as decimal digits.'),
  payTo: z.string(),
  maxTimeoutSeconds: z.number(),
  extra: extra.nullish(),
});

const requirementsV1 = z.object({
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  maxAmountRequired: z.string().describe('Atomic units, as decimal digits.'),
  payTo: z.string(),
  maxTimeoutSeconds: z.number(),
  extra: extra.nullish(),
});

const signed = z.looseObject({ transaction: z.string().describe('The partly signed transaction, base64.') });

const payloadV2 = z.object({
  x402Version: z.literal(2),
  accepted: requirementsV2,
  payload: signed,
  resource: z.looseObject({}).nullish(),
  extensions: extra.nullish(),
});

const payloadV1 = z.object({
  x402Version: z.literal(1),
  scheme: z.string(),
  network: z.string(),
  payload: signed,
});

/**
 * Bodies of `POST /verify` and `POST /settle` in x402's shape (protocol/README.md, "Facilitator API"), to be shown to people and machines. What comes in
 * is read with payment-schemas.ts.
 */
export const facilitatorBody = z.union([
  z.object({ x402Version: z.literal(2).optional(), paymentPayload: payloadV2, paymentRequirements: requirementsV2 }),
  z.object({ x402Version: z.literal(1).optional(), paymentPayload: payloadV1, paymentRequirements: requirementsV1 }),
]);

/** Answer of `POST /verify` in x402's shape. */
export const verifyResponse = z.object({
  isValid: z.boolean(),
  invalidReason: z.string().optional(),
  invalidMessage: z.string().optional(),
  payer: z.string().optional(),
});

/** Answer of `POST /settle` in x402's shape, of both versions. */
export const settleResponse = z.object({
  success: z.boolean(),
  errorReason: z.string().optional(),
  errorMessage: z.string().optional(),
  transaction: z.string().describe('Signature; empty where none was sent.'),
  network: z.string(),
  payer: optionalText,
  amount: z.string().optional(),
});

/** x402's part of the response of `GET /supported`. */
export const supportedResponse = z.object({
  kinds: z.array(z.object({ x402Version: version, scheme: z.string(), network: z.string(), extra })),
  extensions: z.array(z.string()),
  signers: z.record(z.string(), z.array(z.string())),
});

const item = z.object({
  resource: z.string().describe('Address; `:names` stand for what the caller chooses.'),
  type: z.literal('http'),
  x402Version: z.literal(2),
  accepts: z.array(requirementsV2).describe('Empty where the price depends on the request: ask the resource.'),
  lastUpdated: z.iso.datetime(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  serviceName: z.string().optional(),
  tags: z.array(z.string()).optional(),
  iconUrl: z.string().optional(),
  extensions: extra,
});

/** Answer of `GET /discovery/resources`. */
export const discoveryResponse = z.object({
  x402Version: z.literal(2),
  items: z.array(item),
  pagination: z.object({ limit: z.int(), offset: z.int(), total: z.int() }),
});

/** Answer of `GET /discovery/search`. */
export const searchResponse = z.object({
  x402Version: z.literal(2),
  resources: z.array(item),
  partialResults: z.boolean(),
  pagination: z.object({ limit: z.int(), cursor: z.string().nullable() }),
});

/** Answer of `GET /.well-known/x402`. */
export const wellKnownResponse = z.object({
  version: z.literal(1),
  x402Version: z.literal(2),
  resources: z.array(z.string()),
  discovery: z.string().describe('Where these are described.'),
});
