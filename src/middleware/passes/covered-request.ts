import type { Request, Response } from 'express';
import { defined } from '../../lib/defined.js';
import { PASS_HEADER } from '../gate/pass-headers.js';
import { remainingHeaders, unchargedHeaders } from './pass-end.js';
import type { PassParts, UsedPass } from './pass-types.js';

/** A request that a pass covers, for whoever serves it in the handler's place and says what becomes of what it has taken. */
export interface CoveredRequest extends Pick<UsedPass, 'shown'> {
  readonly req: Request;
  readonly res: Response;
  /** Names what it has taken of the pass. Missing where that is nothing. */
  readonly takenAs?: string;
  /**
   * Headers that tell of the pass.
   * @param isCharged - whether the response has its price
   */
  headers(isCharged: boolean): Promise<Readonly<Record<string, string>>>;
  /** It has no price: gives back what it has taken. Does not reject; called again it changes nothing. */
  giveBack(): Promise<void>;
}

/** Makes one of a request that has been debited. */
export function coveredRequest(parts: PassParts, req: Request, res: Response, used: UsedPass): CoveredRequest {
  const { passes, giveBack, tokens, symbols } = parts;
  const { shown, taken, left } = used;
  return {
    ...{ req, res, shown },
    ...defined({ takenAs: taken?.requestId }),
    async headers(isCharged) {
      const given = isCharged || left === undefined ? left : left + (taken?.amount ?? 0n);
      const uncharged = isCharged ? {} : unchargedHeaders({ ...shown, amount: taken?.amount ?? 0n }, symbols);
      const remaining = { ...remainingHeaders({ ...shown, ...used.end }, given, symbols), ...uncharged };
      return used.by === 'wallet' ? { ...remaining, [PASS_HEADER]: await tokens.issue(shown) } : remaining;
    },
    async giveBack() {
      if (taken === undefined) return;
      await giveBack(`the pass ${shown.passId}`, () => passes.giveBack(shown.passId, taken.requestId));
    },
  };
}
