import type { Commitment } from '../../protocol/types.js';
import { asCommitment, asSignature, type Config, readAddress, readConfig } from '../encoding/params.js';
import type { SocketMethod } from './calls.js';

/** What can be subscribed to. */
export type SubscriptionKind = 'signature' | 'account' | 'slot';

/** What a client asks to be told. */
export interface SubscriptionRequest {
  readonly kind: SubscriptionKind;
  readonly commitment: Commitment;
  /** The signature or address watched; empty for slots. */
  readonly subject: string;
  readonly config: Config;
}

/** What a WebSocket method does, and with which kind of subscription. */
export const SOCKET_ACTIONS: Readonly<Record<SocketMethod, readonly [SubscriptionKind, 'subscribe' | 'unsubscribe']>> =
  {
    signatureSubscribe: ['signature', 'subscribe'],
    signatureUnsubscribe: ['signature', 'unsubscribe'],
    accountSubscribe: ['account', 'subscribe'],
    accountUnsubscribe: ['account', 'unsubscribe'],
    slotSubscribe: ['slot', 'subscribe'],
    slotUnsubscribe: ['slot', 'unsubscribe'],
  };

const SUBJECTS: Readonly<Record<SubscriptionKind, (params: readonly unknown[]) => string>> = {
  signature: (params) => asSignature(params[0]),
  account: (params) => readAddress(params, 0),
  slot: () => '',
};

/** Reads the parameters of a subscription. */
export function readWanted(kind: SubscriptionKind, params: readonly unknown[]): SubscriptionRequest {
  const config = kind === 'slot' ? {} : readConfig(params, 1);
  return { kind, subject: SUBJECTS[kind](params), config, commitment: asCommitment(config['commitment']) };
}
