import type { FacilitatorOptions } from '../facilitator/facilitator-options.js';
import { defined } from '../lib/defined.js';
import { KNOWN_TOKENS } from '../protocol/networks/tokens.js';
import type { Token } from '../protocol/types.js';
import { type Sandbox, startSandbox } from '../sandbox/start-sandbox.js';
import type { ChainConfiguration } from './configuration/chain-configuration.js';
import { type ServerConfiguration, tokensBySymbol } from './configuration/configuration.js';

/** The chain that a server works on, and what its facilitator needs for that. */
export interface ChainParts {
  readonly facilitatorOptions: FacilitatorOptions;
  /** The same for each further chain. */
  readonly otherOptions: readonly FacilitatorOptions[];
  /** Wallet that is paid by the demo route. */
  readonly payTo: string | undefined;
  /** The chain, if it is ours. */
  readonly sandbox: Sandbox | undefined;
  close(): Promise<void>;
}

/** Where Solana's own test validator listens, so that wallets and tools find the sandbox without being told. */
const SANDBOX_PORT = 8899;
const FEE_PAYER_SOL = '10';
/** Whoever is to be paid needs an account for each token. */
const EMPTY_ACCOUNTS = { usdc: '0', usdt: '0', pyusd: '0', usdg: '0' };

/**
 * Takes the configured chain, or starts the sandbox.
 * @param onMoved - told where the sandbox is when its usual port was taken. Default: nobody
 */
export async function connectChain(
  configuration: ServerConfiguration,
  onMoved: (rpcUrl: string) => void = () => {},
): Promise<ChainParts> {
  const { chain, payTo, tokens: own, maxFeeLamportsPerHour, maxPaymentsInFlight, maxAddressShare } = configuration;
  const bounds = defined({ maxFeeLamportsPerHour, maxPaymentsInFlight, maxAddressShare });
  if (chain !== undefined) {
    const { otherChains = [] } = configuration;
    return {
      facilitatorOptions: { ...optionsOf(chain, own), ...bounds },
      // A mint is on one network: the operator's tokens are those of the first.
      otherOptions: otherChains.map((it) => ({ ...optionsOf(it, []), ...bounds })),
      payTo,
      sandbox: undefined,
      close: async () => {},
    };
  }
  const sandbox = await startSandboxNearby(onMoved);
  const feePayer = await sandbox.createWallet({ sol: FEE_PAYER_SOL });
  const seller = await sandbox.createWallet(EMPTY_ACCOUNTS);
  const splitKeypair = await sandbox.createWallet(EMPTY_ACCOUNTS);
  const { network, rpcUrl, wsUrl } = sandbox;
  const tokens = tokensBySymbol(own, [
    ...sandbox.tokens,
    ...KNOWN_TOKENS[network].filter(({ symbol }) => symbol === 'SOL'),
  ]);
  return {
    otherOptions: [],
    facilitatorOptions: { network, rpcUrl, wsUrl, keypair: feePayer, splitKeypair, tokens, ...bounds },
    payTo: payTo ?? seller.publicKey.toBase58(),
    sandbox,
    close: () => sandbox.close(),
  };
}

function optionsOf(chain: ChainConfiguration, own: readonly Token[]): FacilitatorOptions {
  const { network, rpcUrl, wsUrl, keypair, splitKeypair, refunds } = chain;
  const tokens = tokensBySymbol(own, KNOWN_TOKENS[network]);
  return { network, keypair, tokens, ...defined({ rpcUrl, wsUrl, splitKeypair, refunds }) };
}

/** On the usual port if nobody listens there, else on a free one. */
async function startSandboxNearby(onMoved: (rpcUrl: string) => void): Promise<Sandbox> {
  try {
    return await startSandbox({ port: SANDBOX_PORT });
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'EADDRINUSE') throw error;
    const sandbox = await startSandbox();
    onMoved(sandbox.rpcUrl);
    return sandbox;
  }
}
