import { PAYMENTS_PATHS } from '../../http/payments/schemas.js';
import { addressOf } from '../../protocol/address.js';
import { signTransaction } from '../../solana/building/sign-transaction.js';
import { type KeypairInput, readKeypair } from '../../solana/keypair.js';
import { none, readArguments, readWallet } from '../arguments/arguments.js';
import { checkTransferFlags } from '../arguments/transfer-flags.js';
import { type Command, CommandError, UsageError } from '../command.js';
import { printJson, printStep } from '../output/terminal.js';
import { serverOf } from '../session/credentials.js';
import { namingFlags } from '../session/name-flags.js';
import { DEFAULT_SERVER, postJson } from '../session/server-client.js';
import { type AskedTransfer, requireAskedTransfer } from './asked-transfer.js';
import { KEPT_IN, keepPayment, readKeptPayment } from './kept-payment.js';
import { type SignedPayment, settleCreated, signedPayment } from './settle-created.js';

const COMMAND = 'tollhouse create-payment';
const OPTIONS = {
  amount: { type: 'string' },
  token: { type: 'string' },
  recipient: { type: 'string' },
  memo: { type: 'string' },
  network: { type: 'string' },
  keypair: { type: 'string' },
  demo: { type: 'boolean' },
  server: { type: 'string' },
  resume: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

type Arguments = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

/** `tollhouse create-payment`: asks for a payment, and pays it where a wallet is named. */
export const createPayment: Command = {
  help: `tollhouse create-payment --amount <n> --token <symbol> --recipient <wallet> [options]
tollhouse create-payment --resume <file> [--json]

Creates a payment request. With a wallet it is signed and settled at once; without, its Solana Pay link is shown.

  --amount <n>         in the token's own unit, 0.5 for half a dollar
  --token <symbol>     SOL, USDC, USDT or the address of a mint
  --recipient <wallet> who receives
  --memo <text>        a note that goes with the payment
  --network <name>     network that it is paid on, such as solana-devnet, where the server is on several (default: its first)
  --keypair <file>     key file of the wallet that pays
  --demo               pay with the sandbox chain's public demo wallet
  --server <url>       Tollhouse server to ask (default: the one signed in to last, or ${DEFAULT_SERVER})
  --json               prints what the server answers: of the settlement, where a wallet pays
  --resume <file>      settles a signed payment again whose outcome is not known; no other option but --json is needed

A signed payment whose outcome is not told is settled again with the same transaction, five times within a minute: that is never paid
twice. It is kept in a file in ${KEPT_IN}, readable by you only, before it is sent,
and deleted when its outcome is known and written; until then the command that settles it again is shown.`,
  async run(args) {
    const { values, positionals } = readArguments(args, OPTIONS);
    none(positionals, `${COMMAND} --amount <n> --token <symbol> --recipient <wallet>`);
    return values.resume === undefined ? create(values) : resume(values, values.resume);
  },
};

/** Which option fills which field. */
const FIELDS = {
  '/amount': '--amount',
  '/token': '--token',
  '/recipient': '--recipient',
  '/memo': '--memo',
  '/network': '--network',
} as const;

async function create({ server: named, json, ...values }: Arguments): Promise<number> {
  const server = serverOf(named);
  const { amount, token, recipient, memo, network } = values;
  if (amount === undefined || token === undefined || recipient === undefined) {
    throw new UsageError(`--amount, --token and --recipient are needed; see npx ${COMMAND} --help`);
  }
  const wallet = readWallet(values.keypair, values.demo);
  const payer = wallet === undefined ? undefined : addressOf(readKeypair(wallet, COMMAND).publicKey);
  checkTransferFlags({ amount, token, recipient, memo }, payer);
  const asked = postJson(server, PAYMENTS_PATHS.create, { amount, token, recipient, memo, network, payer });
  const created = await namingFlags(FIELDS, asked);
  const what = `${amount} ${token} to ${recipient}`;
  if (json && wallet === undefined) printJson(created);
  if (!json) printStep('payment', `${String(created['payment_id'])}: ${what}`);
  if (wallet === undefined) {
    if (!json) printStep('link', String(created['solana_pay_url']));
    return 0;
  }
  const signed = { server, what, settle: sign(created, wallet, { amount, token, recipient, memo }) };
  return settleCreated(signed, keepPayment(COMMAND, signed), { json, isResumed: false });
}

async function resume({ json, ...values }: Arguments, path: string): Promise<number> {
  const named = Object.keys(values).filter((it) => it !== 'resume');
  if (named.length > 0) throw new UsageError('--resume sends what is in its file, and takes nothing else but --json');
  const { payment, kept } = readKeptPayment(path, signedPayment, COMMAND);
  if (!json) printStep('again', `${payment.settle.payment_id}: ${payment.what}`);
  return settleCreated(payment, kept, { json, isResumed: true });
}

function sign(created: Record<string, unknown>, wallet: KeypairInput, asked: AskedTransfer): SignedPayment['settle'] {
  const serialized: unknown = Reflect.get(Object(created['transaction']), 'serialized');
  if (typeof serialized !== 'string') throw new CommandError('the server answered no transaction to sign');
  const signed = signTransaction(Buffer.from(serialized, 'base64'), wallet);
  requireAskedTransfer(signed, asked, addressOf(readKeypair(wallet, COMMAND).publicKey));
  return { payment_id: String(created['payment_id']), signed_transaction: Buffer.from(signed).toString('base64') };
}
