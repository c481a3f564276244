import type { SolanaRpc } from '../../solana/rpc/rpc.js';

/** Address of the first node where that is one of this machine; undefined for all others, whose addresses may hold a key. */
export function localNode({ nodes = [] }: Pick<SolanaRpc, 'nodes'>): string | undefined {
  const host = nodes[0]?.host ?? '';
  return /^(127\.0\.0\.1|localhost|\[::1\]):/.test(host) ? `http://${host}` : undefined;
}
