import { defined } from '../../lib/defined.js';
import { type PayableTerms, readOffers } from '../../protocol/wire/client.js';
import { giveSpendBack } from '../budget/budget-book.js';
import { openBudget } from '../budget/open-budget.js';
import { type Command, CommandError } from '../command.js';
import { tellStep } from '../output/terminal.js';
import { giveBody, requireNewFile } from './answers/give-answer.js';
import { asksToSignIn, bodyText, reasonGiven } from './ask-url.js';
import { askUnpaid } from './enter-unpaid.js';
import { type KeptPayment, keepPayment, readKeptPayment } from './kept-payment.js';
import { PAY_HELP, type PayOptions, type ResumeOptions, readPayCommand } from './pay-options.js';
import { giveOutcome, printTerms, printWhole } from './pay-report.js';
import { chooseTerms, signPayment, walletAddress } from './pay-terms.js';
import { openPayerNode } from './payer-node.js';
import { sendUrlPayment } from './send-url-payment.js';
import { type UrlPayment, urlPayment, writable } from './url-payment.js';

const COMMAND = 'tollhouse pay';

/** `tollhouse pay`: pays any x402 URL and shows each step. */
export const pay: Command = {
  help: PAY_HELP,
  async run(args) {
    const asked = readPayCommand(args);
    requireNewFile(asked.out);
    return 'resume' in asked ? resume(asked) : payUrl(asked);
  },
};

async function payUrl(options: PayOptions): Promise<number> {
  const { response: unpaid, url, by, proof, unsigned } = await askUnpaid(options);
  if (unpaid.status !== 402 || asksToSignIn(unpaid)) {
    if (unsigned !== undefined && !options.json) tellStep('sign-in', unsigned);
    const told = defined({ admitted_by: by, detail: unsigned && `the sign-in ${unsigned}` });
    if (options.json) await giveOutcome(unpaid, false, told, options);
    else if (!(await giveBody(unpaid, options))) printWhole(undefined);
    return unpaid.status < 400 ? 0 : 1;
  }
  const offers = readOffers(unpaid.header, bodyText(unpaid));
  if (!offers.ok) {
    const reason = reasonGiven(unpaid);
    throw new CommandError(`${offers.detail}${reason === undefined ? '' : `; the server says: ${reason}`}`);
  }
  const sent = await preparePayment({ ...options, url, headers: { ...options.headers, ...proof } }, offers.value);
  return sendUrlPayment(sent, keep(sent), { form: options, isResumed: false });
}

/** What cannot be kept is not sent, and so it has taken nothing of its budget. */
function keep(sent: UrlPayment): KeptPayment {
  try {
    return keepPayment(COMMAND, writable(sent));
  } catch (error) {
    if (sent.spend !== undefined) giveSpendBack(sent.spend);
    throw error;
  }
}

function resume(asked: ResumeOptions): Promise<number> {
  const { payment, kept } = readKeptPayment(asked.resume, urlPayment, COMMAND);
  const { request, price, payer } = payment;
  if (!asked.json) tellStep('again', `${request.method} ${request.url} with the payment of ${price} by ${payer}`);
  return sendUrlPayment(payment, kept, { form: asked, isResumed: true });
}

/** Chooses the terms and signs, without sending anything. */
async function preparePayment(options: PayOptions, offers: readonly PayableTerms[]): Promise<UrlPayment> {
  const { url, method, headers, body, rpcUrl, json } = options;
  const network = offers[0]?.terms.network ?? 'solana';
  const node = openPayerNode(rpcUrl, network);
  const { rpc } = node;
  try {
    const payer = walletAddress(options.wallet);
    const budget = options.budget && openBudget(options.budget, { payer, network }, rpc);
    const chosen = await chooseTerms(offers, { price: options.price, max: options.max, budget, payer }, node);
    const { payable, paidIn, price, before } = chosen;
    const { payTo, amount } = payable.terms;
    if (payTo === payer)
      throw new CommandError('payer and recipient are the same wallet; pay with another one; nothing was paid');
    if (!json) printTerms(chosen, payer, offers.length);
    const transaction = await signPayment(options.wallet, chosen, rpc);
    if (!json) tellStep('signed', `a transfer of ${price}, ${transaction.length} bytes`);
    const payment = { [payable.headerName]: payable.headerValue(transaction) };
    const request = { url, method, headers: { ...headers, ...payment }, body };
    const spend = await budget?.take({ paidIn, amount }, transaction);
    return { request, price, payer, payTo, paidIn, network, rpcUrl, before, ...defined({ spend }) };
  } finally {
    await rpc.close();
  }
}
