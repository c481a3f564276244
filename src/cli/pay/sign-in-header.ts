import { z } from 'zod';
import { buildSiwsMessage, parseSiwsMessage } from '../../identity/sign-in/siws-message.js';
import { SIWX_HEADER } from '../../identity/sign-in/siwx.js';
import { type Parsed, parsed, unparsed } from '../../lib/parsed.js';
import { addressOf, signatureText } from '../../protocol/address.js';
import { readExtensions } from '../../protocol/wire/client.js';
import { writeHeader } from '../../protocol/wire/json.js';
import { type KeypairInput, readKeypair } from '../../solana/keypair.js';
import type { UrlResponse } from './ask-url.js';

const text = z.string();
const optional = text.nullish().transform((it) => it ?? undefined);

const challengeSchema = z.object({
  'sign-in-with-x': z.object({
    info: z.object({
      domain: text,
      uri: text,
      version: text,
      nonce: text,
      issuedAt: text,
      statement: optional,
      expirationTime: optional,
      notBefore: optional,
      requestId: optional,
      resources: z
        .array(text)
        .nullish()
        .transform((it) => it ?? undefined),
    }),
    supportedChains: z.array(z.object({ chainId: text, type: text })),
  }),
});

const SOLANA = 'solana:';

/**
 * Answers the sign-in that a 402 offers: the header that proves a wallet; undefined where it offers none. Not `ok` where it asks to
 * sign what is not for its own site, which is not signed.
 */
export function signInHeader(
  url: string,
  refused: UrlResponse,
  wallet: KeypairInput,
): Parsed<Readonly<Record<string, string>>> | undefined {
  const challenge = challengeSchema.safeParse(readExtensions(refused.header));
  if (!challenge.success) return undefined;
  const { info, supportedChains } = challenge.data['sign-in-with-x'];
  const chain = supportedChains.find(({ chainId, type }) => chainId.startsWith(SOLANA) && type === 'ed25519');
  if (chain === undefined) return undefined;
  const { host, origin } = new URL(url);
  if (info.domain !== host) return unparsed(`it is for ${info.domain}, and this is ${host}`);
  if (!URL.canParse(info.uri) || new URL(info.uri).origin !== origin) return unparsed(`it is for ${info.uri}`);
  const signer = readKeypair(wallet, 'tollhouse pay');
  const address = addressOf(signer.publicKey);
  const message = buildSiwsMessage({ ...info, address, chainId: chain.chainId.slice(SOLANA.length) });
  const read = parseSiwsMessage(message);
  if (!read.ok) return unparsed(read.detail);
  const signature = signatureText(signer.sign(Buffer.from(message)));
  return parsed({ [SIWX_HEADER]: writeHeader({ ...info, ...chain, address, signature }) });
}
