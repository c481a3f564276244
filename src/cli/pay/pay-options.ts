import { decimalFault } from '../../protocol/money/money.js';
import type { KeypairInput } from '../../solana/keypair.js';
import { readArguments, readWallet } from '../arguments/arguments.js';
import { type PriceArgument, priceArgument } from '../arguments/price-argument.js';
import { rpcArgument } from '../arguments/rpc-argument.js';
import { readBudget, type WalletBudget } from '../budget/budget.js';
import { BUDGETS_KEPT_IN } from '../budget/budget-book.js';
import { UsageError } from '../command.js';
import type { AnswerForm } from './answers/give-answer.js';
import { PASSES_KEPT_IN } from './kept-passes.js';
import { KEPT_IN, quoted } from './kept-payment.js';

/** What `tollhouse pay` was asked to do. */
export interface PayOptions extends AnswerForm {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Wallet that pays. */
  readonly wallet: KeypairInput;
  /** RPC to ask; default: by the network of the terms. */
  readonly rpcUrl: string | undefined;
  /** Which of several prices is paid, such as `0.05 USDC`. Default: the first not over the limits that the wallet can pay. */
  readonly price: PriceArgument | undefined;
  /** Most that may be paid, as decimal text in the token's own unit. Default: a dollar of a token that is known to be worth one. */
  readonly max: string | undefined;
  /** What may be spent in a time. Default: what {@link PayOptions.max} allows, as often as it is asked for. */
  readonly budget: WalletBudget | undefined;
  /** Whether it is paid even where something that was bought before covers it. */
  readonly anew: boolean;
}

/** Help of `tollhouse pay`. */
export const PAY_HELP = `tollhouse pay <url> (--keypair <file> | --demo) [options]
tollhouse pay --resume <file> [--out <file>] [--json]

Asks for a URL, pays its price over x402, and shows each step. The body of the answer goes to standard output, byte for byte, and the
steps to standard error: "tollhouse pay <url> --keypair <file> > picture.png" saves what was bought. On a terminal the first 4,000
characters of a text are shown, and nothing of what is no text; how all of it is had is told then. What was bought there before by the same wallet is used first: the
token of a pass that is kept, else signing in, where the 402 offers it. Where a wallet has to sign in before all else it does so, for
the site that was asked alone, and pays what is asked then.

  --keypair <file>   key file of the wallet that pays (the JSON array of solana-keygen)
  --demo             pay with the sandbox chain's public demo wallet
  --rpc <url>        Solana RPC to ask (default: the sandbox with --demo, else SOLANA_RPC_URL, or the network's public one)
  --price <price>    which of several prices is paid, such as "0.05 USDC" (default: the first that is not over the limits,
                     and that the wallet can pay)
  --max <amount>     most that may be paid, in the token's own unit (default: --price, else
                     a dollar, in USDC and other stablecoins that are known)
  --budget <budget>  most that the wallet may spend in a time: "1 USDC/day", by hour, day, month (of UTC) or total
  --budget-window <w>  that time beside an amount alone, --budget 1 --budget-window 24h: what was spent counts for so long
  -X, --method <m>   HTTP method (default GET, or POST with --data)
  -H, --header <h>   a request header, "Name: value"; may be given several times
  -d, --data <text>  request body; what begins with @ is taken for the name of a file, and refused
  --data-raw <text>  request body, whatever it begins with
  --anew             pays, whatever was bought before; a pass that can be renewed goes on from its end,
                     and covers the request instead where more than one of its times is left of it
  --out <file>       writes the body of what is served to a new file; one that is there is told before anything is paid
  --json             prints the outcome for programs, and no step, with the body as text in "body"; where it is no UTF-8 that is
                     null, and "body_base64" has it; with --out the file's name is in "out" in its place
  --resume <file>    sends a payment again whose answer you have not got; no other option but --out and --json is taken

Before anything is paid, a GET or HEAD that is led elsewhere (301, 302, 303, 307, 308) goes along within its site, and to https of the
same host; what is asked and paid there is shown. Where another request is led, or to another site, is told with what to run, and the
exit code is 1. A payment goes to the address alone whose price it pays.

Where no response comes, or one that asks to come again (409, 429, 502, 503, 504), the same request goes out again with the same
payment, five times within a minute: that is never paid twice, and who has paid gets the response. A payment is kept in a file in
${KEPT_IN}, readable by you only, before it is sent, and deleted when the whole
answer is written; the file holds the request with its headers. Until then the command that sends it again is shown: while its outcome
is not known, where standard output or --out takes no more (the exit code is 1), and where a terminal was not shown all of it.
"Not paid" is said of a first answer that speaks of the payment alone: a 402 of x402, a settlement that failed, a refusal by a
Tollhouse. Any other without a receipt may be of a proxy or a network's login page, whatever its status, 200 included: it is given out,
the exit code is 1, and the payment is kept. Where a seller sends no receipts, and that was what you have bought, delete the file.
The token of a pass is kept in ${PASSES_KEPT_IN}, readable by you only, and
shown to the origin that has given it out alone.

What is paid with --budget is counted in ${BUDGETS_KEPT_IN}, for each wallet and
token, before it is sent, whatever budget it was paid under; what is paid without is not. Where less is left than the price, nothing is
paid and the exit code is 1. What has no receipt counts until the chain tells that it was not charged, some minutes at most.`;

