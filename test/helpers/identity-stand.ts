import { createIdentity, type WalletIdentity } from '../../src/identity/create-identity.js';
import type { IdentityOptions } from '../../src/identity/identity-options.js';
import type { IdentityRequest } from '../../src/identity/types.js';
import { createMemoryCounters } from '../../src/storage/counters/memory-counters.js';

/** An identity whose clock the test moves. */
export interface IdentityStand {
  readonly identity: WalletIdentity;
  now(): number;
  advance(milliseconds: number): void;
}

/** 2026-01-02T03:04:05.678Z. */
export const NOON = 1_767_323_045_678;

/** A secret that is good enough. */
export const SECRET = 'correct horse battery staple, thirty-two bytes and more';

/** Options with fields that may be undefined, which takes a default away. */
export type IdentityChanges = { readonly [K in keyof IdentityOptions]?: IdentityOptions[K] | undefined };

/** Devnet, with tokens by {@link SECRET} unless other options say otherwise. */
export function openIdentity(options: IdentityChanges = {}): IdentityStand {
  let time = NOON;
  const now = () => time;
  const counters = createMemoryCounters({ now });
  const all = { network: 'solana-devnet', jwtSecret: SECRET, counters, now, ...options };
  const identity = createIdentity(all as IdentityOptions);
  return {
    identity,
    now,
    advance(milliseconds) {
      time += milliseconds;
    },
  };
}

/** A request with these headers. */
export function requestWith(
  headers: Readonly<Record<string, string>>,
  url = 'https://shop.example/club?x=1',
): IdentityRequest {
  return { url, header: (name) => headers[name.toLowerCase()] };
}
