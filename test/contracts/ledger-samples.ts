import { randomBytes, randomUUID } from 'node:crypto';
import type { Terms } from '../../src/protocol/types.js';
import type { ClaimRequest } from '../../src/storage/ledger/ledger.js';

/** Terms with everything that a store may get wrong: the largest amount, a memo outside of ASCII. */
export const TERMS: Terms = {
  scheme: 'exact',
  network: 'solana-devnet',
  asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  amount: 18_446_744_073_709_551_615n,
  payTo: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
  maxTimeoutSeconds: 60,
  feePayer: '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo',
  memo: 'order 7 – ü',
};

/** How long {@link newClaim} holds a payment. */
export const LEASE_MS = 60_000;

/** A request for a payment that nobody has heard of. */
export function newClaim(change: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    id: randomBytes(32).toString('hex'),
    binding: 'GET /report|terms',
    payer: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
    terms: TERMS,
    blockhash: 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N',
    lease: randomUUID(),
    leaseMs: LEASE_MS,
    owner: '7LoRd9sZMb3ejWqSmHqoADGuHR1mGZBLCMGWQFKQGwoR',
    projectId: 'prj_9jKb4Qx7tTqFhW',
    owedLegs: [
      { recipient: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', amount: 18_446_744_073_709_551_614n },
      { recipient: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T', amount: 1n },
    ],
    buys: {
      site: 'https://shop.example',
      scope: 'GET /report',
      kind: 'credit',
      mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
      bought: 9_007_199_254_740_993n,
      left: 9_007_199_254_740_992n,
      lastsMs: 86_400_000,
    },
    ...change,
  };
}

/** The same payment, wanted by somebody else. */
export function rivalOf(claim: ClaimRequest, change: Partial<ClaimRequest> = {}): ClaimRequest {
  return { ...claim, lease: randomUUID(), ...change };
}
