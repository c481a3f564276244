import type { PageRequest } from '../../paywall/paywall-data.js';
import { receiptIn } from '../wire/receipt.js';
import { isIn, pause, problemOf, sendRequest } from '../wire/send-request.js';

/** How bringing a payment ended. */
export type Brought =
  | { readonly status: 'in'; readonly answer: Response }
  /** The payment was refused for good: it buys nothing here. */
  | {
      readonly status: 'refused';
      readonly code: string;
      readonly reason: string;
      /** Of its transaction on the chain, where the server tells it; else empty. */
      readonly signature: string;
      /** Whether it was brought before without a word of what became of it. */
      readonly isDoubtful: boolean;
    }
  /** What lies behind the gate has failed. The payment stays good. */
  | { readonly status: 'failed'; readonly httpStatus: number };

/** The code of a payment that has bought what it can buy. */
export const ALREADY_USED = 'payment_already_used';
/** The same of one that has landed, and of which the books know nothing. */
export const PAID_BEFORE = 'duplicate_settlement';

/** What is shown while the outcome is not known. */
export type Waiting = 'settling' | 'pending' | 'away';

/** Codes with which nothing is decided yet: the same payment is brought again. */
const UNDECIDED: ReadonlySet<string> = new Set([
  'settlement_pending',
  'payment_in_progress',
  'payment_backend_unavailable',
  'too_many_payments',
  'store_unavailable',
  'chain_unavailable',
  'rate_limited',
  'not_ready',
  'stopping',
]);
/** What stands between may say these of a server that is being restarted. */
const AWAY: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
const LONGEST_PAUSE = 10;

/** Brings a payment until its outcome is known, the same one however often: no second one is ever signed for it. */
export async function bringPayment(
  request: PageRequest,
  header: string,
  show: (waiting: Waiting) => void,
): Promise<Brought> {
  for (let tries = 0; ; tries += 1) {
    const answer = await sendRequest(request, { 'PAYMENT-SIGNATURE': header }).catch(() => undefined);
    if (answer !== undefined && isIn(answer)) return { status: 'in', answer };
    const problem = answer === undefined ? {} : await problemOf(answer);
    const code = String(problem['code'] ?? '');
    if (answer?.status === 402) return { ...refusal(code, problem, answer), isDoubtful: tries > 0 };
    if (answer !== undefined && !UNDECIDED.has(code) && (code !== '' || !AWAY.has(answer.status))) {
      return { status: 'failed', httpStatus: answer.status };
    }
    show(answer === undefined || code === '' ? 'away' : 'pending');
    await pause(pauseOf(answer, tries));
  }
}

function refusal(code: string, problem: Readonly<Record<string, unknown>>, answer: Response) {
  const reason = String(problem['error'] ?? code);
  const signature = String(receiptIn(answer)?.['transaction'] ?? '');
  return { status: 'refused', code: reason, reason: String(problem['detail'] ?? reason), signature } as const;
}

/** As long as the server says, else longer from try to try. */
function pauseOf(answer: Response | undefined, tries: number): number {
  const told = Number(answer?.headers.get('Retry-After') ?? Number.NaN);
  const growing = Math.min(LONGEST_PAUSE, 0.5 * 1.5 ** tries);
  return Number.isFinite(told) ? Math.min(LONGEST_PAUSE, Math.max(0.25, told)) : growing;
}
