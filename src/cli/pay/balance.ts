import { existsSync } from 'node:fs';
import { PUBLIC_RPC } from '../../facilitator/facilitator-options.js';
import { addressOf, isAddress } from '../../protocol/address.js';
import { formatAmount } from '../../protocol/money/money.js';
import { NETWORK_LIST } from '../../protocol/networks/network-name.js';
import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../../protocol/networks/tokens.js';
import type { NetworkId, Token } from '../../protocol/types.js';
import { readTokenBalances } from '../../solana/accounts/token-accounts.js';
import { readKeypair } from '../../solana/keypair.js';
import { createSolanaRpc } from '../../solana/rpc/rpc-client.js';
import { readArguments, readWallet } from '../arguments/arguments.js';
import { networkArgument } from '../arguments/network-argument.js';
import { rpcArgument } from '../arguments/rpc-argument.js';
import { type Command, UsageError } from '../command.js';
import { printJson, printStep } from '../output/terminal.js';

const SOL_DECIMALS = 9;
/** Characters of an address, at most. */
const LONGEST_ADDRESS = 44;

/** `tollhouse balance`: what a wallet holds. */
export const balance: Command = {
  help: `tollhouse balance (<wallet> | --keypair <file> | --demo) [options]

Shows the SOL and the known tokens of a wallet.

  --keypair <file>   key file of the wallet
  --demo             the sandbox chain's public demo wallet
  --network <name>   ${NETWORK_LIST} (default solana-devnet)
  --rpc <url>        Solana RPC to ask (default: the sandbox with --demo, else SOLANA_RPC_URL, or the network's public one)
  --json             for programs`,
  async run(args) {
    const { values, positionals } = readArguments(args, {
      keypair: { type: 'string' },
      demo: { type: 'boolean' },
      network: { type: 'string', default: 'solana-devnet' },
      rpc: { type: 'string' },
      json: { type: 'boolean' },
    });
    const network = networkArgument(values.network);
    const wallet = walletOf(positionals, values.keypair, values.demo);
    const urls = rpcArgument(values, PUBLIC_RPC[network]);
    const balances = await readBalances(wallet, network, urls);
    if (values.json) printJson({ wallet, network, balances });
    else {
      printStep('wallet', wallet);
      for (const [symbol, amount] of Object.entries(balances)) printStep(symbol, amount);
    }
    return 0;
  },
};

function walletOf(positionals: readonly string[], keypair: string | undefined, demo: boolean | undefined): string {
  const key = readWallet(keypair, demo);
  const [wallet, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError('give one wallet');
  if ((wallet === undefined) === (key === undefined))
    throw new UsageError('give a wallet address, --keypair <file> or --demo, one of them');
  if (key !== undefined) return addressOf(readKeypair(key, 'tollhouse balance').publicKey);
  if (wallet === undefined || !isAddress(wallet)) throw new UsageError(notAddress(wallet ?? ''));
  return wallet;
}

/** What is longer than an address may be a secret key, which is shown to nobody. */
function notAddress(text: string): string {
  const shown = text.length > LONGEST_ADDRESS ? 'what was given' : `"${text}"`;
  const wanted = existsSync(text)
    ? `name a key file by --keypair ${text}`
    : 'give one of 32 to 44 characters, such as "npx tollhouse keygen" prints';
  return `${shown} is no wallet address; ${wanted}`;
}

/** Amounts by symbol; of tokens that the wallet has an account of. */
async function readBalances(wallet: string, network: NetworkId, urls: string): Promise<Record<string, string>> {
  const rpc = createSolanaRpc({ urls });
  try {
    const [account] = await rpc.getAccounts([wallet], 'confirmed');
    const found = { SOL: formatAmount(account?.lamports ?? 0n, SOL_DECIMALS) };
    for (const { symbol, mint, program, decimals } of tokensOf(network)) {
      const [held] = await readTokenBalances([wallet], mint, program, rpc);
      if (held !== undefined) Object.assign(found, { [symbol]: formatAmount(held, decimals) });
    }
    return found;
  } finally {
    await rpc.close();
  }
}

/** The sandbox answers as devnet, and has one token more. */
function tokensOf(network: NetworkId): readonly Token[] {
  const known = network === 'solana-devnet' ? SANDBOX_TOKENS : KNOWN_TOKENS[network];
  return known.filter(({ symbol }) => symbol !== 'SOL');
}
