import { UsageError } from '../command.js';

/** Where `tollhouse serve` and `tollhouse sandbox` listen unless the port is taken. */
export const SANDBOX_RPC = 'http://127.0.0.1:8899';

/**
 * The Solana RPC that a command asks: `--rpc`, with `--demo` the sandbox, or the first that `SOLANA_RPC_URL` names, which the
 * server takes too.
 * @param otherwise - what is taken where none is named
 */
export function rpcArgument<T>(
  { rpc, demo }: { readonly rpc?: string | undefined; readonly demo?: boolean | undefined },
  otherwise: T,
): string | T {
  if (rpc !== undefined) return addressOf('--rpc', rpc);
  if (demo) return SANDBOX_RPC;
  const set = process.env['SOLANA_RPC_URL']?.split(',')[0]?.trim();
  return set ? addressOf('SOLANA_RPC_URL', set) : otherwise;
}

/** It is shown to nobody: it may hold the key of a provider. */
function addressOf(setting: string, text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`${setting} must be the address of a Solana RPC, such as https://api.devnet.solana.com`);
}