/** A payment in a file, to be sent again. */
export interface ResumeOptions extends AnswerForm {
  readonly resume: string;
}

/** Reads the arguments. Throws UsageError with what to type instead. */
export function readPayCommand(args: readonly string[]): PayOptions | ResumeOptions {
  const { values, positionals } = readArguments(args, OPTIONS);
  const { resume, json, out } = values;
  if (out === '') throw new UsageError('--out must be the name of a file');
  if (resume === undefined) return readPayOptions(values, positionals);
  const named = (
    [
      'keypair',
      'demo',
      'rpc',
      'price',
      'max',
      'budget',
      'budget-window',
      'anew',
      'method',
      'header',
      'data',
      'data-raw',
    ] as const
  ).filter((it) => values[it]);
  if (positionals.length + named.length > 0)
    throw new UsageError('--resume sends what is in its file, and takes nothing else but --json and --out');
  return { resume, json, out };
}

type Arguments = ReturnType<typeof readArguments<typeof OPTIONS>>;

function readPayOptions(values: Arguments['values'], positionals: readonly string[]): PayOptions {
  const [url, ...rest] = positionals;
  if (url === undefined || rest.length > 0)
    throw new UsageError('give one URL: npx tollhouse pay http://127.0.0.1:4020/demo --demo');
  const price = values.price === undefined ? undefined : priceArgument('--price', values.price);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`"${url}" is not a URL; it starts with http:// or https://`);
  const body = readBody(values);
  return {
    url,
    method: readMethod(values.method) ?? (body === undefined ? 'GET' : 'POST'),
    headers: Object.fromEntries((values.header ?? []).map(readHeaderArgument)),
    body,
    wallet: requireWallet(readWallet(values.keypair, values.demo)),
    rpcUrl: rpcArgument(values, undefined),
    price,
    max: readMax(values.max) ?? price?.amount,
    budget: readBudget(values.budget, values['budget-window']),
    anew: values.anew,
    json: values.json,
    out: values.out,
  };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
// RFC 9110, 5.6.2.
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Methods are told from others by their case: what is typed small means the one that everybody knows. */
function readMethod(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!TOKEN.test(text)) throw new UsageError(`--method (-X) must be an HTTP method, such as POST, not "${text}"`);
  const known = text.toUpperCase();
  return METHODS.includes(known) ? known : text;
}

/** As no file is read, what is typed as the name of one would be paid for as if it were the body. */
function readBody({ data, 'data-raw': raw }: Pick<Arguments['values'], 'data' | 'data-raw'>): string | undefined {
  if (data !== undefined && raw !== undefined) throw new UsageError('--data or --data-raw, not both');
  if (!data?.startsWith('@')) return data ?? raw;
  throw new UsageError(
    `--data (-d) takes the body itself, and "${data}" looks like the name of a file; its text is sent by -d "$(cat ${quoted(data.slice(1))})", and what does begin with @ by --data-raw`,
  );
}

function readMax(text: string | undefined): string | undefined {
  const fault = text === undefined ? undefined : decimalFault(text);
  if (fault !== undefined)
    throw new UsageError(`--max takes an amount in the token's own unit, such as 0.01: ${fault}`);
  return text;
}

const OPTIONS = {
  keypair: { type: 'string' },
  demo: { type: 'boolean', default: false },
  rpc: { type: 'string' },
  price: { type: 'string' },
  max: { type: 'string' },
  budget: { type: 'string' },
  'budget-window': { type: 'string' },
  anew: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  method: { type: 'string', short: 'X' },
  header: { type: 'string', short: 'H', multiple: true },
  data: { type: 'string', short: 'd' },
  'data-raw': { type: 'string' },
  out: { type: 'string' },
  resume: { type: 'string' },
} as const;

function readHeaderArgument(text: string): [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new UsageError(`--header (-H) "${text}" must have the form "Name: value"`);
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

function requireWallet(wallet: KeypairInput | undefined): KeypairInput {
  if (wallet !== undefined) return wallet;
  throw new UsageError(
    'say which wallet pays: --keypair <file>, which "npx tollhouse keygen" makes, or --demo on the sandbox chain',
  );
}
