import { defined } from '../../lib/defined.js';
import { settleSpend } from '../budget/budget-book.js';
import { jsonText, secondsSince, tellStep, withProgress } from '../output/terminal.js';
import { writeOut } from '../output/write-out.js';
import { type AnswerForm, giveBody } from './answers/give-answer.js';
import { coveredUntil, isServed, verdictOf } from './answers/payment-verdict.js';
import { leadsTo } from './answers/redirect.js';
import { tryPayment, type UrlResponse } from './ask-url.js';
import { noteToken } from './enter-unpaid.js';
import { type KeptPayment, orAgain } from './kept-payment.js';
import { giveOutcome, headBuysNothing, printAgain, printChange, printSettlement, printWhole } from './pay-report.js';
import { readHoldings } from './pay-terms.js';
import { openPayerNode } from './payer-node.js';
import { type RepeatOutcome, repeatPayment } from './repeat-payment.js';
import type { UrlPayment } from './url-payment.js';

/** How {@link sendUrlPayment} tells of it. */
export interface TellOptions {
  readonly form: AnswerForm;
  /** It was sent before, and nobody knows what became of it. */
  readonly isResumed: boolean;
}

/**
 * Sends a payment until it is answered, and shows what came of it. Its file goes when the whole answer is
 * given out, so that whatever ends the process before leaves the payment to be sent again.
 * @returns the exit code: 0 when what was paid for came
 * @throws CommandError where the answer cannot be written; it tells the command that brings it again
 */
export async function sendUrlPayment(
  sent: UrlPayment,
  kept: KeptPayment,
  { form, isResumed }: TellOptions,
): Promise<number> {
  const since = performance.now();
  const outcome = await repeatPayment({
    attempt: (signal) => {
      const work = tryPayment(sent.request, signal);
      return form.json ? work : withProgress('settling', 'waiting for the payment to be confirmed', work);
    },
    // As JSON the outcome stands alone on standard output.
    onPause: (text) => (form.json ? console.error(text) : tellStep('no word', text)),
  });
  const doubts = isResumed ? 1 : 0;
  if (!outcome.known) return tellUnknown(sent, outcome, kept, form.json);
  const decided = { response: outcome.response, doubts: outcome.doubts + doubts };
  return tellDecided(sent, decided, kept, { form, took: secondsSince(since) });
}

interface Decided {
  readonly response: UrlResponse;
  readonly doubts: number;
}

async function tellDecided(
  sent: UrlPayment,
  decided: Decided,
  kept: KeptPayment,
  { form, took }: { readonly form: AnswerForm; readonly took: string },
): Promise<number> {
  const { response, doubts } = decided;
  const verdict = verdictOf(response, doubts);
  const isTaken = isServed(response, verdict);
  // Who has paid and was refused by a server that failed comes again; so does who may have paid.
  const isOver = isTaken || verdict === 'refused' || (verdict === 'paid' && response.status < 500);
  if (verdict === 'paid') noteSpend(sent);
  if (verdict === 'refused') kept.forget();
  if (!form.json) printSettlement(sent, response, { took, verdict });
  noteToken({ url: sent.request.url, wallet: sent.payer }, response, form.json);
  const again = verdict === 'refused' ? undefined : kept.command;
  const isWhole = await orAgain(again, () =>
    form.json
      ? giveOutcome(response, PAID[verdict], factsOf(sent, decided, isOver ? undefined : again), form)
      : giveBody(response, form),
  );
  if (isOver && isWhole) kept.forget();
  if (form.json) return isTaken ? 0 : 1;
  if (!isOver) printAgain(kept.command, response);
  else if (!isWhole) printWhole(again);
  // Last, as nobody has to wait for a chain who has his answer.
  await printChange(sent, holdingsOf(sent));
  return isTaken ? 0 : 1;
}

const PAID = { paid: true, refused: false, open: null } as const;

function factsOf(
  { price, payer, payTo, request }: UrlPayment,
  { response, doubts }: Decided,
  again: string | undefined,
) {
  const by = doubts === 0 && coveredUntil(response) !== undefined ? 'pass' : undefined;
  const told = { detail: headBuysNothing(request, response), location: leadsTo(request.url, response), again };
  return defined({ admitted_by: by, price, payer, pay_to: payTo, ...told });
}

/** What is not noted counts until the chain tells that it has charged nothing. */
function noteSpend({ spend }: UrlPayment): void {
  if (spend === undefined) return;
  try {
    settleSpend(spend);
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
    const outcome = { status: null, paid: null, ...facts, receipt: null, body: '' };
    await orAgain(command, () => writeOut(`${jsonText(outcome, 2)}\n`));
    return 1;
  }
  tellStep('not known', `whether ${price} was paid: ${told}`);
  printAgain(command);
  await printChange(sent, holdingsOf(sent));
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
