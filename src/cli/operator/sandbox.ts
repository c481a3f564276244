import { defined } from '../../lib/defined.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/start-sandbox.js';
import { none, readArguments } from '../arguments/arguments.js';
import { networkArgument } from '../arguments/network-argument.js';
import { portArgument } from '../arguments/port-argument.js';
import { type Command, UsageError } from '../command.js';
import { printJson, printStep } from '../output/terminal.js';
import { untilStopped } from '../output/until-stopped.js';
import { listenFault } from './listen-fault.js';

const USAGE = 'tollhouse sandbox [--port <n>] [--network solana-devnet|solana] [--slot-ms <n>]';

const HELP = `${USAGE}

Starts a local Solana chain (LiteSVM behind Solana's JSON-RPC) with USDC, USDT, a Token-2022 mint
and funded demo wallets. Wallets and tools use it like the real thing; nothing on it has any value.

  --port <n>         port of the JSON-RPC; WebSocket is on the next one (default 8899)
  --network <name>   which cluster to answer as (default solana-devnet)
  --slot-ms <n>      length of a slot in milliseconds, 1 to 60000 (default 200)
  --json             for programs`;

const DEFAULT_PORT = 8899;
const LONGEST_SLOT_MS = 60_000;

/** `tollhouse sandbox`: a local chain, until it is stopped. */
export const sandbox: Command = {
  help: HELP,
  async run(args) {
    const { options, json } = readFlags(args);
    const chain = await startSandbox(options).catch((error: unknown) => {
      throw listenFault(error, { port: '--port', host: 'HOST' });
    });
    if (json) printChain(chain);
    else showChain(chain);
    await untilStopped();
    await chain.close();
    return 0;
  },
};

function showChain(chain: Sandbox): void {
  printStep('RPC', chain.rpcUrl);
  printStep('WebSocket', chain.wsUrl);
  printStep('network', `answers as ${chain.network}`);
  for (const { symbol, mint } of chain.tokens) printStep(symbol, mint);
  for (const [index, wallet] of chain.demoWallets.entries()) {
    printStep(`demo ${index}`, `${wallet.publicKey.toBase58()}  (100 SOL, 10,000 of every token)`);
  }
}

function printChain({ rpcUrl, wsUrl, network, tokens, demoWallets }: Sandbox): void {
  const demo = demoWallets.map(({ publicKey }) => publicKey.toBase58());
  printJson({ rpc_url: rpcUrl, ws_url: wsUrl, network, tokens, demo_wallets: demo });
}

function readFlags(args: readonly string[]): { readonly options: SandboxOptions; readonly json: boolean } {
  const { values, positionals } = readArguments(args, OPTIONS);
  none(positionals, USAGE);
  const network = values.network === undefined ? undefined : networkArgument(values.network);
  if (network === 'solana-testnet') throw new UsageError('--network must be "solana-devnet" or "solana"');
  const options: SandboxOptions = {
    port: portArgument('--port', values.port) ?? DEFAULT_PORT,
    ...defined({ network }),
    ...(values['slot-ms'] === undefined ? {} : { slotMs: readSlotMs(values['slot-ms']) }),
  };
  return { options, json: values.json === true };
}

const OPTIONS = {
  port: { type: 'string' },
  network: { type: 'string' },
  'slot-ms': { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** A chain whose slots are of no length stands still unless its program advances it, which nobody can from here. */
function readSlotMs(text: string): number {
  const slotMs = Number(text);
  if (/^\d{1,5}$/.test(text) && slotMs > 0 && slotMs <= LONGEST_SLOT_MS) return slotMs;
  throw new UsageError(`--slot-ms must be a whole number from 1 to ${LONGEST_SLOT_MS}, not "${text}"`);
}
