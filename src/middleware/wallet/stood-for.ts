import type { Request } from 'express';
import type { Facilitator } from '../../facilitator/types.js';
import type { Delegations } from '../../identity/delegations.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { REASONS } from '../../protocol/reasons.js';
import type { Verdict } from './wallet-gate.js';

/** How long something must have been held, and for what. */
export interface HeldFor {
  /** As it was written, such as `24h`. */
  readonly text: string;
  readonly ms: number;
  /** The same for the same thing to hold for the same time, in every process. */
  readonly name: string;
}

/** What a wallet is judged by that another stands for. */
export interface StoodForParts {
  readonly facilitator: Pick<Facilitator, 'storage'>;
  readonly delegations: Delegations;
  readonly heldFor: HeldFor | undefined;
  judge(req: Request, wallet: string): MaybePromise<Verdict>;
}

/**
 * Judges a wallet for another that stands for it. What an operator has suspended lets nobody in, and where things must have been held for
 * some time, one wallet comes in for the holder in that time: statements are signed in a moment, and would pass a holding around.
 */
export function judgeStoodFor(
  parts: StoodForParts,
  req: Request,
  holder: string,
  delegate: string,
): MaybePromise<Verdict> {
  const suspended = parts.facilitator.storage?.gateway.suspensions.find('wallet', holder);
  return whenKnown(suspended, (found) => {
    if (found !== undefined) return SUSPENDED;
    return whenKnown(parts.judge(req, holder), (verdict) =>
      verdict.ok
        ? whenKnown(comesAlone(parts, holder, delegate), (refusal) => refusal ?? { holder, ...verdict })
        : verdict,
    );
  });
}

function comesAlone(
  { delegations, heldFor }: StoodForParts,
  holder: string,
  delegate: string,
): MaybePromise<Verdict | undefined> {
  if (heldFor === undefined) return undefined;
  return whenKnown(delegations.comesAlone({ holder, delegate }, heldFor.name, heldFor.ms), (isAlone) =>
    isAlone ? undefined : comesLater(holder, heldFor),
  );
}

const SUSPENDED: Verdict = { ok: false, code: 'wallet_suspended', detail: REASONS.wallet_suspended, missing: {} };

function comesLater(holder: string, { text, ms }: HeldFor): Verdict {
  return {
    ok: false,
    code: 'held_too_short',
    detail: `Another wallet has come in for ${holder} within ${text}; one that takes its place waits until that time is over.`,
    missing: { needed_seconds: Math.ceil(ms / 1_000) },
    lack: { kind: 'turn', wallet: holder, neededMs: ms },
  };
}
