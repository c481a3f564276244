import { TollhouseError } from '../../errors/errors.js';
import { createFacilitator } from '../../facilitator/create-facilitator.js';
import type { Refund } from '../../facilitator/types.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import { connectChain } from '../../server/chain-parts.js';
import { RpcError } from '../../solana/rpc/rpc.js';
import type { RefundFault } from '../../storage/payouts/refund-store.js';
import { readArguments } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { printJson, printStep } from '../output/terminal.js';
import { reportError } from '../report-error.js';
import { moneyText } from './booked-token.js';
import { configuredOn, NETWORK_HELP } from './configured-network.js';
import { requireSchema } from './current-schema.js';
import { withStorage } from './with-storage.js';

const NAME = 'tollhouse refund';

/** `tollhouse refund`: what a payment has left its payer is paid back on the chain. */
export const refundCommand: Command = {
  help: `tollhouse refund <payment> [--network <name>] [--json]

Pays back what is left of a payment, by its id: of credit what is left, of uses the whole price as long as none was used; a time
is not paid back. It is out of use from then on. Asked again it pays nothing twice: a refund that is under way is gone on with.

  --network <name>   ${NETWORK_HELP}
  --json             for programs

Exit code 0: it is paid; 1: it is not, or not yet, and the reason is told; 2: it could not be found out.

Environment, as of the server:
  DATABASE_URL                          default sqlite:./data/tollhouse.db
  SOLANA_NETWORK, FACILITATOR_KEYPAIR   cluster, and the key that pays network fees
  REFUND_KEYPAIR                        key of the wallet that pays
  REFUND_MAX, REFUND_MAX_PER_DAY        most that one refund pays, and all within 24 hours (default $10, $100)
  SOLANA_RPC_URL                        your RPC provider`,
  async run(args) {
    const { values, positionals } = readArguments(args, { json: { type: 'boolean' }, network: { type: 'string' } });
    const [paymentId, ...more] = positionals;
    if (paymentId === undefined || more.length > 0)
      throw new UsageError(`one payment at a time: npx ${NAME} <payment>`);
    const isJson = values.json === true;
    try {
      return await refund(paymentId, values.network, isJson);
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof TollhouseError)) throw error;
      reportError(error, isJson, 'nothing was refunded: ');
      return error instanceof TollhouseError && REFUSED.has(error.code) ? 1 : 2;
    }
  },
};

/** Why a refund has failed, or is still open, in words. */
const WHY: Readonly<Record<RefundFault, string>> = {
  credit_used: 'what was left was used first',
  refund_wallet_short: 'the refund wallet holds too little',
  refund_wallet_replaced: 'another key pays refunds now than the one that it was begun with',
  recipient_token_account_missing: 'the payer has no token account any more',
  recipient_token_account_not_owned: "the payer's token account belongs to somebody else now",
  transfer_refused: 'the token program refuses the transfer to the payer',
  failed_on_chain: 'its transaction failed on the chain',
  expired: 'its transaction did not land in time',
  unknown_refund:
    'the refund wallet has paid its payer by a transaction that the books do not know; look whether it was for this payment',
  outcome_unknown: 'no node can say any more whether its transaction landed',
};

/** Errors that say that nothing is paid back. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['payment_not_found', 'nothing_to_refund', 'refund_limit_reached', 'payment_in_progress'],
]);

async function refund(paymentId: string, network: string | undefined, isJson: boolean): Promise<number> {
  const configuration = configuredOn(network);
  const { databaseUrl, chain, tokens } = configuration;
  if (chain?.refunds === undefined) {
    throw new UsageError(
      'no wallet pays refunds: set SOLANA_NETWORK, FACILITATOR_KEYPAIR, SOLANA_RPC_URL and REFUND_KEYPAIR',
    );
  }
  await requireSchema(databaseUrl);
  const { facilitatorOptions } = await connectChain(configuration);
  return withStorage(databaseUrl, async (storage) => {
    const facilitator = createFacilitator({ ...facilitatorOptions, storage, blockhashHints: false, check: false });
    try {
      const done = await facilitator.refund(paymentId);
      if (isJson) printJson(done);
      else tell(done, chain.network, tokens);
      return done.state === 'paid' ? 0 : 1;
    } finally {
      await facilitator.close();
    }
  });
}

function tell(
  { state, mint, amount, recipient, signature, reason }: Refund,
  network: NetworkId,
  tokens: readonly Token[],
): void {
  const money = moneyText(amount, { mint, network }, tokens);
  if (state === 'paid') return printStep('refunded', `${money} to ${recipient}, ${signature ?? ''}`);
  const noted = reason === undefined ? '' : `: ${WHY[reason]} (${reason})`;
  if (state === 'failed')
    return printStep(
      'failed',
      `${money} to ${recipient}${noted || ': no reason is noted'}; what is left is good again`,
    );
  printStep('open', `${money} to ${recipient}: it is under way; ask again in a moment${noted}`);
}
