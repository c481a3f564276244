import { Keypair } from '@solana/web3.js';
import { badOption } from '../errors/errors.js';
import { isAddress } from '../protocol/address.js';
import { type AddressInput, addressText } from '../protocol/address-input.js';
import { withAmountJson } from '../protocol/money/amount-json.js';
import { parseDecimal } from '../protocol/money/money.js';
import type { Token } from '../protocol/types.js';
import { createBuyer } from './buyer/buyer.js';
import { createFetchAs } from './buyer/fetch-as.js';
import { type Chain, createChain } from './chain/chain.js';
import { startEndpoint } from './endpoint/endpoint.js';
import { createFaults } from './faults.js';
import { createCallCounter, METHOD_NAMES } from './rpc/calls.js';
import type { Subscriptions } from './rpc/subscriptions.js';
import { createRuntime } from './runtime/runtime.js';
import { readTokenAccount } from './runtime/token-layout.js';
import type { Sandbox, WalletFunds } from './sandbox.js';
import { resolveSandboxOptions, type SandboxOptions } from './sandbox-options.js';
import { createMint } from './tokens/create-mint.js';
import { DEMO_WALLETS, demoWallet } from './tokens/demo-wallets.js';
import { createFaucet, type Faucet, tokenAddress } from './tokens/faucet.js';
import { tokensOf } from './tokens/tokens.js';

export type { PayLimits, ProofHeaders } from './buyer/buyer.js';
export type { RefusedResponse } from './buyer/refused-response.js';
export type { Fault, FaultKind, Faults } from './faults.js';
export type { CallCounts as Calls } from './rpc/calls.js';
export type { RuntimeAccount } from './runtime/runtime.js';
export type { Sandbox, WalletFunds } from './sandbox.js';
export type { SandboxNetwork, SandboxOptions } from './sandbox-options.js';
export type { CreatedMint, MintExtensions, MintOptions } from './tokens/create-mint.js';
export { demoWallet } from './tokens/demo-wallets.js';

const SOL_DECIMALS = 9;
const DEMO_SOL = '100';
const DEMO_TOKENS = '10000';

/**
 * Starts a local Solana chain for development and tests: the real runtime (LiteSVM) behind Solana's JSON-RPC over HTTP and
 * WebSocket. web3.js, kit, `@x402/svm` and wallets use it like devnet, or mainnet where asked for.
 *
 * @throws TollhouseError `bad_option` for a wrong option, `missing_dependency` when the package `litesvm` is missing
 */
export async function startSandbox(options?: SandboxOptions): Promise<Sandbox> {
  const resolved = resolveSandboxOptions(options);
  const chain = createChain(await createRuntime(), resolved);
  const faucet = createFaucet(chain);
  const tokens = tokensOf(resolved.network);
  const demoWallets = Array.from({ length: DEMO_WALLETS }, (_, index) => demoWallet(index));
  for (const token of tokens) {
    faucet.placeMint(token);
  }
  faucet.placeWrappedSol();
  const demoFunds = Object.fromEntries(tokens.map(({ symbol }) => [symbol.toLowerCase(), DEMO_TOKENS]));
  for (const wallet of demoWallets) {
    fund(faucet, tokens, wallet, { ...demoFunds, sol: DEMO_SOL });
  }
  const counter = createCallCounter();
  const faults = createFaults(METHOD_NAMES);
  const endpoint = await startEndpoint({ chain, counter, faults, host: resolved.host, port: resolved.port });
  const buyer = createBuyer(chain, resolved.network);
  chain.slots.resume();
  return {
    rpcUrl: endpoint.rpcUrl,
    wsUrl: endpoint.wsUrl,
    network: resolved.network,
    tokens,
    demoWallets,
    treasury: chain.treasury,
    calls: counter.calls,
    resetCalls: counter.reset,
    faults,
    createMint: (mint) => createMint(chain, faucet, mint),
    createWallet: async (funds = {}) => {
      const wallet = Keypair.generate();
      fund(faucet, tokens, wallet, funds);
      return wallet;
    },
    ...buyer,
    fetchAs: createFetchAs(buyer),
    ...clockOf(chain, resolved.maxBlockhashAgeBlocks),
    ...accountsOf(chain, faucet, endpoint.subscriptions),
    close: async () => {
      chain.slots.pause();
      await endpoint.close();
    },
  };
}

