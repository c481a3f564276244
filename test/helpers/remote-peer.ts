import { Keypair } from '@solana/web3.js';
import { toCaip2 } from '../../src/protocol/networks/networks.js';
import type { NetworkId } from '../../src/protocol/types.js';
import { type HttpPeer, openHttpPeer, type PeerReply } from './http-peer.js';

export const DEVNET: NetworkId = 'solana-devnet';

/** A kind as `/supported` says it. */
export function kindOf(feePayer: string, change: Readonly<Record<string, unknown>> = {}) {
  return { x402Version: 2, scheme: 'exact', network: toCaip2(DEVNET), extra: { feePayer }, ...change };
}

/** What `/supported` says of a facilitator with one fee payer. */
export function supportedBy(feePayer: string, signers: readonly string[] = [feePayer]) {
  return { kinds: [kindOf(feePayer)], extensions: ['bazaar'], signers: { 'solana:*': signers } };
}

/** A facilitator elsewhere, whose responses are told by path. */
export interface RemotePeer extends HttpPeer {
  readonly feePayer: string;
  /** By path; what is not named is answered 500. */
  replies: Record<string, PeerReply>;
}

/** Opens a facilitator that only answers `/supported`. */
export async function openRemotePeer(feePayer = newAddress()): Promise<RemotePeer> {
  const peer = await openHttpPeer();
  const remote = Object.assign(peer, {
    feePayer,
    replies: { '/supported': { body: supportedBy(feePayer) } } as RemotePeer['replies'],
  });
  peer.reply = ({ path = '' }) => remote.replies[path] ?? { status: 500, body: {} };
  return remote;
}

/** An address that nothing is at. */
export function newAddress(): string {
  return Keypair.generate().publicKey.toBase58();
}
