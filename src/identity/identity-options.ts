import { z } from 'zod';
import { networkOption } from '../facilitator/facilitator-options.js';
import type { Facilitator } from '../facilitator/types.js';
import type { NetworkId } from '../protocol/types.js';
import type { Counters } from '../storage/counters/counters.js';
import type { EcKey, Secret } from './tokens/key-ring.js';

/** Options of {@link createIdentity}. */
export interface IdentityOptions {
  /** Whose wallets sign in, on its network; its `storage` keeps what must be remembered. Either this or `network` is needed. */
  readonly facilitator?: Pick<Facilitator, 'network' | 'storage'> | undefined;
  /** The cluster whose wallets sign in: `solana` (mainnet), `solana-devnet` or `solana-testnet`. Default: that of `facilitator`. */
  readonly network?: NetworkId | undefined;
  /**
   * The host that sign-ins must name, with a port where it is not the scheme's own: `shop.example`. Default: the host
   * of `baseUrl` at the router or gate. Without both, sign-ins are taken at loopback hosts only, and elsewhere refused with
   * `not_configured`: the Host header is the client's to choose, and a page of somebody else could have a sign-in signed in
   * its own name and use it here.
   */
  readonly domain?: string | undefined;
  /**
   * Secret of at least 32 bytes that access tokens are signed with (HS256); with several the first signs, the others
   * still verify. Default: none, and then, without `keys` as well, wallets prove themselves with SIGN-IN-WITH-X only.
   */
  readonly jwtSecret?: Secret | readonly Secret[] | undefined;
  /** EC keys on P-256 instead of a secret (ES256), as PEM or KeyObject: the first signs, the others still verify. */
  readonly keys?: readonly EcKey[] | undefined;
  /** `iss` of access tokens. Default: `domain`, or `tollhouse`. */
  readonly issuer?: string | undefined;
  /**
   * `aud` of access tokens: who takes them. Name the same on several sites to have them take each other's. Default: the site that was
   * signed in to, which then takes no tokens of others.
   */
  readonly audience?: string | undefined;
  /** What every signed-in wallet may, as `scope` of its access tokens. Default: nothing in particular. */
  readonly scopes?: readonly string[] | undefined;
  /** The line that a wallet shows its owner above the details. Default: that signing in costs nothing. */
  readonly statement?: string | undefined;
  /** How long refresh tokens go on from one sign-in, in milliseconds. Default 30 days. In memory the 50,000 used last go on. */
  readonly sessionMs?: number | undefined;
  /**
   * Where nonces, sessions and revocations are kept. Default: the `storage` of `facilitator`, or this process's memory, good for
   * one process.
   */
  readonly counters?: Counters | undefined;
  /** Clock, milliseconds since the epoch. Default: the system's. */
  readonly now?: (() => number) | undefined;
  /** Random bytes, as many as asked for. Default: the system's. */
  readonly random?: ((size: number) => Uint8Array) | undefined;
}

const DAY_MS = 86_400_000;
const SECRET = 'a secret of at least 32 bytes, or a list of them';

const secret = z.custom<Secret>((it) => typeof it === 'string' || it instanceof Uint8Array, SECRET);
const callable = <T>(what: string) => z.custom<T>((it) => typeof it === 'function', what);
const line = (what: string) => z.string(what).regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u, what);

/** Schema of {@link IdentityOptions}. */
export const identityOptions = z.strictObject({
  facilitator: z
    .custom<NonNullable<IdentityOptions['facilitator']>>(
      (it) => typeof Reflect.get(Object(it), 'network') === 'string',
      'a facilitator, made by createFacilitator or remoteFacilitator',
    )
    .optional(),
  network: networkOption.optional(),
  domain: z
    .string('a host such as shop.example')
    .refine(isHost, 'a host such as shop.example or localhost:3000, without scheme and path')
    .transform((it) => it.toLowerCase())
    .optional(),
  jwtSecret: z.union([secret, z.array(secret).min(1, SECRET)], SECRET).optional(),
  keys: z
    .array(z.custom<EcKey>((it) => typeof it === 'string' || typeof it === 'object', 'a PEM text or a KeyObject'))
    .min(1, 'a list of at least one EC key')
    .optional(),
  issuer: line('a text').optional(),
  audience: line('a text').optional(),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/, 'a scope without spaces'))
    .readonly()
    .default([]),
  statement: line('one line of at most 255 characters').default('Sign in with your wallet. This costs nothing.'),
  sessionMs: z
    .int('a whole number of milliseconds')
    .min(1, 'at least 1 millisecond')
    .max(365 * DAY_MS, 'at most 365 days')
    .default(30 * DAY_MS),
  counters: z
    .custom<Counters>((it) => typeof Reflect.get(Object(it), 'takeOnce') === 'function', 'counters')
    .optional(),
  now: callable<() => number>('a function that answers milliseconds').default(() => Date.now),
  random: callable<(size: number) => Uint8Array>('a function that answers random bytes').optional(),
});

function isHost(text: string): boolean {
  return (
    URL.canParse(`https://${text}`) &&
    [`https://${text}`, `http://${text}`].some((it) => new URL(it).host === text.toLowerCase())
  );
}
