import { newId } from '../../../src/lib/ids.js';
import { type EventRecord, newEvent } from '../../../src/storage/events/events.js';
import type { WebhookRecord } from '../../../src/storage/webhooks/webhooks.js';
import { walletKey } from '../transactions/wallet-key.js';

/** Two wallets that have nothing to do with each other. */
export const ALICE = walletKey('alice').address;
export const BOB = walletKey('bob').address;

/** A payment of Alice's, unless it is said otherwise. */
export function anEvent(changes: Partial<EventRecord> = {}, at = 1_700_000_000_000): EventRecord {
  return {
    ...newEvent({ type: 'payment.settled', owner: ALICE, data: { amount: '0.01', token: 'USDC' } }, at),
    ...changes,
  };
}

/** A webhook of Alice's that is told everything, unless it is said otherwise. */
export function aWebhook(changes: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    id: newId('whk'),
    owner: ALICE,
    url: 'https://alice.example/hook',
    events: ['*'],
    secret: 'whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0',
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    ...changes,
  };
}
