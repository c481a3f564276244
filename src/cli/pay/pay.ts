import { request } from 'undici';
import { PUBLIC_RPC } from '../../facilitator/facilitator-options.js';
import { type PayableTerms, readOffers, readReceipt } from '../../protocol/wire/client.js';
import { createSolanaRpc } from '../../solana/rpc/rpc-client.js';
import { type Command, CommandError } from '../command.js';
import { printJson, printStep, secondsSince, withProgress } from '../output/terminal.js';
import { PAY_HELP, type PayOptions, readPayOptions } from './pay-options.js';
import {
  type ChosenTerms,
  chooseTerms,
  readHoldings,
  signPayment,
  type WalletHoldings,
  walletAddress,
} from './pay-terms.js';

/** Longest wait for a response: a settlement may take as long as a blockhash lives. */
const ANSWER_TIMEOUT_MS = 120_000;
const MAX_SHOWN_CHARACTERS = 4_000;

/** `tollhouse pay`: pays any x402 URL and shows each step. */
export const pay: Command = {
  name: 'pay',
  summary: 'pay an x402 URL and show each step',
  help: PAY_HELP,
  async run(args) {
    const options = readPayOptions(args);
    const unpaid = await ask(options);
    if (!options.json) printStep('asked', `${options.method} ${options.url} → ${unpaid.status}`);
    if (unpaid.status !== 402) {
      if (options.json) printOutcome(unpaid);
      else printBody(unpaid.body);
      return unpaid.status < 400 ? 0 : 1;
    }
    const offers = readOffers(unpaid.header, unpaid.body);
    if (!offers.ok) throw new CommandError(offers.detail);
    return payOffers(options, offers.value);
  },
};

async function payOffers(options: PayOptions, offers: readonly PayableTerms[]): Promise<number> {
  const network = offers[0]?.terms.network ?? 'solana';
  const rpc = createSolanaRpc({ urls: options.rpcUrl ?? PUBLIC_RPC[network] });
  try {
    const chosen = await chooseTerms(offers, options.max, rpc);
    const payer = walletAddress(options.wallet);
    const before = await readHoldings(payer, chosen, rpc);
    if (!options.json) printTerms(chosen, payer, before);
    const transaction = await signPayment(options.wallet, chosen, rpc);
    if (options.json) {
      const answer = await ask(options, paymentHeader(chosen, transaction));
      printOutcome(answer, { price: chosen.price, payer, pay_to: chosen.payable.terms.payTo });
      return answer.status < 400 ? 0 : 1;
    }
    printStep('signed', `a transfer of ${chosen.price}, ${transaction.length} bytes`);
    const since = performance.now();
    const asking = ask(options, paymentHeader(chosen, transaction));
    const paid = await withProgress('settling', 'waiting for the payment to be confirmed', asking);
    printSettlement(paid, secondsSince(since));
    printChange(chosen, before, await readHoldings(payer, chosen, rpc));
    printBody(paid.body);
    return paid.status < 400 ? 0 : 1;
  } finally {
    await rpc.close();
  }
}

function paymentHeader({ payable }: ChosenTerms, transaction: Uint8Array): Record<string, string> {
  return { [payable.headerName]: payable.headerValue(transaction) };
}

/** The outcome for programs: `receipt` is what the server's payment header says, null without one. */
function printOutcome({ status, header, body }: Answer, more: Readonly<Record<string, string>> = {}): void {
  const receipt = readReceipt(header) ?? null;
  printJson({ status, paid: receipt?.['success'] === true, ...more, receipt, body });
}

interface Answer {
  readonly status: number;
  readonly body: string;
  header(name: string): string | null;
}

async function ask(
  { url, method, headers, body }: PayOptions,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const timeouts = { headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS };
  const sent = { method, headers: { accept: '*/*', ...headers, ...more }, ...timeouts };
  const answer = await request(url, body === undefined ? sent : { ...sent, body }).catch((error: unknown) => {
    throw new CommandError(`${url} cannot be reached (${error instanceof Error ? error.message : String(error)})`);
  });
  const found = (name: string) => [answer.headers[name.toLowerCase()]].flat()[0] ?? null;
  return { status: answer.statusCode, body: await answer.body.text(), header: found };
}

function printTerms(chosen: ChosenTerms, payer: string, { payer: held }: WalletHoldings): void {
  const { terms } = chosen.payable;
  printStep('terms', `${chosen.price} to ${terms.payTo} on ${terms.network}; network fee paid by ${terms.feePayer}`);
  printStep('wallet', `${payer} holds ${held === undefined ? 'no token account for it' : chosen.show(held)}`);
}

function printSettlement({ status, header, body }: Answer, took: string): void {
  const receipt = readReceipt(header);
  if (receipt?.['success'] === true) {
    printStep('settled', `in ${took}, transaction ${String(receipt['transaction'])}`);
  } else {
    printStep('not paid', `${status}: ${reasonOf(receipt, body)}`);
  }
  printStep('answered', String(status));
}

function reasonOf(receipt: Readonly<Record<string, unknown>> | undefined, body: string): string {
  const told = receipt?.['errorMessage'] ?? receipt?.['errorReason'];
  if (typeof told === 'string') return told;
  try {
    const problem: unknown = JSON.parse(body);
    const detail: unknown = Reflect.get(Object(problem), 'detail') ?? Reflect.get(Object(problem), 'error');
    return typeof detail === 'string' ? detail : 'the server gave no reason';
  } catch {
    return 'the server gave no reason';
  }
}

function printChange(chosen: ChosenTerms, before: WalletHoldings, after: WalletHoldings): void {
  const change = (from: bigint | undefined, to: bigint | undefined) =>
    `${chosen.show(from ?? 0n)} → ${chosen.show(to ?? 0n)}`;
  printStep('payer', change(before.payer, after.payer));
  printStep('seller', change(before.recipient, after.recipient));
}

function printBody(body: string): void {
  if (body === '') return;
  console.log(
    `\n${body.length > MAX_SHOWN_CHARACTERS ? `${body.slice(0, MAX_SHOWN_CHARACTERS)}\n… (${body.length} characters)` : body}`,
  );
}
