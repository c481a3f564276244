import { createHash } from 'node:crypto';
import { TollhouseError } from '../../errors/errors.js';
import { shown } from '../../lib/parsed.js';
import { SIGN_IN_MS, type SignInSetup } from '../sign-in-options.js';
import { CHAIN_NAMES } from './chain-names.js';
import type { IssuedNonces } from './issued-nonce.js';
import { createSignInUses } from './sign-in-uses.js';
import { type Addressed, siteOf } from './site.js';
import { buildSiwsMessage } from './siws-message.js';
import { isSignedBy, readSignature } from './wallet-signature.js';

/** A message for a wallet to sign. */
export interface WalletChallenge {
  /** Sign In With Solana text: sign exactly these characters as UTF-8. */
  readonly message: string;
  /** Names the challenge when it is answered. Good for one response. */
  readonly nonce: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The response to a challenge. */
export interface SignedChallenge {
  /** Base58. */
  readonly wallet: string;
  readonly nonce: string;
  /** Ed25519 signature of the message, base58 or base64. */
  readonly signature: string;
}

/** Sign In With Solana by challenge and answer. */
export interface WalletChallenges {
  /**
   * A message for a wallet.
   * @param wallet - base58 address
   * @param asked - where the request that asks goes
   * @throws TollhouseError `not_configured` where the site has no name, `invalid_request`
   */
  issue(wallet: string, asked: Addressed): Promise<WalletChallenge>;
  /**
   * Checks a response and uses its nonce up. Resolves when the caller owns the wallet, with the domain that was signed in to.
   * @throws TollhouseError `invalid_sign_in`, `sign_in_replayed`
   */
  redeem(answer: SignedChallenge): Promise<string>;
}

const ASK_AGAIN = 'Ask for a new challenge and sign that.';

type ChallengeSetup = SignInSetup & { readonly nonces: IssuedNonces };

/** What a message is made of again when it is answered. */
interface Issued {
  readonly wallet: string;
  readonly nonce: string;
  readonly issuedAt: number;
  /** Scheme and host. */
  readonly origin: string;
}

/**
 * Makes challenges of which nothing is kept: the nonce says when and where it was asked for, and is good for one wallet, so that the
 * message can be written once more. What was answered is remembered.
 */
export function createWalletChallenges(setup: ChallengeSetup): WalletChallenges {
  const { nonces } = setup;
  const uses = createSignInUses('challenge-used', setup);

  async function issue(wallet: string, asked: Addressed): Promise<WalletChallenge> {
    const site = siteOf(setup, asked);
    if (!site.ok) throw site.error;
    const { origin } = site.value;
    const { nonce, issuedAt } = await nonces.issue(boundTo(wallet), siteNote(setup, origin));
    return { message: messageOf(setup, { wallet, nonce, issuedAt, origin }), nonce, expiresAt: issuedAt + SIGN_IN_MS };
  }

  async function redeem({ wallet, nonce, signature }: SignedChallenge): Promise<string> {
    const bytes = readSignature(signature);
    if (bytes === undefined) throw invalid('The signature is neither base58 nor base64 of 64 bytes.');
    const opened = await nonces.open(nonce, boundTo(wallet));
    const origin = opened && originOf(setup, opened.note);
    if (opened === undefined || origin === undefined) {
      throw invalid(
        `There is no challenge with the nonce ${shown(nonce)} for this wallet, or it is older than 5 minutes. ${ASK_AGAIN}`,
      );
    }
    if (!isSignedBy(wallet, messageOf(setup, { wallet, nonce, issuedAt: opened.issuedAt, origin }), bytes)) {
      throw invalid(
        `The signature is not that of ${wallet} over the message of the challenge, character by character.`,
      );
    }
    // A key of the store is short, and the nonce may hold a long host.
    const name = createHash('sha256').update(nonce).digest('base64url');
    if (!(await uses.take({ nonce: name, wallet }))) {
      throw new TollhouseError('sign_in_replayed', `The challenge was answered before. ${ASK_AGAIN}`);
    }
    return new URL(origin).host;
  }

  return { issue, redeem };
}

function messageOf({ statement, network }: SignInSetup, { wallet, nonce, issuedAt, origin }: Issued): string {
  return buildSiwsMessage({
    domain: new URL(origin).host,
    address: wallet,
    statement,
    uri: origin,
    version: '1',
    chainId: CHAIN_NAMES[network],
    nonce,
    issuedAt: new Date(issuedAt).toISOString(),
    expirationTime: new Date(issuedAt + SIGN_IN_MS).toISOString(),
  });
}

/** The site in a nonce: the scheme, and the host where none is configured for good. */
function siteNote({ domain }: SignInSetup, origin: string): Uint8Array {
  const { protocol, host } = new URL(origin);
  return Buffer.from(`${protocol === 'https:' ? 's' : 'p'}${domain === undefined ? host : ''}`);
}

function originOf({ domain }: SignInSetup, note: Uint8Array): string | undefined {
  const [scheme, host] = [Buffer.from(note).toString('utf8', 0, 1), domain ?? Buffer.from(note).toString('utf8', 1)];
  const origin = `${scheme === 's' ? 'https' : 'http'}://${host}`;
  return host !== '' && URL.canParse(origin) ? new URL(origin).origin : undefined;
}

function boundTo(wallet: string): string {
  return `wallet ${wallet}`;
}

function invalid(detail: string): TollhouseError {
  return new TollhouseError('invalid_sign_in', detail);
}
