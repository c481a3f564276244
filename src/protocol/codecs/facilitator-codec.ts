import type { SettleResponse, SupportedResponse, VerifyResponse } from '@x402/core/types';
import { defined } from '../../lib/defined.js';
import { firstFault, shown } from '../../lib/parsed.js';
import { toCaip2, toV1Name } from '../networks/networks.js';
import type { Reason } from '../reasons.js';
import type { Supported, SupportedKind } from '../supported.js';
import type { NetworkId, Payment, Settlement, Terms, Verification } from '../types.js';
import { jsonFault } from '../wire/json.js';
import { RequirementsV1, RequirementsV2 } from '../wire/payment-schemas.js';
import { readTerms, type Unreadable, unreadable, type WireReading, writeExtra } from '../wire/terms.js';
import { settleResponseV1, settleResponseV2 } from './settle-response.js';
import { versionOf, type WireVersion } from './version.js';
import { readPayloadV1 } from './x402-v1.js';
import { readPayloadV2 } from './x402-v2.js';

/** What another server asks a facilitator to verify or settle. */
export type FacilitatorCall =
  | {
      readonly ok: true;
      /** Version of the request; the response is written in the same. */
      readonly version: WireVersion;
      readonly payment: Payment;
      readonly terms: Terms;
    }
  | {
      readonly ok: false;
      readonly version: WireVersion;
      /** True for a body without the protocol's shape (400); otherwise it is a business response (200; protocol/README.md, "Facilitator API"). */
      readonly malformed: boolean;
      readonly reason: Reason;
      readonly detail: string;
    };

/** How one version reads its objects. */
interface Reader {
  payload(value: unknown): WireReading<Payment>;
  requirements(value: unknown): WireReading<Terms>;
}

const READERS: Readonly<Record<WireVersion, Reader>> = {
  1: { payload: readPayloadV1, requirements: readRequirementsV1 },
  2: { payload: readPayloadV2, requirements: readRequirementsV2 },
};

const SETTLE_RESPONSES: Readonly<Record<WireVersion, typeof settleResponseV2>> = {
  1: settleResponseV1,
  2: settleResponseV2,
};

/**
 * Reads the body of `POST /verify` and `POST /settle`: `{ x402Version, paymentPayload, paymentRequirements }` (protocol/README.md, "Facilitator API").
 * Never throws.
 */
export function readFacilitatorRequest(body: unknown): FacilitatorCall {
  if (!isObject(body)) {
    return uncalled(2, unreadable('invalid_payload', `the body must be a JSON object, not ${shown(body)}`));
  }
  const payload: unknown = Reflect.get(body, 'paymentPayload');
  const stated = versionOf(body) ?? undefined;
  if (stated !== undefined && isObject(payload) && stated !== versionOf(payload)) {
    const detail = `x402Version ${shown(stated)} of the body is not that of paymentPayload, ${shown(versionOf(payload))}`;
    return uncalled(2, unreadable('invalid_x402_version', detail));
  }
  return readFacilitatorCall(payload, Reflect.get(body, 'paymentRequirements'));
}

/**
 * Reads what a `FacilitatorClient` of `@x402/core` is handed. Scheme and network of payment and requirements must agree;
 * whether the transaction pays what is required is for the facilitator to say. Never throws.
 */
export function readFacilitatorCall(paymentPayload: unknown, paymentRequirements: unknown): FacilitatorCall {
  const version = versionOf(paymentPayload);
  if (version !== 1 && version !== 2) return uncalled(2, noVersion(version));
  const fault = jsonFault([paymentPayload, paymentRequirements]);
  if (fault !== undefined) return uncalled(version, unreadable('invalid_payload', fault));
  const terms = READERS[version].requirements(paymentRequirements);
  if (!terms.ok) return uncalled(version, terms);
  const payment = READERS[version].payload(paymentPayload);
  if (!payment.ok) return uncalled(version, { ...payment, detail: `paymentPayload: ${payment.detail}` });
  if (payment.value.network === terms.value.network) {
    return { ok: true, version, payment: payment.value, terms: terms.value };
  }
  const detail = `the payment is on ${payment.value.network}, the requirements are on ${terms.value.network}`;
  return uncalled(version, unreadable('invalid_exact_svm_network_mismatch', detail));
}

/** The response of `POST /verify`; it is the same in both versions. */
export function encodeVerification(verification: Verification): VerifyResponse {
  if (verification.ok) return { isValid: true, payer: verification.payer };
  const { reason, message, payer } = verification;
  return {
    isValid: false,
    invalidReason: reason,
    invalidMessage: message,
    ...defined({ payer }),
  };
}

/**
 * The response of `POST /settle`.
 *
 * @param network - of a settlement that did not land
 * @param version - of the request. Default 2
 */
export function encodeSettlement(settlement: Settlement, network: NetworkId, version: WireVersion = 2): SettleResponse {
  return SETTLE_RESPONSES[version](settlement, network);
}

/** The response of `GET /supported`: each kind in both versions, under each version's network name. */
export function encodeSupported({ kinds, extensions, signers }: Supported) {
  return {
    kinds: kinds.flatMap((kind) => [
      { x402Version: 2 as const, scheme: kind.scheme, network: toCaip2(kind.network), extra: kindExtra(kind) },
      { x402Version: 1 as const, scheme: kind.scheme, network: toV1Name(kind.network), extra: kindExtra(kind) },
    ]),
    extensions: [...extensions],
    signers: { 'solana:*': [...signers] },
  } satisfies SupportedResponse;
}

function kindExtra({ feePayer, hint }: SupportedKind): Record<string, unknown> {
  return writeExtra({ feePayer }, { hint });
}

function readRequirementsV2(value: unknown): WireReading<Terms> {
  const shape = RequirementsV2.safeParse(value);
  if (!shape.success) return misshapen(shape.error.issues);
  return readTerms(shape.data, 'paymentRequirements');
}

function readRequirementsV1(value: unknown): WireReading<Terms> {
  const shape = RequirementsV1.safeParse(value);
  if (!shape.success) return misshapen(shape.error.issues);
  return readTerms({ ...shape.data, amount: shape.data.maxAmountRequired }, 'paymentRequirements');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function misshapen(issues: Parameters<typeof firstFault>[0]): Unreadable {
  return unreadable('invalid_payload', `paymentRequirements: ${firstFault(issues)}`);
}

function noVersion(version: unknown): Unreadable {
  if (version === undefined) {
    return unreadable('invalid_payload', 'paymentPayload must be an object with x402Version, 1 or 2');
  }
  return unreadable('invalid_x402_version', `x402Version ${shown(version)} is not spoken here; 1 and 2 are`);
}

function uncalled(version: WireVersion, { reason, detail }: Unreadable): FacilitatorCall {
  return { ok: false, version, malformed: reason === 'invalid_payload', reason, detail };
}
