import type { PaymentRequired, ResourceInfo } from '@x402/core/types';
import { z } from 'zod';
import { defined } from '../../lib/defined.js';
import { firstFault } from '../../lib/parsed.js';
import type { Challenge, Resource } from '../challenge.js';
import type { Payment, Terms } from '../types.js';
import { writeHeader } from '../wire/json.js';
import { PayloadV2 } from '../wire/payment-schemas.js';
import {
  readNonce,
  readTerms,
  readTransaction,
  signInTerms,
  unreadable,
  type WireExtras,
  type WireReading,
  writeTerms,
} from '../wire/terms.js';
import type { PaymentCodec } from './codec.js';
import { headerWithNonce } from './nonce-header.js';
import { readPaymentHeader } from './payment-header.js';
import { settleResponseV2 } from './settle-response.js';
import { versionFault } from './version.js';

const REQUIRED = 'PAYMENT-REQUIRED';
const SIGNATURE = 'PAYMENT-SIGNATURE';
const RESPONSE = 'PAYMENT-RESPONSE';

const SignIn = z.object({
  supportedChains: z.array(z.object({ chainId: z.templateLiteral([z.string(), ':', z.string()]) })),
});

/** x402 version 2 over HTTP: terms, payment and receipt travel in headers (protocol/README.md, "Version 2"). */
export const x402V2: PaymentCodec = {
  name: 'x402-v2',
  requestHeader: SIGNATURE.toLowerCase(),
  exposedHeaders: [REQUIRED, RESPONSE],
  challenge(challenge) {
    const write = headerWithNonce((nonce) => paymentRequired(challenge, nonce));
    return { headers: (nonce) => ({ [REQUIRED]: write(nonce) }) };
  },
  read: (header) => readPaymentHeader(SIGNATURE, header, readPayloadV2),
  receipt: (settlement, network) => ({ [RESPONSE]: writeHeader(settleResponseV2(settlement, network)) }),
};

/** Reads a version 2 PaymentPayload, from a header or a facilitator's request. */
export function readPayloadV2(payload: unknown): WireReading<Payment> {
  const fault = versionFault(payload, 2);
  if (fault !== undefined) return fault;
  const shape = PayloadV2.safeParse(payload);
  if (!shape.success) return unreadable('invalid_payload', firstFault(shape.error.issues));
  const { accepted: wire, extensions } = shape.data;
  const accepted = readTerms(wire, 'accepted');
  if (!accepted.ok) return accepted;
  const transaction = readTransaction(shape.data.payload);
  if (!transaction.ok) return transaction;
  const { scheme, network } = accepted.value;
  return {
    ok: true,
    value: {
      scheme,
      network,
      transaction: transaction.value,
      accepted: accepted.value,
      ...readNonce(wire.extra),
      ...(extensions === undefined || extensions === null ? {} : { extensions }),
    },
  };
}

/** What a payer sends but for the signatures: the payment that a client makes of some terms, with a transaction to be signed. */
export function writeUnsignedPayment(
  terms: Terms,
  { extensions, ...extras }: WireExtras & { readonly extensions?: Readonly<Record<string, unknown>> | undefined },
  transaction: Uint8Array,
): Readonly<Record<string, unknown>> {
  return {
    x402Version: 2,
    accepted: writeTerms(terms, extras),
    payload: { transaction: Buffer.from(transaction).toString('base64') },
    ...defined({ extensions }),
  };
}

function paymentRequired(challenge: Challenge, nonce: string): PaymentRequired {
  const { resource, terms, hints, paymentFlow, error, extensions } = challenge;
  return {
    x402Version: 2,
    ...defined({ error }),
    resource: resourceInfo(resource),
    accepts:
      terms.length === 0
        ? signInChains(extensions)
        : terms.map((it) => writeTerms(it, { hint: hints?.[it.network], nonce, paymentFlow })),
    ...(extensions === undefined ? {} : { extensions: { ...extensions } }),
  };
}

/** An entry for each chain that the sign-in extension names. */
function signInChains(extensions: Challenge['extensions']): PaymentRequired['accepts'] {
  const signIn = SignIn.safeParse(extensions?.['sign-in-with-x']);
  return signIn.success ? signIn.data.supportedChains.map(({ chainId }) => signInTerms(chainId)) : [];
}

function resourceInfo({ tags, ...rest }: Resource): ResourceInfo {
  return { ...rest, ...(tags === undefined ? {} : { tags: [...tags] }) };
}
