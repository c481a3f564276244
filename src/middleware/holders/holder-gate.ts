import type { Request, Response } from 'express';
import type { ProvenWallet } from '../../identity/types.js';
import { createRequestNote } from '../../lib/http/request-note.js';
import { noteShortfall } from '../browser/shortfall.js';
import type { Decision } from '../gate/gate.js';
import { tell } from '../gate/request-properties.js';
import type { PassSales } from '../passes/sold-passes.js';
import { ruleName } from '../wallet/admission.js';
import { admittedBefore, noteAdmitted } from '../wallet/admitted-before.js';
import { refuseStranger } from '../wallet/refuse-stranger.js';
import { anyProof, isToken, offerSignIn, proofOf, type UnprovenProof } from '../wallet/wallet-auth.js';
import { enterPrivately, judged, type Verdict } from '../wallet/wallet-gate.js';
import type { HolderRule } from './holder-rules.js';

/** What a request is asked for: by the rule of its wallet, as a stranger, or it is decided already. */
export type HolderDecision =
  | { readonly rule: HolderRule | undefined; readonly decision?: undefined }
  | { readonly decision: Decision };

/** Finds out what a request is asked for that no pass covers. */
export type HolderGate = (req: Request, res: Response, isPaying: boolean) => Promise<HolderDecision>;

const entitled = createRequestNote<Request, { readonly rule: HolderRule; readonly wallet: string }>();

/** The wallet that alone may pay what a rule asks of a request; undefined where anybody may. */
export function entitledWallet(req: Request, rule: HolderRule): string | undefined {
  const noted = entitled.of(req);
  return noted?.rule === rule ? noted.wallet : undefined;
}

/**
 * Asks who is calling, and what the wallet holds. A proof that is no good is answered 401, and 503 where the chain cannot be asked:
 * nobody pays a stranger's price because of a fault.
 * @param rules - at least one
 */
export function createHolderGate(
  where: string,
  rules: readonly HolderRule[],
  passes: PassSales | undefined,
): HolderGate {
  const name = ruleName([where, rules.map(({ who }) => who.judge.name)]);
  const [
    {
      who: { parts },
    } = noRules(),
  ] = rules;

  async function ruleFor(req: Request, wallet: string): Promise<Found> {
    const lacks: Extract<Verdict, { ok: false }>[] = [];
    for (const [at, rule] of rules.entries()) {
      const verdict = await judged(rule.who.judge, req, wallet);
      if (verdict.ok) return { rule, at, note: verdict.note, holder: verdict.holder };
      lacks.push(verdict);
    }
    for (const it of lacks) noteShortfall(req, it);
    return { rule: undefined };
  }

  async function seenNow(req: Request): Promise<Seen | UnprovenProof> {
    const proof = await anyProof(req, parts);
    if (proof.status !== 'proven') return proof;
    const found = await ruleFor(req, proof.wallet.address);
    const taken = isToken(proof) ? proof : await proofOf(req, parts);
    return taken.status === 'proven' ? { wallet: taken.wallet, found } : taken;
  }

  /** Whom this gate has let in with the payment that comes again. */
  async function seenBefore(req: Request): Promise<Seen | undefined> {
    const before = await admittedBefore(req, parts, name);
    if (before === undefined) return undefined;
    const at = Number(before.note);
    return { wallet: before.wallet, found: { rule: rules[at], at } };
  }

  return async (req, res, isPaying) => {
    const now = await seenNow(req);
    const seen = 'wallet' in now ? now : ((await seenBefore(req)) ?? now);
    if (!('wallet' in seen)) {
      if (seen.status === 'refused') return { decision: refuseStranger(where, req, res, parts, seen) };
      offerSignIn(req, parts);
      return { rule: undefined };
    }
    const { wallet, found } = seen;
    tell(req, parts.requestNames, 'wallet', () => wallet);
    const { rule, at = 0, note, holder = wallet.address } = found;
    if (rule === undefined) return { rule };
    if (note !== undefined) rule.who.judge.tell?.(req, note);
    noteAdmitted(req, parts, { gate: name, wallet, note: String(at) });
    if (rule.isFree) return { decision: { admitted: true, enter: (next) => enterPrivately(res, next) } };
    const { allowance } = rule;
    const covered =
      allowance === undefined || isPaying ? undefined : await passes?.coverByAllowance(req, res, holder, allowance);
    if (covered !== undefined) return { decision: covered };
    if (rule.hasOwnPrice) entitled.put(req, { rule, wallet: wallet.address });
    return { rule };
  };
}

interface Found {
  readonly rule: HolderRule | undefined;
  readonly at?: number;
  /** What was learned on the way. */
  readonly note?: string | undefined;
  /** Whose holdings count, where that is another wallet. */
  readonly holder?: string | undefined;
}

interface Seen {
  readonly wallet: ProvenWallet;
  readonly found: Found;
}

function noRules(): never {
  throw new Error('a gate for holders without rules');
}