type Clock = Pick<
  Sandbox,
  'slot' | 'blockHeight' | 'advanceSlots' | 'expireBlockhashes' | 'pauseSlots' | 'resumeSlots'
>;

function clockOf({ slots }: Chain, maxBlockhashAgeBlocks: number): Clock {
  const advanceSlots = (count = 1): void => {
    if (!Number.isInteger(count) || count < 1) {
      throw badOption('advanceSlots', `expects a whole number above 0, got ${count}`);
    }
    for (let step = 0; step < count; step += 1) {
      slots.advance();
    }
  };
  return {
    slot: () => slots.slot(),
    blockHeight: () => slots.height(),
    advanceSlots,
    expireBlockhashes: () => advanceSlots(maxBlockhashAgeBlocks + 1),
    pauseSlots: slots.pause,
    resumeSlots: slots.resume,
  };
}

type Accounts = Pick<Sandbox, 'airdrop' | 'fundToken' | 'balance' | 'tokenBalance' | 'account' | 'setAccount'>;

function accountsOf(chain: Chain, faucet: Faucet, subscriptions: Subscriptions): Accounts {
  const { runtime, accounts } = chain;
  return {
    airdrop: (address, lamports) => {
      const wallet = checkAddress('airdrop', address);
      faucet.airdrop(wallet, checkAmount('airdrop', lamports));
      subscriptions.accountWritten(wallet);
    },
    fundToken: (owner, mint, amountAtomic) => {
      const [ownerAddress, mintAddress] = [checkAddress('fundToken', owner), checkAddress('fundToken', mint)];
      const account = faucet.fundToken(ownerAddress, mintAddress, checkAmount('fundToken', amountAtomic));
      subscriptions.accountWritten(account);
      return account;
    },
    balance: (address) => runtime.balance(checkAddress('balance', address)),
    tokenBalance: (owner, mint) => {
      const mintAddress = checkAddress('tokenBalance', mint);
      const program = runtime.account(mintAddress)?.owner;
      const address = program && tokenAddress(checkAddress('tokenBalance', owner), mintAddress, program);
      const account = address === undefined ? null : runtime.account(address);
      return readTokenAccount(account)?.amount ?? 0n;
    },
    account: (address) => {
      const found = runtime.account(checkAddress('account', address));
      return found === null ? null : withAmountJson(found);
    },
    setAccount: (address, state) => {
      const written = checkAddress('setAccount', address);
      accounts.write(written, state);
      subscriptions.accountWritten(written);
    },
  };
}

function fund(faucet: Faucet, tokens: readonly Token[], wallet: Keypair, funds: WalletFunds): void {
  const address = wallet.publicKey.toBase58();
  for (const [name, text] of Object.entries(funds)) {
    const token = tokens.find(({ symbol }) => symbol.toLowerCase() === name);
    if (name !== 'sol' && token === undefined) {
      const names = ['sol', ...tokens.map(({ symbol }) => symbol.toLowerCase())].join(', ');
      throw badOption('createWallet', `unknown token "${name}"; the sandbox has ${names}`, name);
    }
    const amount = parseDecimal(text, token?.decimals ?? SOL_DECIMALS);
    if (!amount.ok) {
      throw badOption('createWallet', `"${name}": ${amount.detail}`, name);
    }
    if (token === undefined) {
      faucet.airdrop(address, amount.value);
    } else {
      faucet.fundToken(address, token.mint, amount.value);
    }
  }
}

function checkAddress(where: string, given: AddressInput): string {
  const address = addressText(given);
  if (address === undefined || !isAddress(address)) {
    throw badOption(where, `${JSON.stringify(given)} is not an address (base58 text of 32 bytes)`);
  }
  return address;
}

function checkAmount(where: string, amount: bigint): bigint {
  if (typeof amount !== 'bigint' || amount < 0n) {
    throw badOption(where, `expects an amount as a bigint that is not negative, got ${String(amount)}`);
  }
  return amount;
}
