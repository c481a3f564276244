import bs58 from 'bs58';
import { TollhouseError } from '../../errors/errors.js';
import { shown } from '../../lib/parsed.js';
import type { NetworkId } from '../../protocol/types.js';
import { NONCE_MARGIN_MS, SIGN_IN_MS, type SignInSetup } from '../sign-in-options.js';
import { type Addressed, siteOf } from './site.js';
import { buildSiwsMessage, parseSiwsMessage, type SiwsMessage } from './siws-message.js';
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
   * Checks a response and uses its nonce up. Resolves when the caller owns the wallet.
   * @throws TollhouseError `invalid_sign_in`, `sign_in_replayed`
   */
  redeem(answer: SignedChallenge): Promise<void>;
}

/** The clusters as wallets read them in a message (Sign In With Solana, `chainId`). */
const CHAIN_NAMES: Readonly<Record<NetworkId, string>> = {
  solana: 'mainnet',
  'solana-devnet': 'devnet',
  'solana-testnet': 'testnet',
};

const ASK_AGAIN = 'Ask for a new challenge and sign that.';

/** Makes challenges that are kept in the counters until they are answered or five minutes old. */
export function createWalletChallenges(setup: SignInSetup): WalletChallenges {
  const { counters, now } = setup;

  async function issue(wallet: string, asked: Addressed): Promise<WalletChallenge> {
    const site = siteOf(setup, asked);
    if (!site.ok) throw site.error;
    const issuedAt = now();
    const expiresAt = issuedAt + SIGN_IN_MS;
    const nonce = bs58.encode(setup.random(16));
    const message = buildSiwsMessage({
      domain: site.value.domain,
      address: wallet,
      statement: setup.statement,
      uri: site.value.origin,
      version: '1',
      chainId: CHAIN_NAMES[setup.network],
      nonce,
      issuedAt: new Date(issuedAt).toISOString(),
      expirationTime: new Date(expiresAt).toISOString(),
    });
    await counters.put(challengeKey(nonce), message, SIGN_IN_MS);
    return { message, nonce, expiresAt };
  }

  async function redeem({ wallet, nonce, signature }: SignedChallenge): Promise<void> {
    const bytes = readSignature(signature);
    if (bytes === undefined) throw invalid('The signature is neither base58 nor base64 of 64 bytes.');
    const stored = await counters.get(challengeKey(nonce));
    const message = parseSiwsMessage(stored ?? '');
    if (stored === undefined || !message.ok || !isAlive(message.value, now())) {
      throw invalid(
        `There is no challenge with the nonce ${shown(nonce)}, or it is older than 5 minutes. ${ASK_AGAIN}`,
      );
    }
    if (message.value.address !== wallet) throw invalid(`The challenge was made for another wallet. ${ASK_AGAIN}`);
    if (!isSignedBy(wallet, stored, bytes)) {
      throw invalid(
        `The signature is not that of ${wallet} over the message of the challenge, character by character.`,
      );
    }
    if (!(await counters.takeOnce(`challenge-used:${nonce}`, SIGN_IN_MS + NONCE_MARGIN_MS))) {
      throw new TollhouseError('sign_in_replayed', `The challenge was answered before. ${ASK_AGAIN}`);
    }
  }

  return { issue, redeem };
}

function isAlive({ expirationTime }: SiwsMessage, now: number): boolean {
  return expirationTime !== undefined && now < Date.parse(expirationTime);
}

function challengeKey(nonce: string): string {
  return `challenge:${nonce}`;
}

function invalid(detail: string): TollhouseError {
  return new TollhouseError('invalid_sign_in', detail);
}
