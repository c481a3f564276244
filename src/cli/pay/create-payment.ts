import { PAYMENTS_PATHS } from '../../http/payments/schemas.js';
import { addressOf } from '../../protocol/address.js';
import { signTransaction } from '../../solana/building/sign-transaction.js';
import { type KeypairInput, readKeypair } from '../../solana/keypair.js';
import { readArguments, readWallet } from '../arguments/arguments.js';
import { type Command, CommandError, UsageError } from '../command.js';
import { printJson, printStep, withProgress } from '../output/terminal.js';
import { DEFAULT_SERVER, postJson } from '../session/server-client.js';

/** `tollhouse create-payment`: asks for a payment, and pays it where a wallet is named. */
export const createPayment: Command = {
  name: 'create-payment',
  summary: 'ask for a payment, and pay it with a wallet',
  help: `tollhouse create-payment --amount <n> --token <symbol> --recipient <wallet> [options]

Creates a payment request. With a wallet it is signed and settled at once; without, its Solana Pay link is shown.

  --amount <n>         in the token's own unit, 0.5 for half a dollar
  --token <symbol>     SOL, USDC, USDT or the address of a mint
  --recipient <wallet> who receives
  --memo <text>        a note that goes with the payment
  --keypair <file>     key file of the wallet that pays
  --demo               pay with the sandbox chain's public demo wallet
  --server <url>       Tollhouse server to ask (default ${DEFAULT_SERVER})
  --json               prints what the server answers: of the settlement, where a wallet pays`,
  async run(args) {
    const { values } = readArguments(args, {
      amount: { type: 'string' },
      token: { type: 'string' },
      recipient: { type: 'string' },
      memo: { type: 'string' },
      keypair: { type: 'string' },
      demo: { type: 'boolean' },
      server: { type: 'string', default: DEFAULT_SERVER },
      json: { type: 'boolean' },
    });
    const { amount, token, recipient, memo, server, json } = values;
    if (amount === undefined || token === undefined || recipient === undefined) {
      throw new UsageError('--amount, --token and --recipient are needed; see tollhouse create-payment --help');
    }
    const wallet = readWallet(values.keypair, values.demo);
    const payer =
      wallet === undefined ? undefined : addressOf(readKeypair(wallet, 'tollhouse create-payment').publicKey);
    const created = await postJson(server, PAYMENTS_PATHS.create, { amount, token, recipient, memo, payer });
    if (json) {
      printJson(wallet === undefined ? created : await settle(server, created, wallet));
      return 0;
    }
    printStep('payment', `${String(created['payment_id'])}: ${amount} ${token} to ${recipient}`);
    if (wallet === undefined) printStep('link', String(created['solana_pay_url']));
    else {
      const settling = settle(server, created, wallet);
      const settled = await withProgress('settling', 'waiting for the payment to be confirmed', settling);
      printStep('settled', `transaction ${String(settled['tx_signature'])}`);
      printStep('explorer', String(settled['explorer_url']));
    }
    return 0;
  },
};

async function settle(
  server: string,
  created: Record<string, unknown>,
  wallet: KeypairInput,
): Promise<Record<string, unknown>> {
  const serialized: unknown = Reflect.get(Object(created['transaction']), 'serialized');
  if (typeof serialized !== 'string') throw new CommandError('the server answered no transaction to sign');
  const signed = signTransaction(Buffer.from(serialized, 'base64'), wallet);
  const body = { payment_id: created['payment_id'], signed_transaction: Buffer.from(signed).toString('base64') };
  return postJson(server, PAYMENTS_PATHS.settle, body);
}
