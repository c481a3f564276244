import { tellStep } from '../output/terminal.js';
import { goesOnTo } from './answers/redirect.js';
import { asksToSignIn, askUrl, type PayableRequest, problemCode, reasonGiven, type UrlResponse } from './ask-url.js';
import { forgetToken, keepToken, tokensFor } from './kept-passes.js';
import type { PayOptions } from './pay-options.js';
import { walletAddress } from './pay-terms.js';
import { signInHeader } from './sign-in-header.js';

/** How a request was answered that has not paid. */
export interface UnpaidAnswer {
  readonly response: UrlResponse;
  /** Where it was asked for at last. */
  readonly url: string;
  /** What has let it in; missing where nothing has, or nothing was asked for. */
  readonly by?: 'pass' | 'sign-in';
  /** The sign-in that is asked for before all else, to be sent with the payment; missing where none is asked for. */
  readonly proof?: PayableRequest['headers'];
  /** Why a sign-in that is asked for before all else is not there, and what to do; missing where it is. */
  readonly unsigned?: string;
}

/** Header of the token of a pass, and what is left. */
const PASS = 'access-pass';
const REMAINING = 'access-pass-remaining';
/** A token of these is good for nothing, and that does not change. */
const OVER = new Set(['invalid_pass', 'pass_revoked', 'pass_ended', 'pass_used_up', 'pass_of_another_site']);

const OWN_PROOF =
  'is asked for, and the request brings a proof of its own, which is not taken; without that header it is signed by the wallet';
const NOTHING_OFFERED =
  'is asked for, and there is nothing that a wallet could sign; sign in as the site has it, and send what it gives you: -H "Authorization: Bearer …"';
const ASKED_AGAIN =
  'is asked for again: one is not enough here; send an access token of the site for the other, -H "Authorization: Bearer …"';

/**
 * Asks for a URL without paying, and where it leads on its site; see {@link askAt}.
 * @throws CommandError where it leads elsewhere
 */
export async function askUnpaid(options: PayOptions): Promise<UnpaidAnswer> {
  let { url } = options;
  for (let times = 0; ; times += 1) {
    const entry = await askAt({ ...options, url });
    const next = goesOnTo({ ...options, url }, entry.response, times);
    if (next === undefined) return { ...entry, url };
    tell(options, 'leads to', next);
    url = next;
  }
}

type Entry = Omit<UnpaidAnswer, 'url'>;

/**
 * Asks for a URL by what its payer has bought there before: with the tokens that are kept for it, then by signing in, where the
 * 402 offers that. Where neither lets it in, the answer is the 402 to be paid. Where it wants a sign-in before all else it gets one,
 * even if everything is to be paid anew.
 */
async function askAt(options: PayOptions): Promise<Entry> {
  const wallet = walletAddress(options.wallet);
  const isProven = showsProof(options.headers);
  const isAsItIs = options.anew || isProven;
  let asked: UrlResponse | undefined;
  for (const kept of isAsItIs ? [] : tokensFor({ ...options, wallet })) {
    tell(options, 'pass', `for ${kept.scope}, bought before`);
    asked = await ask(options, { [PASS]: kept.token });
    if (asked.status !== 402) return entered(options, asked, 'pass');
    const code = problemCode(asked) ?? '';
    const left = asked.header(REMAINING);
    tell(options, 'pass', `is not taken: ${code}${left === null ? '' : `, ${left} is left`}`);
    // What is left may be enough at another price.
    if (OVER.has(code) && left === null) forgetToken(kept);
  }
  const refused = asked ?? (await ask(options, {}));
  if (refused.status !== 402) return { response: refused };
  const mustSignIn = asksToSignIn(refused);
  if (isProven && mustSignIn) return { response: refused, unsigned: OWN_PROOF };
  if (isAsItIs && !mustSignIn) return { response: refused };
  return trySignIn(options, refused, mustSignIn);
}

async function trySignIn(options: PayOptions, refused: UrlResponse, mustSignIn: boolean): Promise<Entry> {
  const header = signInHeader(options.url, refused, options.wallet);
  if (header?.ok !== true) return notSigned(options, refused, { fault: header?.detail, mustSignIn });
  tell(options, 'sign-in', mustSignIn ? 'asked for, signed' : 'offered, signed');
  const response = await ask(options, header.value);
  if (response.status === 402) {
    if (asksToSignIn(response)) return { response, unsigned: ASKED_AGAIN };
    return mustSignIn ? { response, proof: header.value } : { response };
  }
  if (response.status === 403) {
    tell(options, 'refused', `by what the wallet is: ${reasonGiven(response) ?? '403, and the server gave no reason'}`);
    return { response };
  }
  if (response.status !== 401) return entered(options, response, 'sign-in');
  const code = problemCode(response) ?? '401';
  if (mustSignIn)
    return { response, unsigned: `is not taken: ${code}; ${reasonGiven(response) ?? 'no reason is given'}` };
  // Whoever does not take the proof may still take money.
  tell(options, 'sign-in', `is not taken: ${code}`);
  return { response: refused };
}

function notSigned(
  options: PayOptions,
  response: UrlResponse,
  { fault, mustSignIn }: { readonly fault: string | undefined; readonly mustSignIn: boolean },
): Entry {
  if (!mustSignIn) {
    if (fault !== undefined) tell(options, 'sign-in', `offered, and not signed: ${fault}`);
    return { response };
  }
  if (fault === undefined) return { response, unsigned: NOTHING_OFFERED };
  const advice = 'nothing is signed for another site; ask for it at its own address';
  return { response, unsigned: `is asked for, and not signed: ${fault}; ${advice}` };
}

/** Keeps the token of a pass that a response has brought, and tells what is left. What cannot be kept can be had again by signing in. */
export function noteToken(
  { url, wallet }: { readonly url: string; readonly wallet: string },
  { header }: UrlResponse,
  json: boolean,
): void {
  const [token, left] = [header(PASS), header(REMAINING)];
  if (left !== null) tell({ json }, 'left', `${left} of the pass`);
  if (token === null) return;
  try {
    const scope = keepToken({ url, wallet }, token);
    if (scope !== undefined) tell({ json }, 'pass', `for ${scope}, kept for the next time`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.emitWarning(`the token of the pass is not kept: ${reason}`, { code: 'TOLLHOUSE_PASSES_FILE' });
  }
}

function entered(options: PayOptions, response: UrlResponse, by: 'pass' | 'sign-in'): Entry {
  noteToken({ url: options.url, wallet: walletAddress(options.wallet) }, response, options.json);
  return { response, by };
}

async function ask(options: PayOptions, more: PayableRequest['headers']): Promise<UrlResponse> {
  const response = await askUrl({ ...options, headers: { ...options.headers, ...more } });
  tell(options, 'asked', `${options.method} ${options.url} → ${response.status}`);
  return response;
}

/** Who gives his own knows what he wants. */
function showsProof(headers: PayableRequest['headers']): boolean {
  return Object.keys(headers).some((name) => [PASS, 'sign-in-with-x', 'authorization'].includes(name.toLowerCase()));
}

function tell({ json }: Pick<PayOptions, 'json'>, label: string, text: string): void {
  if (!json) tellStep(label, text);
}
