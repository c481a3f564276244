import { defined } from '../../lib/defined.js';
import { type PayableTerms, readOffers } from '../../protocol/wire/client.js';
import { giveSpendBack } from '../budget/budget-book.js';
import { openBudget } from '../budget/open-budget.js';
import { type Command, CommandError } from '../command.js';
import { printStep } from '../output/terminal.js';
import { asksToSignIn } from './ask-url.js';
import { askUnpaid } from './enter-unpaid.js';
import { type KeptPayment, keepPayment, readKeptPayment } from './kept-payment.js';
import { PAY_HELP, type PayOptions, readPayCommand } from './pay-options.js';
import { printBody, printOutcome, printTerms } from './pay-report.js';
import { chooseTerms, readHoldingsBefore, requireEnough, signPayment, walletAddress } from './pay-terms.js';
import { openPayerNode } from './payer-node.js';
import { sendUrlPayment } from './send-url-payment.js';
import { type UrlPayment, urlPayment, writable } from './url-payment.js';

const COMMAND = 'tollhouse pay';

/** `tollhouse pay`: pays any x402 URL and shows each step. */
export const pay: Command = {
  help: PAY_HELP,
  async run(args) {
    const asked = readPayCommand(args);
    return 'resume' in asked ? resume(asked) : payUrl(asked);
  },
};

async function payUrl(options: PayOptions): Promise<number> {
  const { json } = options;
  const { response: unpaid, by } = await askUnpaid(options);
  if (unpaid.status !== 402 || asksToSignIn(unpaid)) {
    if (json) printOutcome(unpaid, false, defined({ admitted_by: by }));
    else printBody(unpaid.body);
    return unpaid.status < 400 ? 0 : 1;
  }
  const offers = readOffers(unpaid.header, unpaid.body);
  if (!offers.ok) throw new CommandError(offers.detail);
  const sent = await preparePayment(options, offers.value);
  return sendUrlPayment(sent, keep(sent), { json, isResumed: false });
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

function resume(asked: { readonly resume: string; readonly json: boolean }): Promise<number> {
  const { payment, kept } = readKeptPayment(asked.resume, urlPayment, COMMAND);
  const { request, price, payer } = payment;
  if (!asked.json) printStep('again', `${request.method} ${request.url} with the payment of ${price} by ${payer}`);
  return sendUrlPayment(payment, kept, { json: asked.json, isResumed: true });
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
    const chosen = await chooseTerms(offers, { price: options.price, max: options.max, budget }, node);
    const { payable, paidIn, price } = chosen;
    const { payTo, amount } = payable.terms;
    if (payTo === payer)
      throw new CommandError('payer and recipient are the same wallet; pay with another one; nothing was paid');
    const before = await readHoldingsBefore({ payer, payTo, paidIn }, payable.terms, node);
    if (!json) printTerms(chosen, payer, before, offers.length);
    requireEnough(chosen, payer, before);
    const transaction = await signPayment(options.wallet, chosen, rpc);
    if (!json) printStep('signed', `a transfer of ${price}, ${transaction.length} bytes`);
    const payment = { [payable.headerName]: payable.headerValue(transaction) };
    const request = { url, method, headers: { ...headers, ...payment }, body };
    const spend = await budget?.take({ paidIn, amount }, transaction);
    return { request, price, payer, payTo, paidIn, network, rpcUrl, before, ...defined({ spend }) };
  } finally {
    await rpc.close();
  }
}
