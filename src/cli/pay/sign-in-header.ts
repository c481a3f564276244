import { answerSignIn, readSignIn } from '../../identity/sign-in/answer-sign-in.js';
import { type Parsed, unparsed } from '../../lib/parsed.js';
import { type KeypairInput, readKeypair } from '../../solana/keypair.js';
import type { UrlResponse } from './ask-url.js';

/**
 * Answers the sign-in that a 402 offers: the header that proves a wallet; undefined where it offers none. Not `ok` where it asks to
 * sign what is not for its own site, which is not signed.
 */
export function signInHeader(
  url: string,
  refused: UrlResponse,
  wallet: KeypairInput,
): Parsed<Readonly<Record<string, string>>> | undefined {
  const offered = readSignIn(refused.header);
  if (offered === undefined) return undefined;
  const { domain, uri } = offered.info;
  const { host, origin } = new URL(url);
  if (domain !== host) return unparsed(`it is for ${domain}, and this is ${host}`);
  if (!URL.canParse(uri) || new URL(uri).origin !== origin) return unparsed(`it is for ${uri}`);
  return answerSignIn(offered, readKeypair(wallet, 'tollhouse pay'));
}
