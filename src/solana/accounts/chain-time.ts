import type { AccountState, SolanaRpc } from '../rpc/rpc.js';

/** The chain's own clock; its layout: https://docs.rs/solana-clock/latest/solana_clock/struct.Clock.html */
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';
const CLOCK_TIME_OFFSET = 32;
const MILLISECONDS = 1_000;

/** The chain's own time in milliseconds since the epoch, of {@link CLOCK_SYSVAR}; undefined where the account cannot be read as one. */
export function chainTimeOf(account: AccountState | null | undefined): number | undefined {
  const data = account?.data ?? new Uint8Array();
  if (data.length < CLOCK_TIME_OFFSET + 8) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const time = Number(view.getBigInt64(CLOCK_TIME_OFFSET, true)) * MILLISECONDS;
  return time > 0 ? time : undefined;
}

/** Asks for that time: one call. Rejects with RpcError. */
export async function readChainTime(rpc: Pick<SolanaRpc, 'getAccounts'>): Promise<number | undefined> {
  const [account] = await rpc.getAccounts([CLOCK_SYSVAR], 'confirmed');
  return chainTimeOf(account);
}
