import { PAYMENTS_PATHS } from '../../http/payments/schemas.js';
import { defined } from '../../lib/defined.js';
import { readArguments } from '../arguments/arguments.js';
import { type Command, UsageError } from '../command.js';
import { printJson, printStep } from '../output/terminal.js';
import { serverOf } from '../session/credentials.js';
import { DEFAULT_SERVER, postJson } from '../session/server-client.js';

/** `tollhouse verify`: what the chain says of a signature. */
export const verify: Command = {
  help: `tollhouse verify <signature> [--server <url>] [--network <name>] [--json]

Tells whether a transaction has landed and what it moved. Exit code 0 when it is verified, 1 when not.

  --server <url>   Tollhouse server to ask (default ${DEFAULT_SERVER})
  --network <name> where it is looked for, such as solana-devnet (default mainnet where the server has it, else each that it has)
  --json           prints what the server answers`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      server: { type: 'string', default: DEFAULT_SERVER },
      network: { type: 'string' },
      json: { type: 'boolean' },
    });
    const [signature, ...rest] = positionals;
    if (signature === undefined || rest.length > 0)
      throw new UsageError('give one signature: npx tollhouse verify <signature>');
    const { network } = values;
    const asked = { tx_signature: signature, ...defined({ network }) };
    const answer = await postJson(serverOf(values.server), PAYMENTS_PATHS.verify, asked);
    if (values.json) printJson(answer);
    else printResponse(answer);
    return answer['verified'] === true ? 0 : 1;
  },
};

function printResponse(answer: Readonly<Record<string, unknown>>): void {
  printStep('status', String(answer['status']));
  if (answer['block_number'] !== null) {
    printStep('slot', `${String(answer['block_number'])}, ${String(answer['confirmations'])} slots ago`);
  }
  const { transfers } = answer;
  for (const transfer of Array.isArray(transfers) ? transfers : []) {
    printStep('moved', `${transfer.amount} ${transfer.token} from ${transfer.from} to ${transfer.to}`);
  }
}
