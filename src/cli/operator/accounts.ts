import { readMintName } from '../../access/mint.js';
import { PUBLIC_RPC } from '../../facilitator/facilitator-options.js';
import { walletFault } from '../../facilitator/setup-check/recipients.js';
import { addressOf, isAddress, signatureText } from '../../protocol/address.js';
import { formatAmount } from '../../protocol/money/money.js';
import { NETWORK_LIST } from '../../protocol/networks/network-name.js';
import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import { mintFactsOf, tokenAccountOf } from '../../solana/accounts/token-accounts.js';
import { signTransaction } from '../../solana/building/sign-transaction.js';
import { accountCreationTransaction } from '../../solana/building/transfer-transaction.js';
import { createTransactionDelivery } from '../../solana/confirmation/delivery.js';
import { type KeypairInput, readKeypair } from '../../solana/keypair.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { createSolanaRpc } from '../../solana/rpc/rpc-client.js';
import { associatedTokenAddress } from '../../solana/transaction/associated-token.js';
import { decodeTransaction } from '../../solana/transaction/transaction.js';
import { onlyOne, readArguments, readWallet } from '../arguments/arguments.js';
import { networkArgument } from '../arguments/network-argument.js';
import { rpcArgument } from '../arguments/rpc-argument.js';
import { type Command, CommandError, UsageError } from '../command.js';
import { printStep, withProgress } from '../output/terminal.js';
import { type Action, pickAction } from '../sub-command.js';

const NAME = 'tollhouse accounts';
const USAGE = `${NAME} create <wallet> [--token USDC] (--keypair <file> | --demo)`;
const TIMEOUT_MS = 60_000;
const SOL_DECIMALS = 9;
/** Rent of the smallest token account, and the fee for one signature, in lamports. */
const LEAST_COST = 2_039_280n + 5_000n;

/** `tollhouse accounts`: token accounts, which a wallet needs before it can be paid. */
export const accounts: Command = {
  help: `${USAGE} [options]

Makes the associated token account of a wallet, so that it can be paid in the token. It costs whoever is named by --keypair
about 0.002 SOL, once. Where the account is there already nothing is sent, and it is said.

  --token <token>    USDC (default), another known symbol, or the address of a mint; may be given several times
  --keypair <file>   key file of the wallet that pays for it; it need not be the one that gets the account
  --demo             pay with the sandbox chain's public demo wallet
  --network <name>   ${NETWORK_LIST} (default solana-devnet)
  --rpc <url>        Solana RPC to ask (default: the sandbox with --demo, else SOLANA_RPC_URL, or the network's public one)`,
  run: ([name, ...args]) => pickAction(NAME, ACTIONS, name)(args),
};

const ACTIONS: Readonly<Record<string, Action>> = { create };

const OPTIONS = {
  token: { type: 'string', multiple: true },
  keypair: { type: 'string' },
  demo: { type: 'boolean' },
  network: { type: 'string', default: 'solana-devnet' },
  rpc: { type: 'string' },
} as const;

async function create(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS);
  const owner = onlyOne(positionals, USAGE);
  if (!isAddress(owner)) throw new UsageError(`"${owner}" is no wallet address; usage: ${USAGE}`);
  const network = networkArgument(values.network);
  // The sandbox answers as devnet, and has one token more.
  const tokens = network === 'solana-devnet' ? SANDBOX_TOKENS : KNOWN_TOKENS[network];
  const mints = (values.token ?? ['USDC']).map((name) => readToken(name, tokens));
  const payer = readWallet(values.keypair, values.demo);
  if (payer === undefined)
    throw new UsageError('say which wallet pays for the account: --keypair <file>, or --demo on the sandbox chain');
  const rpc = createSolanaRpc({ urls: rpcArgument(values, PUBLIC_RPC[network]) });
  try {
    for (const mint of mints) await createOne(rpc, { owner, payer, ...mint });
    return 0;
  } finally {
    await rpc.close();
  }
}

interface Wanted {
  readonly owner: string;
  readonly payer: KeypairInput;
  readonly mint: string;
  /** The token as the user knows it. */
  readonly name: string;
}

function readToken(name: string, tokens: readonly Token[]): Pick<Wanted, 'mint' | 'name'> {
  const mint = readMintName(name, tokens);
  if (!mint.ok) throw new UsageError(`--token must be ${mint.detail}`);
  return { mint: mint.value, name: tokens.find((it) => it.mint === mint.value)?.symbol ?? mint.value };
}

async function createOne(rpc: SolanaRpc, wanted: Wanted): Promise<void> {
  const { owner, mint, name } = wanted;
  const [mintState, ownerState] = await rpc.getAccounts([mint, owner], 'confirmed');
  const facts = mintFactsOf(mintState ?? null);
  if (facts === undefined) throw new CommandError(`${mint} is no token mint on this network`);
  const fault = walletFault(owner, ownerState ?? null);
  if (fault !== undefined) throw new CommandError(fault);
  const account = associatedTokenAddress(owner, mint, facts.program);
  const wallet = addressOf(readKeypair(wanted.payer, NAME).publicKey);
  const [state, paying] = await rpc.getAccounts([account, wallet], 'confirmed');
  const found = tokenAccountOf(state ?? null);
  if (found !== undefined && found.owner !== owner)
    throw new CommandError(`the ${name} account of ${owner} belongs to ${found.owner} now; nothing can be done`);
  if (found !== undefined) return printStep('there', `${account}, the ${name} account of ${owner}, is there already`);
  if ((paying?.lamports ?? 0n) < LEAST_COST) throw noSol(wallet, paying?.lamports ?? 0n);
  const signature = await send(rpc, wanted, facts.program);
  printStep('created', `${account}, the ${name} account of ${owner}`);
  printStep('signature', signature);
}

function noSol(wallet: string, lamports: bigint): CommandError {
  const held = formatAmount(lamports, SOL_DECIMALS);
  return new CommandError(
    `nothing was sent: ${wallet}, which pays, has ${held} SOL, and the account costs 0.0021 SOL; send it some (on devnet, from https://faucet.solana.com), and try again`,
  );
}

async function send(rpc: SolanaRpc, { owner, payer, mint }: Wanted, tokenProgram: string): Promise<string> {
  const wallet = addressOf(readKeypair(payer, NAME).publicKey);
  const { blockhash, lastValidBlockHeight } = await rpc.getLatestBlockhash('confirmed');
  const unsigned = accountCreationTransaction({ owner, mint, tokenProgram }, wallet, blockhash);
  const transaction = signTransaction(unsigned, payer);
  const decoded = decodeTransaction(transaction);
  if (!decoded.ok) throw new Error(decoded.detail);
  const { signaturesOffset } = decoded.transaction;
  const signature = signatureText(transaction.subarray(signaturesOffset, signaturesOffset + 64));
  const delivery = createTransactionDelivery({ rpc });
  const sent = { transaction, signature, blockhash, lastValidBlockHeight, commitment: 'confirmed' } as const;
  const landing = await withProgress(
    'creating',
    'waiting for the transaction to be confirmed',
    delivery.deliver({ ...sent, preflight: true, timeoutMs: TIMEOUT_MS }),
  ).finally(() => delivery.close());
  if (landing.status === 'landed' && landing.err === null) return signature;
  if (landing.status === 'unknown')
    throw new CommandError(
      `not confirmed yet: ${signature}; run the command again in two minutes: an account that is there is not made twice`,
    );
  const why = 'err' in landing ? JSON.stringify(landing.err) : landing.status;
  throw new CommandError(
    `the account was not made (${why}); give ${wallet}, which pays, 0.0021 SOL if it has less, and try again`,
  );
}
