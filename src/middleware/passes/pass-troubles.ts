import type { ErrorCode } from '../../errors/errors.js';
import { isPriceScope } from '../../facilitator/payments/price-credit.js';
import type { PassClaims } from '../../identity/types.js';
import { defined } from '../../lib/defined.js';
import { type CreditCost, creditText } from '../terms/credit-costs.js';
import { remainingHeaders } from './pass-end.js';
import type { KeptPass, PassParts, PassPlace, PassRefusal, PassTrouble } from './pass-types.js';

const PAY = 'Pay one of the offered terms to go on.';

const TROUBLES: Readonly<Record<PassTrouble, readonly [code: ErrorCode, detail: string]>> = {
  unknown: ['invalid_pass', `The access pass is not known here any more. ${PAY}`],
  revoked: [
    'pass_revoked',
    `The access pass or its token was revoked. Sign in with the wallet that paid, or pay anew.`,
  ],
  ended: ['pass_ended', `The access pass has ended. ${PAY}`],
  used_up: ['pass_used_up', `The access pass is used up. ${PAY}`],
};
const CREDIT_USED_UP = `What is left of the access pass is less than what is to be taken from it. ${PAY}`;

/** A request that is not let in by a pass. */
export function refusal(
  code: ErrorCode,
  detail: string,
  more: Pick<PassRefusal['cause'], 'reason' | 'told'> = {},
): PassRefusal {
  return { admitted: false, cause: { code, detail, ...more } };
}

/** The same for what is wrong with the pass itself. */
export function troubled(trouble: PassTrouble, kind: KeptPass['kind']): PassRefusal {
  const [code, detail] = TROUBLES[trouble];
  return refusal(code, kind === 'credit' && trouble === 'used_up' ? CREDIT_USED_UP : detail);
}

/** What is said of passes that another gate may have sold. */
const OF_OTHERS: ReadonlySet<ErrorCode> = new Set(['invalid_pass', 'pass_of_another_site', 'pass_of_another_route']);

/** Whether a pass covers nothing at a gate because it may be for another one. */
export function isPassForOther({ cause }: PassRefusal): boolean {
  return OF_OTHERS.has(cause.code);
}

/** What a request takes of credit; undefined where nothing is sold for it. */
export function costFor({ scope, mint = '' }: PassClaims, places: readonly PassPlace[]): CreditCost | undefined {
  return places.find((it) => it.scope === scope && it.costs?.has(mint))?.costs?.get(mint);
}

/**
 * Why credit does not cover a request, in the words for it: where something is left, how much that is, what the request costs now, and
 * what is still had for it. Asks the store, and so only of a request that is refused anyway.
 * @param refused - what is said where nothing more is known
 */
export async function creditRefusal(
  { passes, symbols }: Pick<PassParts, 'passes' | 'symbols'>,
  shown: PassClaims,
  places: readonly PassPlace[],
  refused: PassRefusal,
): Promise<PassRefusal> {
  const { code } = refused.cause;
  const cost = costFor(shown, places);
  const isPrice = isPriceScope(shown.scope);
  const isShort = code === 'pass_used_up' && cost !== undefined;
  if (shown.kind !== 'credit' || !(isShort || (isPrice && cost === undefined))) return refused;
  const pass = await passes.find(shown.passId);
  if (pass?.left === undefined) return refused;
  if (pass.over !== undefined) return troubled(pass.over, 'credit');
  if (pass.serial !== shown.serial) return troubled('revoked', 'credit');
  // A request under way has just given it back.
  if (cost !== undefined && pass.left >= cost.amount) return refused;
  const text = (amount: bigint) => creditText(amount, pass.mint ?? '', symbols);
  const now =
    cost === undefined
      ? 'no single request is sold here in its token any more'
      : `this request costs ${text(cost.amount)} now`;
  const detail = `${text(pass.left)} is left of ${isPrice ? 'what was paid here for a request that failed' : 'the access pass'}, and ${now}. ${isPrice ? stillGood(pass) : PAY}`;
  const told = remainingHeaders(defined({ mint: pass.mint, endsAt: pass.endsAt }), pass.left, symbols);
  return refusal(code, detail, { told });
}

/** Its payment pays one request of its own at what was paid, as long as all of that is left, and nobody has used it up. */
function stillGood({ bought, left, paymentId }: KeptPass): string {
  const refund = `its seller can pay it back (npx tollhouse refund ${paymentId})`;
  return left === bought
    ? `Send the very payment again that has left it: that is charged once, and good for one request at the price that was paid unless it is used up. Or ${refund}.`
    : `Pay one of the offered terms to go on; what is left stays, and ${refund}.`;
}
