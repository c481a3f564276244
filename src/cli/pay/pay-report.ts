import { defined } from '../../lib/defined.js';
import { readReceipt } from '../../protocol/wire/client.js';
import { tellStep } from '../output/terminal.js';
import { type AnswerForm, giveJson } from './answers/give-answer.js';
import { coveredUntil, type PaymentVerdict, verdictOf } from './answers/payment-verdict.js';
import { leadsTo } from './answers/redirect.js';
import { type PayableRequest, reasonGiven, type UrlResponse } from './ask-url.js';
import { type AffordableTerms, showAmount, type WalletHoldings } from './pay-terms.js';
import type { UrlPayment } from './url-payment.js';

/**
 * Shows what the payer is asked for, and what he holds.
 * @param offered - how many prices there were to choose from
 */
export function printTerms(chosen: AffordableTerms, payer: string, offered: number): void {
  const held = chosen.before.payer;
  const { terms } = chosen.payable;
  tellStep('terms', `${chosen.price} to ${terms.payTo} on ${terms.network}; network fee paid by ${terms.feePayer}`);
  if (offered > 1) tellStep('', `one of ${offered} prices; --price chooses another`);
  const shown = held === undefined ? 'no token account for it' : showAmount(held, chosen.paidIn);
  tellStep('wallet', `${payer} holds ${shown}`);
}

/** Why a request was asked to pay once more though it had its payment, where its method tells. */
export function headBuysNothing({ method }: PayableRequest, { status }: UrlResponse): string | undefined {
  if (method.toUpperCase() !== 'HEAD' || status !== 402) return undefined;
  return 'a HEAD has no body, and gates sell nothing for it: pay with -X GET';
}

/** Shows what a response says of the payment. */
export function printSettlement(
  { request }: Pick<UrlPayment, 'request'>,
  response: UrlResponse,
  { took, verdict }: { readonly took: string; readonly verdict: PaymentVerdict },
): void {
  if (verdict === 'paid') {
    const receipt = readReceipt(response.header);
    const transaction = String(receipt?.['transaction']);
    if (receipt?.['success'] === true) tellStep('settled', `in ${took}, transaction ${transaction}`);
    else
      tellStep(
        'was paid',
        `transaction ${transaction}; it brings nothing more here. Do not pay again: show this to the seller`,
      );
  } else {
    printUnsettled(response, verdict, headBuysNothing(request, response));
  }
  const credit = creditIn(response);
  if (credit !== undefined) tellStep('credit', credit);
  tellStep('answered', String(response.status));
  const location = leadsTo(request.url, response);
  if (location !== undefined) tellStep('leads to', `${location}, where the payment is not sent`);
}

const SAYS_NOTHING = 'the answer says nothing of the payment';

function printUnsettled(response: UrlResponse, verdict: PaymentVerdict, known: string | undefined): void {
  const ends = coveredUntil(response);
  if (ends !== undefined) {
    tellStep('uncharged', `the wallet has a pass here until ${ends}, which has let this request in`);
    tellStep('', 'it is prolonged when less than one of its times is left; another wallet pays now');
    return;
  }
  const reason = `${response.status}: ${known ?? reasonGiven(response) ?? SAYS_NOTHING}`;
  tellStep(verdict === 'refused' ? 'not paid' : 'not known', reason);
  if (verdict === 'open' && response.status < 400)
    tellStep('', 'it has no receipt: it may be what was bought, or the page of somebody in between');
}

/** Shows what the payment has changed; a chain that cannot be asked is told, and no reason to fail. */
export async function printChange({ before, paidIn }: UrlPayment, after: Promise<WalletHoldings>): Promise<void> {
  const now = await after.catch(() => undefined);
  if (now === undefined) return tellStep('balances', 'cannot be read: the chain does not answer');
  const show = (units: bigint | undefined) => showAmount(units ?? 0n, paidIn);
  tellStep('payer', `${show(before.payer)} → ${show(now.payer)}`);
  tellStep('seller', `${show(before.recipient)} → ${show(now.recipient)}`);
}

/**
 * Shows how the same payment is sent again.
 * @param response - to what was sent last, which may have refused it: that promises nothing then
 */
export function printAgain(command: string, response?: UrlResponse): void {
  tellStep('again', command);
  const isRefused = response !== undefined && verdictOf(response, 0) === 'refused';
  const isCredit = response !== undefined && creditIn(response) !== undefined;
  const bought = isCredit ? 'its credit pays the call, once that is served' : 'brings the response that it has bought';
  const brings = isRefused ? 'but the server has just refused it' : `and ${bought}`;
  tellStep('', `sends the same payment again: it is never taken twice, ${brings}`);
  if (isRefused)
    tellStep('', 'see what the wallet has paid, above and on the chain, and ask the seller before you pay anew');
}

/**
 * Shows how all of a body is had that a terminal was not given.
 * @param command - that sends the payment of it again; undefined where it has cost none
 */
export function printWhole(command: string | undefined): void {
  if (command === undefined) return tellStep('whole', 'with --out <file>, or with standard output in a file or a pipe');
  tellStep('whole', `${command} --out <file>`);
  tellStep('', 'brings all of it for the same payment, which is never taken twice, and is kept until then');
}

/** What a gateway says of credit: what was paid for a call that was not served, and pays another. */
function creditIn({ header }: UrlResponse): string | undefined {
  return header('access-credit') ?? undefined;
}

/**
 * Gives out the outcome for programs: `receipt` is what the server's payment header says, null without one.
 * @returns that it is all of it
 * @throws CommandError where it cannot be written
 */
export async function giveOutcome(
  response: UrlResponse,
  paid: boolean | null,
  more: Readonly<Record<string, string>>,
  form: AnswerForm,
): Promise<true> {
  const { status, header } = response;
  const told = defined({ credit: creditIn(response), pass_left: header('access-pass-remaining') ?? undefined });
  return giveJson({ status, paid, ...more, receipt: readReceipt(header) ?? null, ...told }, response, form);
}
