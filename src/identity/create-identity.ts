import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { badOption, TollhouseError } from '../errors/errors.js';
import { type MaybePromise, whenKnown } from '../lib/maybe-promise.js';
import { resolveOptions } from '../lib/options.js';
import { networkWanted } from '../protocol/networks/network-name.js';
import type { Counters } from '../storage/counters/counters.js';
import { createMemoryCounters } from '../storage/counters/memory-counters.js';
import { type IdentityOptions, identityOptions } from './identity-options.js';
import { createIssuedNonces } from './sign-in/issued-nonce.js';
import { createSignInSessions, type SignInSessionSetup } from './sign-in/sign-in-sessions.js';
import { type Addressed, hostOf } from './sign-in/site.js';
import { createSiwx, SIWX_HEADER } from './sign-in/siwx.js';
import { createWalletChallenges, type SignedChallenge, type WalletChallenge } from './sign-in/wallet-challenge.js';
import type { SignInSetup } from './sign-in-options.js';
import { type AccessCheck, type AccessTokens, createAccessTokens } from './tokens/access-token.js';
import { createEcRing, createSecretRing, type Jwks, type KeyRing } from './tokens/key-ring.js';
import { createPassTokens } from './tokens/pass-token.js';
import { createRefreshTokens } from './tokens/refresh-token.js';
import { createWalletTokens, type RevokeExtent, type TokenGrant, type WalletTokens } from './tokens/wallet-tokens.js';
import type { Identity, IdentityRequest, InspectedProof, PassTokens, Proof, SignInSessions } from './types.js';

/** What the sign-in endpoints need beside what gates do. All of it rejects with `not_configured` where no tokens are issued. */
export interface WalletIdentity extends Identity {
  /**
   * A message for a wallet to sign.
   * @param wallet - base58 address
   * @param url - absolute address of the request that asks, as the client sees it
   * @param baseUrl - address under which clients reach the server; its host is named where there is no `domain`, and without
   * both the host of `url`, which must be a loopback one then
   * @throws TollhouseError `not_configured` for another host
   */
  issueChallenge(wallet: string, url: string, baseUrl?: string): Promise<WalletChallenge>;
  /**
   * Tokens for a signed challenge, whose nonce is used up by this.
   * @throws TollhouseError `invalid_sign_in`, `sign_in_replayed`
   */
  exchange(answer: SignedChallenge): Promise<TokenGrant>;
  /** See {@link WalletTokens.refresh}. */
  refresh(...asked: Parameters<WalletTokens['refresh']>): Promise<TokenGrant>;
  /** See {@link WalletTokens.revoke}. */
  revoke(token: string, extent?: RevokeExtent): Promise<void>;
  /** The public keys of access tokens; empty for secrets. */
  jwks(): Jwks;
}

interface Issuing {
  readonly access: AccessTokens;
  readonly tokens: WalletTokens;
  readonly jwks: Jwks;
  readonly passTokens: PassTokens;
}

type Resolved = ReturnType<typeof resolve>;
type Secrets = 'jwtSecret' | 'keys';
type Setup = Omit<Resolved, Secrets>;

const WHERE = 'createIdentity';
const SECRET_BYTES = 32;
const NO_NETWORK = `option "network" is missing: it must be ${networkWanted(undefined)}; or give option "facilitator"`;

/**
 * Makes what finds out which wallet is calling: Sign In With Solana for tokens (with `jwtSecret` or `keys`), and the
 * header SIGN-IN-WITH-X of x402. Nothing is awaited.
 * @throws TollhouseError `bad_option` when an option is wrong, with what was probably meant
 */
export function createIdentity(options: IdentityOptions): WalletIdentity {
  const { jwtSecret, keys, ...setup } = resolve(options);
  // Who keeps the set-up must not keep the secrets with it.
  const sessions = createSignInSessions(setup);
  const issuing = createIssuing(setup, sessions, ringOf({ jwtSecret, keys }));
  const signIns = { ...setup, nonces: createIssuedNonces(setup) };
  const siwx = createSiwx(signIns);
  const challenges = createWalletChallenges(signIns);
  const inspect = (request: IdentityRequest) => inspectRequest(setup, request, issuing?.access, siwx.inspect);

  return Object.freeze({
    prove: (request: IdentityRequest) => whenKnown(inspect(request), useUp),
    inspect,
    recall: (nonce: string, request: IdentityRequest) => siwx.recall(nonce, request),
    challenge: async (request: IdentityRequest) => siwx.challenge(request),
    issueChallenge: async (wallet: string, url: string, baseUrl?: string) => {
      required(issuing);
      return challenges.issue(wallet, { url, baseUrl });
    },
    exchange: async (answer: SignedChallenge) => {
      const { tokens } = required(issuing);
      const domain = await challenges.redeem(answer);
      return tokens.grant(answer.wallet, setup.audience ?? domain);
    },
    refresh: async (...asked: Parameters<WalletTokens['refresh']>) => required(issuing).tokens.refresh(...asked),
    revoke: async (token: string, extent?: RevokeExtent) => required(issuing).tokens.revoke(token, extent),
    jwks: () => issuing?.jwks ?? { keys: [] },
    sessions,
    ...(issuing === undefined ? {} : { passTokens: issuing.passTokens }),
  });
}

