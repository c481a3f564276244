import type { Tier } from '../access/tiers.js';
import type { ServiceKey } from '../identity/service-key-types.js';
import type { ProvenWallet } from '../identity/types.js';
import type { Receipt, Terms } from '../protocol/types.js';

/** What a payment gate learned about the request; on `req.payment` in the handler. */
export interface RequestPayment {
  /** Wallet that pays, base58. */
  readonly payer: string;
  /** What is paid. */
  readonly terms: Terms;
  /** Set when the money has landed before the handler runs (`settle: 'before'`, or a payment resumed after an interruption). */
  readonly receipt: Receipt | undefined;
}

/** Whose service key a request came with; on `req.serviceKey` in the handler. */
export type RequestServiceKey = Pick<ServiceKey, 'id' | 'owner' | 'projectId' | 'mode' | 'scopes' | 'metadata'>;

declare global {
  namespace Express {
    interface Request {
      /** Set by `requirePayment`: who pays what. */
      payment?: RequestPayment;
      /** Set by gates that ask for a wallet: whose wallet calls, proven. */
      wallet?: ProvenWallet;
      /** Set by `requireTier` and `readTier`: the tier of that wallet, if it has reached one. */
      tier?: Tier;
      /** Set by `serviceKeyAuth`: the key that was shown, and whose it is. */
      serviceKey?: RequestServiceKey;
    }
  }
}
