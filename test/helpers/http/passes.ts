import { type PaymentHeaders, type SignedPayment, signPayment, type Wallet } from '../transactions/payments.js';

/** A pass as its buyer has it. */
export interface BoughtPass {
  readonly payment: SignedPayment;
  /** The paid response. */
  readonly paid: Response;
  /** The header that shows it. */
  readonly token: PaymentHeaders;
}

/** Pays a route, and answers what the token is that came with the response. */
export async function buyPass(wallet: Wallet, url: string, init: RequestInit = {}): Promise<BoughtPass> {
  const payment = await signPayment(wallet, url, { init });
  const paid = await fetch(url, { ...init, headers: { ...init.headers, ...payment.v2 } });
  if (paid.status >= 400) throw new Error(`${url} answered ${paid.status}: ${await paid.text()}`);
  return { payment, paid, token: { 'access-pass': paid.headers.get('access-pass') ?? '' } };
}

/** What a response says of a pass: its status, what is left, and the code of a refusal. */
export async function passAnswer(answer: Response) {
  const body = await answer.text();
  const { code } = answer.status >= 400 && body.startsWith('{') ? (JSON.parse(body) as { readonly code?: string }) : {};
  return { status: answer.status, left: answer.headers.get('access-pass-remaining'), code };
}