function resolve(options: IdentityOptions) {
  const {
    facilitator,
    domain,
    counters,
    now,
    random = randomBytes,
    ...others
  } = resolveOptions(WHERE, identityOptions, options);
  const { network = facilitator?.network } = others;
  if (network === undefined) throw badOption(WHERE, NO_NETWORK, 'network');
  const kept = counters ?? facilitator?.storage?.counters;
  const ownSecret = random(SECRET_BYTES);
  const setup: SignInSetup & SignInSessionSetup & Omit<typeof others, 'network'> = {
    ...others,
    secret: async () => (await facilitator?.storage?.passes.tokenSecret()) ?? ownSecret,
    network,
    domain,
    now,
    random,
    counters: kept ?? createMemoryCounters({ now }),
  };
  warnOfRisks(kept);
  return setup;
}

function createIssuing(setup: Setup, sessions: SignInSessions, ring: KeyRing | undefined): Issuing | undefined {
  if (ring === undefined) return undefined;
  const { domain = 'tollhouse', issuer = domain, scopes, random } = setup;
  const access = createAccessTokens({ ...setup, ring, issuer, newId: () => bs58.encode(random(16)) });
  return {
    access,
    tokens: createWalletTokens(access, createRefreshTokens(setup), scopes, sessions),
    jwks: ring.jwks,
    passTokens: createPassTokens({ ring: () => ring, now: setup.now }),
  };
}

function ringOf({ jwtSecret, keys }: Pick<Resolved, Secrets>): KeyRing | undefined {
  if (jwtSecret !== undefined && keys !== undefined) {
    throw badOption(WHERE, 'give either "jwtSecret" or "keys": tokens have one algorithm', 'keys');
  }
  if (keys !== undefined) return createEcRing(WHERE, keys);
  if (jwtSecret === undefined) return undefined;
  return createSecretRing(WHERE, Array.isArray(jwtSecret) ? jwtSecret : [jwtSecret]);
}

function required(issuing: Issuing | undefined): Issuing {
  if (issuing !== undefined) return issuing;
  const detail = `This server issues no tokens: ${WHERE} has neither "jwtSecret" nor "keys". Prove the wallet with the header ${SIWX_HEADER}.`;
  throw new TollhouseError('not_configured', detail);
}

/** Where no tokens are issued, an Authorization header is somebody else's business. */
function inspectRequest(
  setup: Setup,
  request: IdentityRequest,
  access: AccessTokens | undefined,
  inspectSiwx: InspectSiwx,
): MaybePromise<InspectedProof> {
  const [, token] = BEARER.exec(request.header('authorization') ?? '') ?? [];
  if (access === undefined || token === undefined) return inspectSignIn(request, inspectSiwx, ABSENT);
  return whenKnown(checkToken(setup, request, access, token), (check) => {
    const byToken = { proof: proofOf(check) };
    return byToken.proof.status === 'proven' ? byToken : inspectSignIn(request, inspectSiwx, byToken);
  });
}

/** Whether it is a token, and for the site that the request is made to, or for the audience that is configured in its place. */
function checkToken(setup: Setup, request: IdentityRequest, access: AccessTokens, token: string) {
  if (setup.audience !== undefined) return access.check(token, setup.audience);
  const site = hostOf(setup, request);
  if (site.ok) return access.check(token, site.value.domain);
  return { ok: false, code: 'invalid_access_token', detail: site.error.message } as const;
}

type InspectSiwx = (header: string, asked: Addressed) => Promise<InspectedProof>;

const BEARER = /^Bearer +(\S+) *$/i;
const ABSENT: InspectedProof = { proof: { status: 'absent' } };

function inspectSignIn(
  request: IdentityRequest,
  inspectSiwx: InspectSiwx,
  otherwise: InspectedProof,
): MaybePromise<InspectedProof> {
  const header = request.header(SIWX_HEADER.toLowerCase());
  return header === undefined ? otherwise : inspectSiwx(header, request);
}

function useUp({ proof, use }: InspectedProof): MaybePromise<Proof> {
  return use === undefined ? proof : use.take().then((refusal) => refusal ?? proof);
}

function proofOf(check: AccessCheck): Proof {
  if (!check.ok) return { status: 'refused', code: check.code, detail: check.detail };
  const { address, scopes } = check.claims;
  return { status: 'proven', wallet: { address, by: 'jwt', scopes } };
}

function warnOfRisks(counters: Counters | undefined): void {
  if (counters === undefined && process.env.NODE_ENV === 'production') {
    process.emitWarning(
      `used sign-ins and revoked tokens are remembered in this process only; with several processes, or to keep sessions over a restart, give ${WHERE} a facilitator with a storage, or counters`,
      { code: 'TOLLHOUSE_MEMORY_COUNTERS' },
    );
  }
}
