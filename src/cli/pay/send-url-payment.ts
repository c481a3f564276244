import { refuseSpend, settleSpend } from '../budget/budget-book.js';
import { printJson, printStep, secondsSince, withProgress } from '../output/terminal.js';
import { tryPayment, type UrlResponse } from './ask-url.js';
import { noteToken } from './enter-unpaid.js';
import type { KeptPayment } from './kept-payment.js';
import {
  coveredUntil,
  type PaymentVerdict,
  printAgain,
  printBody,
  printChange,
  printOutcome,
  printSettlement,
  verdictOf,
} from './pay-report.js';
import { readHoldings } from './pay-terms.js';
import { openPayerNode } from './payer-node.js';
import { type RepeatOutcome, repeatPayment } from './repeat-payment.js';
import type { UrlPayment } from './url-payment.js';

/** How {@link sendUrlPayment} tells of it. */
export interface TellOptions {
  readonly json: boolean;
  /** It was sent before, and nobody knows what became of it. */
  readonly isResumed: boolean;
}

/**
 * Sends a payment until it is answered, and shows what came of it. Its file goes when it is answered.
 * @returns the exit code: 0 when what was paid for came
 */
export async function sendUrlPayment(sent: UrlPayment, kept: KeptPayment, options: TellOptions): Promise<number> {
  const since = performance.now();
  const outcome = await repeatPayment({
    attempt: (signal) => {
      const work = tryPayment(sent.request, signal);
      return options.json ? work : withProgress('settling', 'waiting for the payment to be confirmed', work);
    },
    // As JSON the outcome stands alone on standard output.
    onPause: (text) => (options.json ? console.error(text) : printStep('no word', text)),
  });
  const doubts = options.isResumed ? 1 : 0;
  if (!outcome.known) return tellUnknown(sent, outcome, kept, options.json);
  const decided = { response: outcome.response, doubts: outcome.doubts + doubts };
  return tellDecided(sent, decided, kept, { json: options.json, took: secondsSince(since) });
}

async function tellDecided(
  sent: UrlPayment,
  { response, doubts }: { readonly response: UrlResponse; readonly doubts: number },
  kept: KeptPayment,
  { json, took }: { readonly json: boolean; readonly took: string },
): Promise<number> {
  const verdict = verdictOf(response, doubts);
  const isServed = response.status < 400;
  // Who has paid and was refused by a server that failed comes again; so does who may have paid and was refused.
  const isOver = isServed || verdict === 'refused' || (verdict === 'paid' && response.status < 500);
  if (isOver) kept.forget();
  if (isOver) noteSpend(sent, verdict);
  const noted = () => noteToken({ url: sent.request.url, wallet: sent.payer }, response, json);
  if (json) {
    noted();
    const by = doubts === 0 && coveredUntil(response) !== undefined ? { admitted_by: 'pass' } : {};
    const facts = { ...by, price: sent.price, payer: sent.payer, pay_to: sent.payTo };
    // An attempt before may have paid, also for what came at last without a receipt.
    const paid = verdict === 'open' && (!isServed || doubts > 0) ? null : verdict === 'paid';
    printOutcome(response, paid, isOver ? facts : { ...facts, again: kept.command });
    return isServed ? 0 : 1;
  }
  printSettlement(response, took, verdict);
  noted();
  await printChange(sent, holdingsOf(sent));
  if (!isOver) printAgain(kept.command);
  printBody(response.body);
  return isServed ? 0 : 1;
}

/** What is not noted goes on to count. */
function noteSpend({ spend }: UrlPayment, verdict: PaymentVerdict): void {
  if (spend === undefined) return;
  try {
    if (verdict === 'refused') refuseSpend(spend);
    else settleSpend(spend);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error.message : String(error), { code: 'TOLLHOUSE_BUDGET' });
  }
}

async function tellUnknown(
  sent: UrlPayment,
  { told }: Extract<RepeatOutcome<UrlResponse>, { known: false }>,
  { command }: KeptPayment,
  json: boolean,
): Promise<number> {
  const { price, payer, payTo } = sent;
  if (json) {
    const facts = { price, payer, pay_to: payTo, detail: told, again: command };
    printJson({ status: null, paid: null, ...facts, receipt: null, body: '' });
    return 1;
  }
  printStep('not known', `whether ${price} was paid: ${told}`);
  await printChange(sent, holdingsOf(sent));
  printAgain(command);
  return 1;
}

async function holdingsOf(sent: UrlPayment) {
  const { rpc } = openPayerNode(sent.rpcUrl, sent.network);
  try {
    return await readHoldings(sent, rpc);
  } finally {
    await rpc.close();
  }
}
