import type { Keypair } from '@solana/web3.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';

/** Where a token account holds its amount. */
const [AMOUNT_START, AMOUNT_END] = [64, 72];

/** Takes away all that a wallet holds of a token, as a transaction of its own would that lands before the next. */
export function emptyWallet(sandbox: Sandbox, wallet: Keypair, mint: string): void {
  const account = sandbox.fundToken(wallet.publicKey.toBase58(), mint, 0n);
  const state = sandbox.account(account);
  if (state === null || state === undefined) throw new Error(`${account} does not exist`);
  sandbox.setAccount(account, { ...state, data: Uint8Array.from(state.data).fill(0, AMOUNT_START, AMOUNT_END) });
}
