import { fillPath, RECEIPT_PATH } from '../../http/framework/path.js';
import { ownReceiptResponse } from '../../http/payments/own-receipt-schemas.js';
import { onlyOne, readArguments, SERVER_FLAGS } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { printJson, printStep, printText } from '../output/terminal.js';
import { readResponseText } from '../session/server-client.js';
import { openSession, understood } from '../session/session.js';

const CREDIT = {
  given: ', not charged: what was paid is credit of its key there',
  used: ', paid from credit',
} as const;

const USAGE = 'tollhouse receipt <payment>';

/** `tollhouse receipt`: what a payment has paid, and to whom. */
export const receiptCommand: Command = {
  help: `tollhouse receipt <payment> [--html | --json]

What was paid, when, to whom, for what and with which transaction. A payment is named as tollhouse calls shows it, or by the
id of the payment request that it has paid. Sign in first.

  --html          a page to print, on standard output
  --json          prints what the server answers
  --server <url>  Tollhouse server (default: the one signed in to last)

Example:
  tollhouse receipt pay_7Yh3… --html > receipt.html`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      ...SERVER_FLAGS,
      html: { type: 'boolean' },
    });
    const id = onlyOne(positionals, USAGE);
    if (values.html && values.json) throw new UsageError('--html or --json, not both');
    const session = openSession(values.server);
    const path = fillPath(RECEIPT_PATH, { id });
    if (values.html) {
      const headers = { accept: 'text/html', 'sec-fetch-dest': 'document' };
      printText(await readResponseText(await session.send({ method: 'GET', path, headers })));
      return 0;
    }
    const answered = await session.get(path);
    if (values.json) printJson(answered);
    else printReceipt(answered);
    return 0;
  },
};

function printReceipt(answered: unknown): void {
  const { amount, token, mode, ...receipt } = understood(ownReceiptResponse, answered);
  printStep(receipt.status, `${amount} ${token}${mode === 'test' ? ' of test money' : ''} at ${receipt.paid_at}`);
  printStep('from', receipt.payer);
  for (const to of receipt.recipients) printStep('to', `${to.recipient}: ${to.amount} ${token}`);
  if (receipt.project !== null) printStep('project', receipt.project.slug ?? receipt.project.id);
  if (receipt.pass !== null) printStep('pass', `${receipt.pass.kind} of ${receipt.pass.covers}`);
  for (const { at, route, outcome, credit } of receipt.calls) {
    printStep('call', `${route ?? ''} ${outcome} at ${at}${credit === null ? '' : CREDIT[credit]}`);
  }
  if (receipt.reason !== null) printStep('reason', receipt.reason);
  if (receipt.tx_signature !== null) printStep('transaction', receipt.tx_signature);
  if (receipt.explorer_url !== null) printStep('see', receipt.explorer_url);
}
