import type { SettleResponse } from '@x402/core/types';
import type { SettleResponseV1 } from '@x402/core/types/v1';
import { defined } from '../../lib/defined.js';
import { toCaip2, toV1Name } from '../networks/networks.js';
import { REASONS } from '../reasons.js';
import type { NetworkId, Settlement } from '../types.js';

type Outcome = Omit<SettleResponseV1, 'network'>;

/**
 * The receipt of version 2 (protocol/README.md, "Version 2"): `transaction` is the signature, or empty when nothing was sent or it is not known.
 *
 * @param network - of a settlement that did not land; a receipt names its own
 */
export function settleResponseV2(settlement: Settlement, network: NetworkId): SettleResponse {
  if (settlement.status !== 'settled') return { ...unsettled(settlement), network: toCaip2(network) };
  const { signature, payer, amount, network: landedOn } = settlement.receipt;
  return { success: true, transaction: signature, network: toCaip2(landedOn), payer, amount: String(amount) };
}

/** The receipt of version 1 (protocol/README.md, "Version 1"); see {@link settleResponseV2}. */
export function settleResponseV1(settlement: Settlement, network: NetworkId): SettleResponseV1 {
  if (settlement.status !== 'settled') return { ...unsettled(settlement), network: toV1Name(network) };
  const { signature, payer, network: landedOn } = settlement.receipt;
  return { success: true, transaction: signature, network: toV1Name(landedOn), payer };
}

function unsettled(settlement: Exclude<Settlement, { readonly status: 'settled' }>): Outcome {
  if (settlement.status === 'pending') {
    return {
      success: false,
      errorReason: 'settlement_pending',
      errorMessage: REASONS.settlement_pending,
      transaction: settlement.signature ?? '',
      payer: settlement.payer,
    };
  }
  const { reason, message, signature, payer } = settlement;
  return {
    success: false,
    errorReason: reason,
    errorMessage: message,
    transaction: signature ?? '',
    ...defined({ payer }),
  };
}
