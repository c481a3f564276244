import type { FacilitatorClient } from '@x402/core/server';
import {
  encodeSettlement,
  encodeSupported,
  encodeVerification,
  readFacilitatorCall,
} from '../../protocol/codecs/facilitator-codec.js';
import type { NetworkId } from '../../protocol/types.js';
import type { Facilitator } from '../types.js';

/**
 * How `@x402/core`'s resource server uses a facilitator in its own process: the wire's objects in,
 * the wire's objects out.
 */
export function x402Client(
  core: Pick<Facilitator, 'verify' | 'settle' | 'supported'>,
  network: NetworkId,
): FacilitatorClient {
  return {
    async verify(paymentPayload, paymentRequirements) {
      const call = readFacilitatorCall(paymentPayload, paymentRequirements);
      if (!call.ok) return encodeVerification({ ok: false, reason: call.reason, message: call.detail });
      return encodeVerification(await core.verify(call.payment, call.terms));
    },
    async settle(paymentPayload, paymentRequirements) {
      const call = readFacilitatorCall(paymentPayload, paymentRequirements);
      if (!call.ok)
        return encodeSettlement({ status: 'failed', reason: call.reason, message: call.detail }, network, call.version);
      return encodeSettlement(await core.settle(call.payment, call.terms), network, call.version);
    },
    async getSupported() {
      return encodeSupported(await core.supported());
    },
  };
}
