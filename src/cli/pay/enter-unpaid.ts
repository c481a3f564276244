import { tellStep } from '../output/terminal.js';
import { asksToSignIn, askUrl, type PayableRequest, problemCode, type UrlResponse } from './ask-url.js';
import { forgetToken, keepToken, tokensFor } from './kept-passes.js';
import type { PayOptions } from './pay-options.js';
import { walletAddress } from './pay-terms.js';
import { signInHeader } from './sign-in-header.js';

/** How a request was answered that has not paid. */
export interface UnpaidAnswer {
  readonly response: UrlResponse;
  /** What has let it in; missing where nothing has, or nothing was asked for. */
  readonly by?: 'pass' | 'sign-in';
}

/** Header of the token of a pass, and what is left. */
const PASS = 'access-pass';
const REMAINING = 'access-pass-remaining';
/** A token of these is good for nothing, and that does not change. */
const OVER = new Set(['invalid_pass', 'pass_revoked', 'pass_ended', 'pass_used_up', 'pass_of_another_site']);

/**
 * Asks for a URL by what its payer has bought there before: with the tokens that are kept for it, then by signing in, where the
 * 402 offers that. Where neither lets it in, the answer is the 402 to be paid.
 */
export async function askUnpaid(options: PayOptions): Promise<UnpaidAnswer> {
  const wallet = walletAddress(options.wallet);
  const isAsItIs = options.anew || showsProof(options.headers);
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
  if (refused.status !== 402 || isAsItIs || asksToSignIn(refused)) return { response: refused };
  return trySignIn(options, refused);
}

async function trySignIn(options: PayOptions, refused: UrlResponse): Promise<UnpaidAnswer> {
  const header = signInHeader(options.url, refused, options.wallet);
  if (header?.ok === false) tell(options, 'sign-in', `offered, and not signed: ${header.detail}`);
  if (!header?.ok) return { response: refused };
  tell(options, 'sign-in', 'offered, signed');
  const response = await ask(options, header.value);
  if (response.status === 402) return { response };
  if (response.status !== 401) return entered(options, response, 'sign-in');
  // Whoever does not take the proof may still take money.
  tell(options, 'sign-in', `is not taken: ${problemCode(response) ?? 401}`);
  return { response: refused };
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

function entered(options: PayOptions, response: UrlResponse, by: 'pass' | 'sign-in'): UnpaidAnswer {
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
