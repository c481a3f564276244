import { PUBLIC_RPC } from '../../facilitator/facilitator-options.js';
import { readBounds } from '../../facilitator/refunds/refund-options.js';
import { addressOf } from '../../protocol/address.js';
import { formatAmount } from '../../protocol/money/money.js';
import { KNOWN_TOKENS } from '../../protocol/networks/tokens.js';
import type { Token } from '../../protocol/types.js';
import { readTokenBalances } from '../../solana/accounts/token-accounts.js';
import { readKeypair } from '../../solana/keypair.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import { createSolanaRpc } from '../../solana/rpc/rpc-client.js';
import type { ChainConfiguration } from '../configuration/chain-configuration.js';
import { type ServerConfiguration, tokensBySymbol } from '../configuration/configuration.js';
import { broken, type Examined, risky, well } from './examination.js';

const WHERE = 'tollhouse doctor';
const NAME = 'REFUND_KEYPAIR';
/** Of the facilitator. */
const DEFAULT_MAX = '$10';

/**
 * The wallet that pays refunds, base58; undefined where there is none.
 * @param others - wallets that pay something else, base58
 */
export function refundWallet(
  { refunds }: ChainConfiguration,
  others: readonly string[],
): { readonly ok: true; readonly wallet: string | undefined } | { readonly ok: false; readonly fault: Examined } {
  if (refunds === undefined) return { ok: true, wallet: undefined };
  const wallet = addressOf(readKeypair(refunds.keypair, WHERE, NAME).publicKey);
  if (!others.includes(wallet)) return { ok: true, wallet };
  const detail = 'holds a key that pays network fees or splits as well';
  return {
    ok: false,
    fault: broken(NAME, detail, 'give it a key of its own: npx tollhouse keygen --out refunds.json'),
  };
}

/** Looks whether a wallet holds, of each token, as much as one refund may pay. What a node does not answer is told elsewhere. */
export async function examineRefunds(
  { tokens: own }: Pick<ServerConfiguration, 'tokens'>,
  { network, rpcUrl, refunds }: ChainConfiguration,
  wallet: string | undefined,
): Promise<readonly Examined[]> {
  if (wallet === undefined) return [];
  const tokens = tokensBySymbol(own, KNOWN_TOKENS[network]);
  const read = readBounds(refunds?.max ?? DEFAULT_MAX, tokens);
  if (!read.ok) return [];
  const rpc = createSolanaRpc({ urls: rpcUrl ?? PUBLIC_RPC[network] });
  try {
    const looks = tokens.flatMap((token) => {
      const most = read.value.get(token.mint);
      return most === undefined ? [] : [examineToken(rpc, wallet, token, most)];
    });
    return await Promise.all(looks);
  } catch (error) {
    if (error instanceof RpcError) return [];
    throw error;
  } finally {
    await rpc.close();
  }
}

async function examineToken(rpc: SolanaRpc, wallet: string, token: Token, most: bigint): Promise<Examined> {
  const { mint, program, decimals, symbol } = token;
  const [held = 0n] = await readTokenBalances([wallet], mint, program, rpc);
  const shown = (amount: bigint): string => `${formatAmount(amount, decimals)} ${symbol}`;
  if (held >= most) return well(NAME, `${wallet} holds ${shown(held)} for refunds`);
  const detail = `${wallet} holds ${shown(held)}, and one refund may be ${shown(most)}`;
  return risky(NAME, detail, `send ${symbol} to ${wallet}, or lower REFUND_MAX`);
}
