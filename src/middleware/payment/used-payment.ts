import type { Request } from 'express';
import { isPriceScope } from '../../facilitator/payments/price-credit.js';
import { identityOf } from '../../identity/default-identity.js';
import { defined } from '../../lib/defined.js';
import type { Receipt } from '../../protocol/types.js';
import { PASS_HEADER } from '../gate/pass-headers.js';
import type { KeptPass } from '../passes/pass-types.js';
import { isOfOtherRange } from '../response/response-range.js';
import type { StoredResponse } from '../response/response-seal.js';
import { creditText } from '../terms/credit-costs.js';
import { extensionsBesidePayment, offerSignIn } from '../wallet/wallet-auth.js';
import { tellOf } from './landed-headers.js';
import type { PaymentAttempt } from './payment-gate.js';
import { type RequiredCause, STILL_OWED, TRIED_OUT, USED, USED_UNKEPT, withReceipt } from './payment-required.js';

/** A payment that is over for its request, and who asks. */
interface UsedPayment {
  readonly id: string;
  readonly receipt: Receipt | undefined;
  /** Whether it is certain who asks; nobody else is told a token. */
  readonly isTheirs: boolean;
  /** What is said where nothing is known of what it has bought. */
  readonly cause: RequiredCause;
}

/** What was kept for a payment, as far as it is given again. */
interface GivenAgain {
  readonly stored: StoredResponse | undefined;
  /** Why nothing is. */
  readonly cause: RequiredCause;
}

/** Where it is brought. */
type UsedAt = Pick<PaymentAttempt, 'req' | 'gate' | 'challenge'>;

const USED_BEFORE = 'This payment was used for its request already.';

/** A part of what was paid for is given again where that very part is asked for: to others it would be a file with a hole. */
export function givenAgain(
  { req, gate }: Pick<UsedAt, 'req' | 'gate'>,
  stored: StoredResponse | undefined,
): GivenAgain {
  if (stored === undefined) return { stored, cause: USED_UNKEPT[gate.options.settle] };
  if (!isOfOtherRange(req, stored)) return { stored, cause: USED };
  const part = stored.headers['content-range'];
  const detail = `This payment was for a part of this resource${typeof part === 'string' ? ` (${part})` : ''}, and its response is given again to the same Range alone. A payment buys one response: pay again for another part, or for the whole without a Range; what is read part by part is sold with a pass, where the offered terms have one.`;
  return { stored: undefined, cause: { ...USED, detail } };
}

/**
 * Answers 402 to a payment that is used up for its request, with what is left of what it has bought or has left its payer: nobody pays
 * anew who need not.
 */
export async function sendUsed(
  { req, gate, challenge }: UsedAt,
  { id, receipt, isTheirs, cause }: UsedPayment,
): Promise<void> {
  const { passes, tokens } = gate.options.facilitator;
  const pass = await passes.findByPayment(id);
  if (pass === undefined) {
    const detail = (await gate.usedDetail?.(id)) ?? cause.detail;
    return challenge(withReceipt({ ...cause, detail }, receipt));
  }
  const told = await tellOf(gate, req, id, isTheirs);
  const extensions = pass.over === undefined ? await offeredSignIn(gate, req, pass) : undefined;
  const left = whatIsLeft(pass, (mint) => creditText(pass.left ?? 0n, mint, tokens), {
    hasToken: told[PASS_HEADER] !== undefined,
    maySignIn: extensions !== undefined,
  });
  const detail = `${beforeWhatIsLeft(cause)} ${left}`;
  await challenge(withReceipt({ ...cause, detail, told, ...defined({ extensions }) }, receipt));
}

function beforeWhatIsLeft(cause: RequiredCause): string {
  if (cause === USED || Object.values(USED_UNKEPT).includes(cause)) return USED_BEFORE;
  return cause === STILL_OWED ? TRIED_OUT.detail : cause.detail;
}

/** How the wallet that has paid signs in for what is left; undefined where that is not taken here, or the site has no name for it. */
async function offeredSignIn(
  { passes, options }: UsedAt['gate'],
  req: Request,
  { scope }: KeptPass,
): Promise<RequiredCause['extensions']> {
  const taken = isPriceScope(scope) ? passes?.compensation : passes?.sales;
  if (taken === undefined) return undefined;
  const { facilitator, identity = identityOf(facilitator), baseUrl } = options;
  offerSignIn(req, { identity, baseUrl });
  return extensionsBesidePayment(req);
}

/** What can be done with what is left. */
interface Ways {
  /** Whether its token is in the answer. */
  readonly hasToken: boolean;
  readonly maySignIn: boolean;
}

function whatIsLeft(pass: KeptPass, credit: (mint: string) => string, ways: Ways): string {
  const { over, kind, left = 0n, mint, endsAt, graceMs = 0 } = pass;
  switch (over) {
    case 'revoked':
      return 'What it has bought was revoked.';
    case 'ended':
      return 'What it has bought has ended. Pay again to go on.';
    case 'used_up':
      return 'Nothing is left of it: that is used up, paid back, or taken by a request that is under way.';
    default:
      return `${leftText()} left of what it has bought: ${waysText(pass, ways)}, and do not pay again.`;
  }
  function leftText(): string {
    if (kind === 'until') return `The time until ${new Date((endsAt ?? 0) - graceMs).toISOString()} is`;
    if (mint !== undefined) return `${credit(mint)} is`;
    return left === 1n ? '1 use is' : `${left} uses are`;
  }
}

/** Who has lost the token, and cannot sign in, has its seller left to ask: he is never told to do what he cannot. */
function waysText({ kind, left, bought, paymentId }: KeptPass, { hasToken, maySignIn }: Ways): string {
  const isPaidBack = kind === 'credit' || (kind === 'uses' && left === bought);
  return [
    hasToken ? `show that by its ${PASS_HEADER}` : `show the ${PASS_HEADER} that an earlier response has brought`,
    ...(maySignIn ? ['sign in with the wallet that has paid'] : []),
    ...(isPaidBack && !hasToken ? [`have its seller pay it back (npx tollhouse refund ${paymentId})`] : []),
  ].join(', or ');
}
