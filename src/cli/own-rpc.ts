/**
 * The first Solana RPC that `SOLANA_RPC_URL` names, which the server takes too.
 * @param otherwise - what is taken where the variable is not set
 */
export function ownRpc<T>(otherwise: T): string | T {
  return process.env['SOLANA_RPC_URL']?.split(',')[0]?.trim() || otherwise;
}
