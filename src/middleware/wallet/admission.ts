import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { z } from 'zod';
import { type HeldRule, type HoldingTimes, holdingTimesOf } from '../../access/holding-times.js';
import { badOption } from '../../errors/errors.js';
import type { Facilitator } from '../../facilitator/types.js';
import type { Delegations } from '../../identity/delegations.js';
import { readDuration } from '../../lib/duration.js';
import { type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { type AddressInput, addressOption } from '../../protocol/address-input.js';
import { type HeldFor, judgeStoodFor } from './stood-for.js';
import { PASSED, type Verdict } from './wallet-gate.js';

/** Whom a gate by wallet lets in beside what they hold now. */
export interface AdmissionOptions {
  /** Wallets that are let in whatever they hold, base58 or `PublicKey`, at most 100,000. Default: none. */
  readonly allow?: readonly AddressInput[] | undefined;
  /** Wallets that are refused whatever they hold, also where another wallet stands for them; goes before `allow`. Default: none. */
  readonly deny?: readonly AddressInput[] | undefined;
  /**
   * How long a wallet must have been seen holding it without a break, such as `'24h'` or `'7d'`; at least a minute, at most a year. It
   * begins when the wallet first comes; from then on it is looked at at moments that nobody can foresee, some 24 times in that while and
   * at least once an hour; a thousand wallets a minute at most. Not seen for a quarter of the time, and 40 seconds at least, it begins
   * anew. Default: no time.
   */
  readonly heldFor?: string | undefined;
  /** Where the times are kept; made by `createHoldingTimes`. Default: in the facilitator's storage, or in this process's memory. */
  readonly holdingTimes?: HoldingTimes | undefined;
  /** Wallets that stand for others, whose holdings count then; made by `createDelegations`. Default: every wallet stands for itself. */
  readonly delegations?: Delegations | undefined;
}

const MAX_LISTED = 100_000;
const YEAR_MS = 365 * 86_400_000;
const wallets = z
  .array(addressOption('a wallet (base58 or PublicKey)'), 'a list of wallets')
  .max(MAX_LISTED, `at most ${MAX_LISTED} wallets`)
  .transform((list): ReadonlySet<string> => new Set(list))
  .optional();

function withFunction<T>(name: string, maker: string) {
  return z.custom<T>((it) => typeof Reflect.get(Object(it), name) === 'function', `made by ${maker}`).optional();
}

/** Schema of {@link AdmissionOptions}, field by field. */
export const admissionOptions = {
  allow: wallets,
  deny: wallets,
  heldFor: z.string('a length of time such as "24h"').optional(),
  holdingTimes: withFunction<HoldingTimes>('heldMs', 'createHoldingTimes'),
  delegations: withFunction<Delegations>('holderFor', 'createDelegations'),
};

/** What a wallet must hold. */
export interface WalletRule {
  /** The same for the same thing to hold, in every process; mints and minimums. */
  readonly what: readonly unknown[];
  judge(req: Request, wallet: string): MaybePromise<Verdict>;
  /** Whether a wallet holds it now, without anybody coming: what the chain says, and not what is remembered. */
  holds(wallet: string): MaybePromise<boolean>;
}

type ResolvedAdmission = Readonly<z.output<z.ZodObject<typeof admissionOptions>>> & {
  readonly facilitator: Facilitator;
};
type Judge = (req: Request, wallet: string) => MaybePromise<Verdict>;

/**
 * A rule with the exceptions to it, in their order: who is denied, who is allowed, what the wallet holds, and what the wallet holds
 * that it stands for.
 * @throws TollhouseError `bad_option` where `heldFor` cannot be read
 */
export function withAdmission(where: string, options: ResolvedAdmission, rule: WalletRule): Judge {
  const { allow, deny, delegations } = options;
  const heldFor = readHeldFor(where, options, rule);
  const judge = heldFor === undefined ? rule.judge : heldLongEnough(heldFor, options, rule);
  const stoodFor = delegations && { facilitator: options.facilitator, delegations, heldFor, judge };

  return (req, wallet) => {
    if (deny?.has(wallet)) return denied(wallet);
    if (allow?.has(wallet)) return PASSED;
    return whenKnown(judge(req, wallet), (own) => {
      if (own.ok || stoodFor === undefined) return own;
      return whenKnown(stoodFor.delegations.holderFor(wallet), (holder) => {
        if (holder === undefined) return own;
        return deny?.has(holder) ? denied(holder) : judgeStoodFor(stoodFor, req, holder, wallet);
      });
    });
  };
}

function heldLongEnough(
  { text, ms: heldForMs, name }: HeldFor,
  options: ResolvedAdmission,
  { judge, holds }: WalletRule,
): Judge {
  const times = options.holdingTimes ?? holdingTimesOf(options.facilitator);
  const rule: HeldRule = { name, heldForMs, holds };
  times.watch(rule);
  return (req, wallet) =>
    whenKnown(judge(req, wallet), (verdict) => {
      if (!verdict.ok) return times.lost(rule, wallet).then(() => verdict);
      return whenKnown(times.heldMs(rule, wallet), (heldMs) =>
        heldMs >= heldForMs ? verdict : tooShort(wallet, text, { heldMs, heldForMs }),
      );
    });
}

/** A name for what must be held, the same in every process. */
export function ruleName(what: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(what)).digest('base64url');
}

function readHeldFor(where: string, { facilitator, heldFor: text }: ResolvedAdmission, { what }: WalletRule) {
  if (text === undefined) return undefined;
  const ms = readDuration(text);
  if (!ms.ok) throw badOption(where, `option "heldFor" must be ${ms.detail}`, 'heldFor');
  if (ms.value >= 60_000 && ms.value <= YEAR_MS) {
    return { text, ms: ms.value, name: ruleName([facilitator.network, ms.value, ...what]) };
  }
  throw badOption(where, 'option "heldFor" must be at least a minute and at most a year', 'heldFor');
}

function denied(wallet: string): Verdict {
  const detail = `The wallet ${wallet} is not let in here.`;
  return { ok: false, code: 'wallet_denied', detail, missing: {}, lack: { kind: 'denied', wallet } };
}

function tooShort(
  wallet: string,
  heldFor: string,
  { heldMs, heldForMs }: { readonly heldMs: number; readonly heldForMs: number },
): Verdict {
  const seconds = { held_seconds: Math.floor(heldMs / 1_000), needed_seconds: Math.ceil(heldForMs / 1_000) };
  return {
    ok: false,
    code: 'held_too_short',
    detail: `The wallet ${wallet} holds enough, and must have been seen holding it for ${heldFor}: ${seconds.held_seconds} of ${seconds.needed_seconds} seconds so far.`,
    missing: seconds,
    lack: { kind: 'time', wallet, heldMs, neededMs: heldForMs },
  };
}
